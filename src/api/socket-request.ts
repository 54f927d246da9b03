import { connect } from "node:net";
import { Fault } from "../fault.ts";

export interface SocketRequest {
  readonly socket: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for none. */
  readonly body?: string | undefined;
  /** Milliseconds to wait for the whole answer; without it there is no limit. */
  readonly timeout?: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

/** The code of the Fault for a daemon that is running but does not answer. */
export const silentDaemon = "daemon.silent";

/** The code of the Fault for a daemon that ended before it answered. */
const goneDaemon = "daemon.gone";

/** Whether the daemon ended before it answered. */
export function isGone(error: unknown): error is Fault {
  return error instanceof Fault && error.code === goneDaemon;
}

/** A header of every answer: a warning for the caller in one line, URL-encoded. */
export const warningHeader = "signalbox-warning";

export interface SocketAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends one request over the daemon's socket. It writes HTTP/1.0 by hand, because loading node:http would take a fifth
 * of the time of `task update`; with HTTP/1.0 the server ends the answer by closing the connection.
 */
export function socketRequest(request: SocketRequest): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const hangUp = openStream(
      request,
      (chunk) => {
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
        // With the whole answer there is no need to wait for the end of the connection.
        if (!isWhole(bytes)) return;
        clearTimeout(timer);
        hangUp();
        resolve(readAnswer(bytes));
      },
      () => {
        clearTimeout(timer);
        try {
          resolve(readAnswer(bytes));
        } catch (error) {
          reject(error);
        }
      },
      (error) => {
        clearTimeout(timer);
        reject(isCutOff(error) ? daemonGone(error) : error);
      },
    );
    const { timeout, signal } = request;
    signal?.addEventListener("abort", () => {
      hangUp();
      reject(daemonGone());
    });
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => {
            hangUp();
            reject(new Fault(silentDaemon, "The daemon does not answer.", { retry: "later" }));
          }, timeout);
  });
}

/**
 * Sends a request and passes on the bytes of the answer as they arrive. Returns a function that closes the connection. While the
 * daemon has no room for another connection, it tries again for some seconds.
 */
export function openStream(
  { socket: path, method, path: target, headers, body = "" }: SocketRequest,
  onBytes: (chunk: Buffer) => void,
  onEnd: () => void,
  onError: (error: unknown) => void,
): () => void {
  const length = body === "" ? [] : [`content-type: application/json`, `content-length: ${Buffer.byteLength(body)}`];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, " ")}`);
  const text = `${[`${method} ${target} HTTP/1.0`, "host: localhost", ...length, ...lines].join("\r\n")}\r\n\r\n${body}`;
  const end = endOfBusy();
  let hangUp = () => {};
  const open = () => {
    const socket = connect(path);
    socket.write(text);
    socket.on("data", onBytes);
    socket.on("end", onEnd);
    socket.on("error", (error) => {
      const timer = againLater(error, end, open);
      if (timer === undefined) return onError(isFull(error) ? busyDaemon(error) : error);
      hangUp = () => clearTimeout(timer);
    });
    hangUp = () => socket.destroy();
  };
  open();
  return () => hangUp();
}

/** How long a daemon that has no room for another connection is asked again; milliseconds. */
const busyTimeout = 5_000;
export const endOfBusy = () => performance.now() + busyTimeout;

/** If a connection was not made because the daemon has no room, and it is not the end, opens another soon. */
export function againLater(error: unknown, end: number, open: () => void): NodeJS.Timeout | undefined {
  if (!isFull(error) || performance.now() > end) return undefined;
  // Of many that wait, each tries at another moment.
  return setTimeout(open, 20 + Math.random() * 60);
}

/** Whether so many connections wait for the daemon that the system made no other; nothing was sent. */
export function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}

export function busyDaemon(cause: unknown): Fault {
  const seconds = busyTimeout / 1_000;
  return new Fault("daemon.busy", `The daemon is busy: for ${seconds} s it had no room for another connection.`, {
    retry: "later",
    hint: "Nothing was sent. Try again. If it lasts, end the program that opens so many connections to the daemon's socket.",
    cause,
  });
}

export function readHead(bytes: Buffer): { status: number; headers: Record<string, string>; end: number } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(first.split(" ")[1]), headers, end: end + 4 };
}

function isWhole(bytes: Buffer): boolean {
  const head = readHead(bytes);
  const length = head?.headers["content-length"];
  return head !== undefined && length !== undefined && bytes.length - head.end >= Number(length);
}

function readAnswer(bytes: Buffer): SocketAnswer {
  const head = readHead(bytes);
  const length = head && Number(head.headers["content-length"] ?? bytes.length - head.end);
  if (head === undefined || bytes.length - head.end !== length) throw daemonGone();
  return { status: head.status, headers: head.headers, body: bytes.toString("utf8", head.end) };
}

/** Whether the daemon was killed during the request; the other sign is an incomplete answer. */
function isCutOff(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE";
}

/** The daemon may have done what was asked, or not. */
export function daemonGone(cause?: unknown): Fault {
  return new Fault(goneDaemon, "The daemon ended before it answered.", { retry: "later", cause });
}
