import { type IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { closeCodes, maxWatcherMessage } from "../../api/terminal.ts";
import { Fault } from "../../fault.ts";
import type { Asked } from "../handlers.ts";

/** An open WebSocket. */
export interface LiveSocket {
  /** Calls `sent` once the text has left the process; the next one waits for that. */
  send(text: string, sent: () => void): void;
  close(code: number, reason: string): void;
  onMessage(tell: (text: string) => void): void;
  onClose(tell: () => void): void;
  /** Whether the credential that it was opened with is still valid. */
  isAllowed(): Promise<boolean>;
}

/** Prepares the answer to a route over a WebSocket. A fault is answered over HTTP; the result is given the open socket. */
export type Upgrading = (asked: Asked<never, never>) => Promise<(socket: LiveSocket) => void>;

interface Admitted {
  readonly asked: Asked<never, never>;
  readonly upgrading: Upgrading | undefined;
  isAllowed(): Promise<boolean>;
  /** Calls `run` once the session of the browser is over. Returns a function that cancels it. */
  whenOver(run: () => void): () => void;
}

interface UpgradePorts {
  /** Makes the checks of every request. */
  admit(request: IncomingMessage): Promise<Admitted>;
  /** Answers a request that is not admitted. */
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void;
}

interface Upgrades {
  take(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** Ends every connection. */
  close(): void;
}

const maxSockets = 200;
/** A connection that does not answer for so long is closed. Its credential is checked as often. */
const heartbeat = 30_000;

export function createUpgrades({ admit, refuse }: UpgradePorts): Upgrades {
  const server = new WebSocketServer({
    ...{ noServer: true, clientTracking: true, maxPayload: maxWatcherMessage, perMessageDeflate: false },
  });
  // The library answers a handshake that is not one by itself.
  server.on("wsClientError", (_, stream) => stream.destroy());
  let isClosed = false;
  const accept = async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const { asked, upgrading, isAllowed, whenOver } = await admit(request);
    if (upgrading === undefined) throw notASocket();
    const isWebSocket = (request.headers.upgrade ?? "").toLowerCase() === "websocket" && request.method === "GET";
    if (!isWebSocket) throw notASocket();
    const begin = await upgrading(asked);
    if (stream.destroyed) return;
    stream.off("error", ignore);
    server.handleUpgrade(request, stream, head, (socket) => {
      socket.on("error", ignore);
      if (isClosed) return socket.close(closeCodes.stopping, "The daemon stops.");
      if (server.clients.size > maxSockets)
        return socket.close(closeCodes.busy, `${maxSockets} terminals are watched already. Close some of them.`);
      socket.on(
        "close",
        whenOver(() => socket.close(closeCodes.denied, "The browser is signed out.")),
      );
      begin(liveSocket(socket, isAllowed));
    });
  };
  return {
    take(request, stream, head) {
      stream.on("error", ignore);
      accept(request, stream, head).catch((error) => {
        const response = new ServerResponse(request);
        response.shouldKeepAlive = false;
        response.assignSocket(stream as never);
        response.on("finish", () => stream.end());
        refuse(request, response, error);
      });
    },
    close() {
      isClosed = true;
      for (const socket of server.clients) {
        socket.close(closeCodes.stopping, "The daemon stops.");
        setTimeout(() => socket.terminate(), 500).unref();
      }
    },
  };
}

function ignore(): void {}

/** Also for a plain request to a route that is a WebSocket. */
export function notASocket(): Fault {
  return new Fault("request.upgrade", "A request and its route must both be a WebSocket, or neither.", {
    hint: "Open a WebSocket to the path of a terminal; see docs/terminal-protocol.md.",
  });
}

function liveSocket(socket: WebSocket, isAllowed: () => Promise<boolean>): LiveSocket {
  let isAlive = true;
  const close = (code: number, reason: string) => socket.close(code, reason.slice(0, 100));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
    isAllowed().then(
      (allowed) => allowed || close(closeCodes.denied, "The credential is no longer valid."),
      () => {},
    );
  }, heartbeat).unref();
  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("close", () => clearInterval(timer));
  return {
    send: (text, sent) => {
      if (socket.readyState === socket.OPEN) socket.send(text, (error) => error || sent());
    },
    close,
    onMessage: (tell) =>
      void socket.on("message", (data, isBinary) => {
        if (isBinary) return close(closeCodes.malformed, "Messages are JSON texts.");
        tell(String(data));
      }),
    onClose: (tell) => void socket.on("close", tell),
    isAllowed,
  };
}
