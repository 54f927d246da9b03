import { chmodSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { errorBodyOf, type Route } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { warningHeader } from "../../api/socket-request.ts";
import { pageKeyQuery } from "../../api/web.ts";
import { problemsOf } from "../../api/wire.ts";
import { Fault } from "../../fault.ts";
import { isNewer } from "../../home/places.ts";
import type { Log } from "../../ports/system.ts";
import type { Asked } from "../handlers.ts";
import type { WebSessions } from "../web-sessions.ts";
import { statusCodeOf } from "./fault-status.ts";
import { type IdentifyPorts, identify } from "./identify.ts";
import { acceptsGzip, type Page } from "./page.ts";
import { type Door as CheckedDoor, checkRequest, checkSize, createMatcher, readBody } from "./request.ts";
import { createStrangers, type Strangers } from "./strangers.ts";
import { createUpgrades, type Upgrading } from "./upgrade.ts";

/** Answers one route. Returns `undefined` where it writes the response itself. */
export type Answering = (asked: Asked<never, never>, response: ServerResponse) => Promise<unknown>;

interface ServePorts extends IdentifyPorts {
  readonly handlers: Readonly<Record<string, Answering>>;
  /** The routes that are WebSockets. */
  readonly upgradings: Readonly<Record<string, Upgrading>>;
  readonly sessions: Pick<WebSessions, "of" | "whenOver">;
  /** What is served to browsers outside of the API; missing: nothing. */
  readonly page?: Page;
  /** The configured origin of a tunnel or proxy that leads to the TCP port; empty or missing for none. */
  publicOrigin?(): string;
  /** Throws if the caller may not make the request. */
  authorise(route: Route, asked: Omit<Asked<never, never>, "body" | "lastEvent">, isSocket: boolean): Promise<void>;
  readonly log: Log;
  readonly version: string;
  /** A one-line warning for every caller; empty or missing where there is none. */
  warning?(): string;
  /** Tests validate every answer; the daemon does not. */
  readonly checkAnswers?: boolean;
}

interface Door extends CheckedDoor {
  readonly strangers: Strangers;
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
  const { server, upgrades } = createDoor(ports, {
    address: undefined,
    strangers: createStrangers(maxStrangers),
  });
  await listen(server, { path });
  chmodSync(path, 0o600);
  const own = statSync(path).ino;
  return {
    address: "",
    close: () => close(server, upgrades),
    isInPlace: () => statSync(path, { throwIfNoEntry: false })?.ino === own,
    // Closing deletes whatever is at the path, so it must happen before another daemon listens there.
    leave: () => void server.close(),
  };
}

/** Listens on TCP, for browsers, on this machine only. */
export async function serveTcp(ports: ServePorts, port: number): Promise<Listening> {
  const strangers = createStrangers(maxStrangers);
  const door = { address: "", publicOrigin: () => ports.publicOrigin?.() ?? "", strangers };
  const { server, upgrades } = createDoor(ports, door);
  await listen(server, { host: "127.0.0.1", port });
  const address = server.address();
  door.address = typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
  return { address: door.address, close: () => close(server, upgrades) };
}

/**
 * How many connections may be open on which no person has made a request. Every program of this machine can connect to the TCP
 * port; on the socket, thirty agents have a few each. One that opens many must leave room for the person, whose connection is a
 * stranger's too until the daemon has read from it: it is closed only if so many newer ones come first.
 */
const maxStrangers = 256;
/** How many connections of persons may be open besides: for 200 terminals, 100 event feeds and some requests. */
const maxOfPersons = 320;

const match = createMatcher<Route>(Object.values(routes) as readonly Route[]);

function createDoor(ports: ServePorts, door: Door) {
  const server = createServer(slow, answerer(ports, door));
  server.on("connection", door.strangers.add);
  server.maxConnections = maxStrangers + maxOfPersons;
  // Without a listener, a connection that cannot be accepted because no file descriptor is left would end the daemon.
  server.on("error", (error) => ports.log.warn("A connection could not be accepted", { error }));
  const upgrades = createUpgrades({
    refuse: (request, response, error) => refuse(ports, door, request, response, error),
    admit: async (request) => {
      checkRequest(request, door);
      const { route, asked, whenOver } = await admit(ports, door, request, true);
      checkWire(route.query, asked.query, "The query");
      const isAllowed = async () => (await identify(request, door, ports, "upgrade")).kind === asked.caller.kind;
      return { asked: asked as Asked<never, never>, upgrading: ports.upgradings[route.name], isAllowed, whenOver };
    },
  });
  server.on("upgrade", upgrades.take);
  return { server, upgrades };
}

/** A client that does not send its request in this time is cut off; milliseconds. A body has at most 1 MB. */
const slow = { headersTimeout: 5_000, requestTimeout: 60_000, connectionsCheckingInterval: 1_000 } as const;

function answerer(ports: ServePorts, door: Door) {
  return (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader("signalbox-version", ports.version);
    const warning = ports.warning?.() ?? "";
    if (warning !== "") response.setHeader(warningHeader, encodeURIComponent(warning));
    answer(ports, door, request, response).catch((error) => refuse(ports, door, request, response, error));
  };
}

function refuse(
  { log }: ServePorts,
  door: Door,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const fault = error instanceof Fault ? error : unforeseen(log, request, error);
  if (response.headersSent) return void response.destroy();
  // The unread rest of a body would be taken for the next request.
  if (!request.complete) response.setHeader("connection", "close");
  writeJson(request, response, door, statusCodeOf(fault), errorBodyOf(fault)).catch(() => response.destroy());
}

/** Makes the checks, after `checkRequest`, that every request must pass before anything more is read of it. */
async function admit(ports: ServePorts, door: Door, request: IncomingMessage, isUpgrade = false) {
  // Both sides of a WebSocket know every message by its name.
  if (!isUpgrade) checkVersion(request, ports.version);
  const [path, search] = splitTarget(request.url ?? "/");
  const { route, params } = match(request.method ?? "", path);
  if (route.access === "page" && request.headers.origin === undefined)
    throw new Fault("request.origin", "Only a page of this daemon may ask for this.", {
      hint: "Open the link that signalbox web prints.",
    });
  const kind = isUpgrade ? "upgrade" : route.answerType === "text/event-stream" ? "stream" : "plain";
  const caller = await identify(request, door, ports, kind);
  if (caller.kind === "human") door.strangers.admit(request.socket);
  const session = caller.kind === "human" ? caller.session : undefined;
  checkSize(request, route);
  const query = Object.fromEntries(new URLSearchParams(search));
  if (session !== undefined && kind !== "plain") delete query[pageKeyQuery];
  const asked = { params, query, body: {} as unknown, caller, folder: folderOf(request), lastEvent: "" };
  await ports.authorise(route, { ...asked, query: query as never }, door.address === undefined);
  const whenOver = (run: () => void) => (session === undefined ? () => {} : ports.sessions.whenOver(session, run));
  return { route, path, asked, kind, whenOver };
}

async function answer(ports: ServePorts, door: Door, request: IncomingMessage, response: ServerResponse) {
  checkRequest(request, door);
  const [target] = splitTarget(request.url ?? "/");
  const isOutside = door.address !== undefined && target !== "/v1" && !target.startsWith("/v1/");
  if (isOutside && (await ports.page?.serve(request, response))) return;
  const admitted = await admit(ports, door, request);
  const { route, path, kind } = admitted;
  checkWire(route.query, admitted.asked.query, "The query");
  const isWhole = request.complete;
  const sent = await readBody(request, route);
  // While a body was under way, its browser may have been signed out, or its run have ended.
  const { asked: about, whenOver } = isWhole ? admitted : await admit(ports, door, request);
  const body = sent === undefined ? {} : sent;
  if (route.body !== undefined) checkWire(route.body, body, "The body");
  else if (sent !== undefined) throw new Fault("request.body", "This takes no body.");
  const handler = ports.handlers[route.name];
  if (handler === undefined) throw new Fault("request.path", `There is nothing at ${path}.`);
  const lastEvent = String(request.headers["last-event-id"] ?? "");
  const asked = { ...about, body, lastEvent };
  if (kind === "stream")
    response.on(
      "close",
      whenOver(() => response.destroy()),
    );
  const given = await handler(asked as Asked<never, never>, response);
  if (given === undefined) return;
  if (ports.checkAnswers) checkWire(route.answer, JSON.parse(JSON.stringify(given)), "The answer");
  await writeJson(request, response, door, 200, given);
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

const compress = promisify(gzip);
/** Below this, compressing costs more than it saves. */
const minCompressed = 1_024;

/** Compressed over TCP, where it may go through a tunnel: agents on the socket wait for every millisecond. */
async function writeJson(
  request: IncomingMessage,
  response: ServerResponse,
  { address }: Door,
  status: number,
  value: unknown,
): Promise<void> {
  const text = Buffer.from(JSON.stringify(value));
  const isZipped = address !== undefined && text.length > minCompressed && acceptsGzip(request);
  const bytes = isZipped ? await compress(text, { level: 4 }) : text;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": bytes.length,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(address === undefined ? {} : { "cross-origin-resource-policy": "same-origin", vary: "accept-encoding" }),
    ...(isZipped ? { "content-encoding": "gzip" } : {}),
  });
  response.end(bytes);
}

function unforeseen(log: Log, request: IncomingMessage, error: unknown): Fault {
  log.error("A request failed with an unforeseen error", {
    method: request.method,
    path: splitTarget(request.url ?? "")[0],
    error,
  });
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

function close(server: Server, upgrades: { close(): void }): Promise<void> {
  upgrades.close();
  return new Promise((resolve) => {
    const forceClose = setTimeout(() => server.closeAllConnections(), 1_000);
    server.close(() => {
      clearTimeout(forceClose);
      resolve();
    });
    server.closeIdleConnections();
  });
}
