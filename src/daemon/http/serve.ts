import { chmodSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { errorBodyOf } from "../../api/error.ts";
import type { Route } from "../../api/route.ts";
import { routes } from "../../api/routes.ts";
import { problemsOf } from "../../api/wire.ts";
import { Fault } from "../../fault.ts";
import { isNewer } from "../../home/compare-versions.ts";
import type { Log } from "../../ports/log.ts";
import type { Asked } from "../asked.ts";
import type { Caller, Callers } from "../caller.ts";
import { checkRequest, type Door, tokenOf } from "./guard.ts";
import { createMatcher } from "./match.ts";
import { readBody } from "./read-body.ts";
import { statusCodeOf } from "./status-code.ts";

/** Answers one route. Where it writes the answer itself, it gives `undefined`. */
export type Answering = (asked: Asked<never, never>, response: ServerResponse) => Promise<unknown>;

export interface ServePorts {
  readonly handlers: Readonly<Record<string, Answering>>;
  readonly callers: Callers;
  readonly log: Log;
  readonly version: string;
  /** Tests look at every answer; a daemon at work does not. */
  readonly checkAnswers?: boolean;
}

export interface Listening {
  /** `127.0.0.1:port`; empty for the socket. */
  readonly address: string;
  close(): Promise<void>;
}

export interface SocketListening extends Listening {
  /** False once the file at the path is not the one that is listened on any more. */
  isInPlace(): boolean;
  /** Takes no new connections; those that are there are served to their end. */
  leave(): void;
}

/** Listens on the socket for the command line and for agents. */
export async function serveSocket(ports: ServePorts, path: string): Promise<SocketListening> {
  // The lock is ours, so whoever made this socket is gone.
  rmSync(path, { force: true, recursive: true });
  const server = createServer(answerer(ports, { address: undefined }));
  await listen(server, { path });
  chmodSync(path, 0o600);
  const own = statSync(path).ino;
  return {
    address: "",
    close: () => close(server),
    isInPlace: () => statSync(path, { throwIfNoEntry: false })?.ino === own,
    // Deletes whatever is at the path, so it comes before somebody else listens there.
    leave: () => void server.close(),
  };
}

/** Listens on TCP, for browsers, on this machine only. */
export async function serveTcp(ports: ServePorts, port: number): Promise<Listening> {
  const door: { address: string } = { address: "" };
  const server = createServer(answerer(ports, door));
  await listen(server, { host: "127.0.0.1", port });
  const address = server.address();
  door.address = typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
  return { address: door.address, close: () => close(server) };
}

const match = createMatcher<Route>(Object.values(routes) as readonly Route[]);

function answerer(ports: ServePorts, door: Door) {
  return (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader("signalbox-version", ports.version);
    answer(ports, door, request, response).catch((error) => {
      const fault = error instanceof Fault ? error : unforeseen(ports.log, request, error);
      if (response.headersSent) return response.destroy();
      // What is left of a body that nobody reads would be taken for the next request.
      if (!request.complete) response.setHeader("connection", "close");
      writeJson(response, statusCodeOf(fault), errorBodyOf(fault));
    });
  };
}

async function answer(ports: ServePorts, door: Door, request: IncomingMessage, response: ServerResponse) {
  checkRequest(request, door);
  checkVersion(request, ports.version);
  const caller = await ports.callers.of(tokenOf(request));
  const [path, search] = splitTarget(request.url ?? "/");
  const { route, params } = match(request.method ?? "", path);
  checkCaller(route, caller, door);
  const query = Object.fromEntries(new URLSearchParams(search));
  checkWire(route.query, query, "The query");
  const sent = await readBody(request);
  const body = sent === undefined ? {} : sent;
  if (route.body !== undefined) checkWire(route.body, body, "The body");
  else if (sent !== undefined) throw new Fault("request.body", "This takes no body.");
  const handler = ports.handlers[route.name];
  if (handler === undefined) throw new Fault("request.path", `There is nothing at ${path}.`);
  const folder = folderOf(request);
  const lastEvent = String(request.headers["last-event-id"] ?? "");
  const asked = { params, query, body, caller, folder, lastEvent };
  const given = await handler(asked as Asked<never, never>, response);
  if (given === undefined) return;
  if (ports.checkAnswers) checkWire(route.answer, JSON.parse(JSON.stringify(given)), "The answer");
  writeJson(response, 200, given);
}

/** As it stands there: a URL would be resolved first, `//other` to another host and `..` to another path. */
function splitTarget(target: string): readonly [path: string, search: string] {
  const at = target.indexOf("?");
  return at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
}

/** A header holds no more than ASCII, so the folder comes encoded. */
function folderOf({ headers }: IncomingMessage): string {
  const written = String(headers["signalbox-folder"] ?? "");
  try {
    return decodeURIComponent(written);
  } catch {
    throw new Fault("request.invalid", `The header signalbox-folder is not encoded as it must be: "${written}".`);
  }
}

/** A newer command line does not ask an older daemon for anything: it replaces it first. */
function checkVersion({ headers }: IncomingMessage, version: string): void {
  const asker = headers["signalbox-version"];
  if (typeof asker !== "string" || !isNewer(asker, version)) return;
  throw new Fault("daemon.older", `The daemon is version ${version}, and you are ${asker}.`, {
    retry: "later",
    hint: "Start it anew: signalbox down, then signalbox up",
  });
}

/** Runs and nobody are let through to `ask` routes: what they try in vain belongs into the task's history. */
function checkCaller({ access }: Route, caller: Caller, { address }: Door): void {
  const mayRead = access === "read" && (address === undefined || isKnown(caller));
  const mayAsk = access === "ask" && (address === undefined || isKnown(caller));
  if (mayRead || mayAsk || caller.kind === "human") return;
  if (isKnown(caller)) {
    throw new Fault("caller.denied", "Only a person may do this.", { hint: "Ask the person who runs Signalbox." });
  }
  const why = caller.kind === "nobody" ? caller.why : "The run is over.";
  throw new Fault("caller.unknown", `This needs a credential. ${why}`, {
    hint: "People: run the command outside of workspaces and agents. Programs: send Authorization: Bearer <token>.",
  });
}

function isKnown(caller: Caller): boolean {
  return caller.kind === "human" || (caller.kind === "run" && !caller.isOver);
}

function checkWire(wire: Route["query"], value: unknown, what: string): void {
  const problems = wire === undefined ? [] : problemsOf(wire, value, what);
  if (problems.length > 0) throw new Fault("request.invalid", problems.join("\n"));
}

function writeJson(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(text);
}

function unforeseen(log: Log, request: IncomingMessage, error: unknown): Fault {
  log.error("A request failed in a way nobody foresaw", { method: request.method, url: request.url, error });
  return new Fault("daemon.error", `The daemon failed: ${error instanceof Error ? error.message : String(error)}`, {
    hint: "Look into its log: signalbox status names it.",
    cause: error,
  });
}

function listen(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new Fault("daemon.listen", `The daemon cannot listen: ${error.message}.`, {
          hint: error.code === "EADDRINUSE" ? "Choose another port: signalbox config set port 0" : "",
          cause: error,
        }),
      ),
    );
    server.listen(where, resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => server.closeAllConnections(), 1_000);
    server.close(() => {
      clearTimeout(patience);
      resolve();
    });
    server.closeIdleConnections();
  });
}
