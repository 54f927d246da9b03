import type { Log } from "../../ports/log.ts";
import type { Listening } from "./serve.ts";

/** The TCP port for browsers: open at the port that is configured, and nowhere else. */
export interface WebDoor {
  /** Opens it at this port; 0 closes it. A port that cannot be had is reported, and the daemon goes on without. */
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
