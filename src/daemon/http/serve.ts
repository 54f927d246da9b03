import { chmodSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { errorBodyOf, type Route } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { warningHeader } from "../../api/socket-request.ts";
import { problemsOf } from "../../api/wire.ts";
import { Fault } from "../../fault.ts";
import { isNewer } from "../../home/places.ts";
import type { Log } from "../../ports/system.ts";
import type { Callers } from "../callers.ts";
import type { Asked } from "../handlers.ts";
import { checkRequest, checkSize, createMatcher, type Door, readBody, tokenOf } from "./request.ts";

/** Answers one route. Returns `undefined` where it writes the response itself. */
export type Answering = (asked: Asked<never, never>, response: ServerResponse) => Promise<unknown>;

interface ServePorts {
  readonly handlers: Readonly<Record<string, Answering>>;
  readonly callers: Callers;
  /** Throws if the caller may not make the request. */
  authorise(route: Route, asked: Omit<Asked<never, never>, "body" | "lastEvent">, isSocket: boolean): Promise<void>;
  readonly log: Log;
  readonly version: string;
  /** A one-line warning for every caller; empty or missing where there is none. */
  warning?(): string;
  /** Tests validate every answer; the daemon does not. */
  readonly checkAnswers?: boolean;
}

interface Listening {
  /** `127.0.0.1:port`; empty for the socket. */
  readonly address: string;
  close(): Promise<void>;
}

export interface SocketListening extends Listening {
  /** False once the file at the path is no longer the socket of this server. */
  isInPlace(): boolean;
  /** Accepts no new connections; open ones are served to their end. */
  leave(): void;
}

/** Listens on the socket for the command line and for agents. */
export async function serveSocket(ports: ServePorts, path: string): Promise<SocketListening> {
  // This process holds the lock, so the process that created this socket is gone.
  rmSync(path, { force: true, recursive: true });
  const server = createServer(answerer(ports, { address: undefined }));
  await listen(server, { path });
  chmodSync(path, 0o600);
  const own = statSync(path).ino;
  return {
    address: "",
    close: () => close(server),
    isInPlace: () => statSync(path, { throwIfNoEntry: false })?.ino === own,
    // Closing deletes whatever is at the path, so it must happen before another daemon listens there.
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
    const warning = ports.warning?.() ?? "";
    if (warning !== "") response.setHeader(warningHeader, encodeURIComponent(warning));
    answer(ports, door, request, response).catch((error) => {
      const fault = error instanceof Fault ? error : unforeseen(ports.log, request, error);
      if (response.headersSent) return response.destroy();
      // The unread rest of a body would be taken for the next request.
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
  checkSize(request, route);
  const query = Object.fromEntries(new URLSearchParams(search));
  const folder = folderOf(request);
  await ports.authorise(route, { params, query: query as never, caller, folder }, door.address === undefined);
  checkWire(route.query, query, "The query");
  const sent = await readBody(request, route);
  const body = sent === undefined ? {} : sent;
  if (route.body !== undefined) checkWire(route.body, body, "The body");
  else if (sent !== undefined) throw new Fault("request.body", "This takes no body.");
  const handler = ports.handlers[route.name];
  if (handler === undefined) throw new Fault("request.path", `There is nothing at ${path}.`);
  const lastEvent = String(request.headers["last-event-id"] ?? "");
  const asked = { params, query, body, caller, folder, lastEvent };
  const given = await handler(asked as Asked<never, never>, response);
  if (given === undefined) return;
  if (ports.checkAnswers) checkWire(route.answer, JSON.parse(JSON.stringify(given)), "The answer");
  writeJson(response, 200, given);
}

/** Splits the raw target: parsing it as a URL would resolve `//other` to another host and `..` to another path. */
function splitTarget(target: string): readonly [path: string, search: string] {
  const at = target.indexOf("?");
  return at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
}

/** Headers are ASCII, so the folder is URL-encoded. */
function folderOf({ headers }: IncomingMessage): string {
  const written = String(headers["signalbox-folder"] ?? "");
  try {
    return decodeURIComponent(written);
  } catch {
    throw new Fault("request.invalid", `The header signalbox-folder is not correctly encoded: "${written}".`);
  }
}

/** A newer command line replaces an older daemon before it asks for anything. */
function checkVersion({ headers }: IncomingMessage, version: string): void {
  const asker = headers["signalbox-version"];
  if (typeof asker !== "string" || !isNewer(asker, version)) return;
  throw new Fault("daemon.older", `The daemon is version ${version}, and you are ${asker}.`, {
    retry: "later",
    hint: "Restart it: signalbox down, then signalbox up",
  });
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
  log.error("A request failed with an unforeseen error", { method: request.method, url: request.url, error });
  return new Fault("daemon.error", `The daemon failed: ${error instanceof Error ? error.message : String(error)}`, {
    hint: "Read its log; its path is printed by: signalbox status",
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
    const forceClose = setTimeout(() => server.closeAllConnections(), 1_000);
    server.close(() => {
      clearTimeout(forceClose);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** The HTTP status of a fault: by its code, else by the last word of its code. */
function statusCodeOf({ code, retry }: Fault): number {
  const known = codes[code] ?? codes[code.slice(code.lastIndexOf(".") + 1)];
  return known ?? (retry === "later" ? 503 : 500);
}

const codes: Readonly<Record<string, number>> = {
  refused: 409,
  missing: 404,
  "not-found": 404,
  exists: 409,
  conflict: 409,
  "in-use": 409,
  dirty: 409,
  detached: 409,
  "in-the-way": 409,
  "branch-elsewhere": 409,
  invalid: 400,
  untrusted: 403,
  changed: 409,
  "remote-refused": 502,
  ambiguous: 409,
  usage: 400,
  over: 409,
  "no-window": 409,
  "agents.unavailable": 503,
  "ticket.broken": 409,
  "ticket.folder": 409,
  "ticket.link": 409,
  "ticket.unavailable": 503,
  "harness.unknown": 404,
  "request.host": 403,
  "request.origin": 403,
  "request.type": 415,
  "request.large": 413,
  "request.body": 400,
  "request.method": 405,
  "request.path": 404,
  "caller.unknown": 401,
  "caller.denied": 403,
  "daemon.older": 426,
  "config.unknown": 409,
};

/** The TCP port for browsers: open at the configured port, and nowhere else. */
export interface WebDoor {
  /** Opens it at this port; 0 closes it. A port that is not available is logged, and the daemon continues without. */
  use(port: number): Promise<void>;
  /** Empty where it is closed. */
  address(): string;
}

export function createWebDoor(open: (port: number) => Promise<Listening>, log: Log): WebDoor {
  let current: { readonly port: number; readonly listening: Listening } | undefined;
  let changing: Promise<void> = Promise.resolve();
  const change = async (port: number) => {
    if (port === (current?.port ?? 0)) return;
    const before = current;
    current = undefined;
    await before?.listening.close();
    if (port === 0) return;
    try {
      current = { port, listening: await open(port) };
      log.info("Browsers are served", { address: current.listening.address });
    } catch (error) {
      log.error("Browsers cannot be served", { port, error });
    }
  };
  return {
    use: (port) => {
      changing = changing.then(() => change(port));
      return changing;
    },
    address: () => current?.listening.address ?? "",
  };
}
