import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Daemon, spawnDaemon } from "../daemon.ts";
import type { Home } from "../home.ts";

/** Starts a daemon whenever none runs, as a system service does. */
export interface Keeper {
  /** The output of the last daemons, for diagnosis. */
  said(): string;
  /** How many daemons were started. */
  readonly starts: () => number;
  close(): Promise<void>;
}

/** The file that tells the killer the daemon's process id, and whether it listens. */
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
