import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { createClient, type ErrorBody, faultOf, type Given, pathOf, type Route } from "../api/client.ts";
import { createEventReader } from "../api/event-stream.ts";
import { type Routes, routes } from "../api/routes.ts";
import { againLater, busyDaemon, endOfBusy, isFull } from "../api/socket-request.ts";
import type { EventView } from "../api/tasks.ts";
import { Fault } from "../fault.ts";
import { chooseCredential } from "../home/credential.ts";
import { homeFolder, homePlaces, socketToAsk } from "../home/places.ts";

export { Refusal, staleTaskOf } from "../api/client.ts";
export type { Routes } from "../api/routes.ts";
export type { ChangeView, EventView, TaskView } from "../api/tasks.ts";
export { Fault } from "../fault.ts";
export { createWorkflowEngine, type TransitionResult, type WorkflowEngine } from "./workflow-engine.ts";

export interface ClientOptions {
  /** The home of the daemon, which is reached over its socket. Default: `SIGNALBOX_HOME`, else `~/.signalbox`. */
  readonly home?: string;
  /** The address of a daemon that listens on TCP, such as `http://127.0.0.1:4777`, in place of the socket. */
  readonly url?: string;
  /**
   * The credential. Default: the token of the run that this process belongs to (`SIGNALBOX_TOKEN`), else the person's,
   * as the command line chooses; over TCP none.
   */
  readonly token?: string;
}

/** Routes whose answers are JSON. */
type JsonRoute = Exclude<keyof Routes, "streamEvents" | "exportTask" | "watchTerminal">;
type Method<R> =
  R extends Route<infer Query, infer Body, infer Answer> ? (given?: Given<Query, Body>) => Promise<Answer> : never;
type StreamQuery = Routes["streamEvents"] extends Route<infer Query, unknown, unknown> ? Query : never;

/** One method for each route of the API. A refusal is thrown as a `Refusal`, any other error as a `Fault`. */
export type Client = { readonly [Name in JsonRoute]: Method<Routes[Name]> } & {
  /** Follows the event feed until the loop is left. To resume, pass `after: String(event.position)`. */
  events(query?: Omit<StreamQuery, "live">): AsyncGenerator<EventView, void, void>;
  /** The same daemon with another credential. */
  as(token: string): Client;
};

/** A typed client of a running daemon. It never starts a daemon. */
export function createSignalboxClient(options: ClientOptions = {}): Client {
  const send = createSender(options);
  const call = createClient(async ({ method, path, body }) => {
    const response = await send(method, path, body);
    return { status: response.statusCode ?? 0, body: await text(response) };
  });
  const methods = Object.entries(routes).map(([name, route]) => [
    name,
    (given?: Given<unknown, unknown>) => call(route as Route, given),
  ]);
  return {
    ...(Object.fromEntries(methods) as { readonly [Name in JsonRoute]: Method<Routes[Name]> }),
    as: (token) => createSignalboxClient({ ...options, token }),
    async *events(query = {}) {
      const response = await send("GET", pathOf(routes.streamEvents, { query }), undefined);
      if ((response.statusCode ?? 0) >= 400) throw faultOf(JSON.parse(await text(response)) as ErrorBody);
      let come: EventView[] = [];
      const read = createEventReader({ onEvent: (event) => come.push(event) });
      // Leaving the loop destroys the response, and with it the connection.
      for await (const bytes of response as AsyncIterable<Uint8Array>) {
        read(bytes);
        yield* come;
        come = [];
      }
    },
  };
}

type Send = (method: string, path: string, body: string | undefined) => Promise<IncomingMessage>;

function createSender({ home = homeFolder(process.env), url, token }: ClientOptions): Send {
  const places = homePlaces(home);
  const { hostname, port } = new URL(url ?? "http://localhost");
  const where = url === undefined ? { socketPath: socketToAsk(places) } : { hostname, port };
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const folder = process.cwd();
      const shown = token ?? (url === undefined ? chooseCredential(places, process.env, folder).token : undefined);
      const headers = {
        host: url === undefined ? "localhost" : `${hostname}:${port}`,
        "signalbox-folder": encodeURIComponent(folder),
        ...(shown === undefined ? {} : { authorization: `Bearer ${shown}` }),
        ...(body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      };
      const end = endOfBusy();
      const open = () => {
        // One connection for each request: a kept-alive connection would keep the caller's process running.
        const asking = httpRequest({ ...where, method, path, headers, agent: false }, resolve);
        asking.on("error", (error: NodeJS.ErrnoException) => {
          if (againLater(error, end, open) !== undefined) return;
          reject(isFull(error) ? busyDaemon(error) : unreachable(error, url ?? home));
        });
        asking.end(body);
      };
      open();
    });
}

function unreachable(error: NodeJS.ErrnoException, where: string): Fault {
  return new Fault("daemon.unreachable", `No daemon answers at ${where} (${error.code ?? error.message}).`, {
    retry: "later",
    hint: "Start it: signalbox up",
    cause: error,
  });
}
