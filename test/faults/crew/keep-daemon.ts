import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Daemon, spawnDaemon } from "../daemon.ts";
import type { Home } from "../home.ts";

/** Starts a daemon whenever there is none, as a service of the system does. */
export interface Keeper {
  /** What the last daemons said, for whoever has to find out what went wrong. */
  said(): string;
  /** How many were started. */
  readonly starts: () => number;
  close(): Promise<void>;
}

/** The file that tells whoever wants to kill it which process the daemon is, and whether it listens. */
export function daemonFile({ base }: Pick<Home, "base">): string {
  return join(base, "daemon.pid");
}

export function keepDaemon(home: Home): Keeper {
  let daemon: Daemon | undefined;
  let isClosed = false;
  let starts = 0;
  let said = "";
  const live = async () => {
    while (!isClosed) {
      const born = spawnDaemon(home);
      daemon = born;
      starts++;
      writeFileSync(daemonFile(home), `${born.pid} starts`);
      born.listens.then((listens) => {
        if (listens && daemon === born) writeFileSync(daemonFile(home), `${born.pid} listens`);
      });
      const end = await born.ended;
      said = `${said}${born.said()}`.slice(-100_000);
      if (end !== "SIGKILL" && !isClosed) throw new Error(`The daemon ended by itself with ${end}:\n${born.said()}`);
    }
  };
  const living = live();
  living.catch(() => {});
  return {
    said: () => `${said}${daemon?.said() ?? ""}`,
    starts: () => starts,
    async close() {
      isClosed = true;
      daemon?.child.kill("SIGKILL");
      await living;
    },
  };
}
