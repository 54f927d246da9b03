import type { Socket } from "node:net";

/** The open connections on which no person has made a request. */
export interface Strangers {
  /** A connection was accepted. Where there are too many, the oldest is closed: a person's newest one gets its turn. */
  add(socket: Socket): void;
  /** A person has made a request on it. It is never closed to make room for another. */
  admit(socket: Socket): void;
}

/** `max`: each connection takes a file descriptor, of which the daemon needs some for its programs. */
export function createStrangers(max: number): Strangers {
  // In the order in which they were accepted.
  const open = new Set<Socket>();
  return {
    add(socket) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      if (open.size <= max) return;
      const [oldest] = open;
      if (oldest === undefined) return;
      open.delete(oldest);
      oldest.destroy();
    },
    admit: (socket) => void open.delete(socket),
  };
}
