import { Fault } from "../../fault.ts";
import type { Log } from "../../ports/system.ts";

/** A TCP server on this machine. */
interface Listening {
  /** `127.0.0.1:4711`. */
  readonly address: string;
  close(): Promise<void>;
}

interface WebDoorPorts {
  listen(port: number): Promise<Listening>;
  readonly log: Log;
  /** The port that `open` has chosen, also that of an earlier daemon; 0 for none. */
  readonly chosen: { read(): number; write(port: number): void };
  /** The configured origin of a tunnel or proxy; empty for none. */
  publicOrigin(): string;
  /** Another program has the port that browsers know: it may have been sent their cookies. */
  onTaken(): Promise<unknown>;
}

/** The TCP port for browsers: open at the configured port, else at the one that `open` has chosen, and nowhere else. */
export interface WebDoor {
  /** Follows the configuration; 0: no port is configured. A port that is not available is logged, and the daemon continues. */
  use(port: number): Promise<void>;
  /** Opens a port if none is open, and returns its address. A port that it chooses is used again by later daemons. */
  open(): Promise<string>;
  /**
   * Forgets the port that `open` has chosen, and accepts no connections there any more; requests in progress are answered.
   * A configured port stays open.
   */
  close(): Promise<void>;
  stop(): Promise<unknown>;
  /** Empty where it is closed. */
  address(): string;
  publicOrigin(): string;
}

/** What requests may do with it. */
export type CoreWebDoor = Pick<WebDoor, "open" | "close" | "address" | "publicOrigin">;

/** Of a daemon that serves no browsers. */
export const noWebDoor: CoreWebDoor = {
  open: async () => {
    throw new Fault("web.unavailable", "This daemon serves no browsers.");
  },
  close: async () => {},
  address: () => "",
  publicOrigin: () => "",
};

/** The first of these that is free is chosen, so that bookmarks and tunnels stay valid; if none is, any other. */
const preferredPorts = Array.from({ length: 9 }, (_, i) => 4711 + i);

export function createWebDoor({ listen, log, chosen, publicOrigin, onTaken }: WebDoorPorts): WebDoor {
  let current: { readonly port: number; readonly listening: Listening } | undefined;
  let configured = 0;
  let changing: Promise<unknown> = Promise.resolve();
  let closing: Promise<unknown> = Promise.resolve();
  /** One change after the other, also after one that failed. */
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const done = changing.then(change, change);
    changing = done.catch(() => {});
    return done;
  };
  const leave = async () => {
    const before = current;
    current = undefined;
    await before?.listening.close();
  };
  const listenAt = async (port: number) => {
    const listening = await listen(port);
    current = { port, listening };
    log.info("Browsers are served", { address: listening.address });
  };
  const wanted = () => configured || chosen.read();
  const follow = async () => {
    const port = wanted();
    if (port === (current?.port ?? 0)) return;
    await leave();
    if (port === 0) return;
    try {
      await listenAt(port);
    } catch (error) {
      log.error("Browsers cannot be served", { port, error });
      if (isTaken(error))
        await onTaken().catch((failure) => log.error("Sessions could not be ended", { error: failure }));
    }
  };
  const choose = async () => {
    const known = chosen.read();
    for (const port of [...(known === 0 ? [] : [known]), ...preferredPorts, 0]) {
      try {
        await listenAt(port);
        break;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
    }
    const port = Number(current?.listening.address.split(":")[1]);
    if (current !== undefined) current = { ...current, port };
    chosen.write(port);
  };
  return {
    use: (port) =>
      inTurn(async () => {
        configured = port;
        await follow();
      }),
    open: () =>
      inTurn(async () => {
        if (current === undefined) await (configured === 0 ? choose() : listenAt(configured));
        return current?.listening.address ?? "";
      }),
    close: () =>
      inTurn(async () => {
        chosen.write(0);
        if (configured !== 0) return;
        // Not awaited: the request may have come through it.
        closing = leave().catch((error) => log.error("The port of browsers could not be closed", { error }));
      }),
    stop: () => inTurn(() => Promise.all([leave(), closing])),
    address: () => current?.listening.address ?? "",
    publicOrigin,
  };
}

function isTaken(error: unknown): boolean {
  const cause = error instanceof Fault ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "EADDRINUSE";
}
