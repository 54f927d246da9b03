import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Fault } from "../../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../../ports/processes.ts";
import { writeWhole } from "./write-whole.ts";

export interface ServerRecord {
  /** A server has answered; `pid` is its process. */
  seen(pid: number): Promise<void>;
  /**
   * Nobody listens at the socket: looks for our server by its recorded identity, and lets it make its socket again.
   * False where there is none; a server that lives and cannot be reached is a fault.
   */
  revive(): Promise<boolean>;
  /** The process of the server, where one was seen and lives. */
  pid(): Promise<number | undefined>;
}

export interface ServerPorts {
  readonly socket: string;
  /** Where its identity is kept. Not beside the socket: whoever deletes the one often deletes the other. */
  readonly file: string;
  readonly table: ProcessTable;
  isAnswering(): Promise<boolean>;
}

const pause = 50;
/** Milliseconds that a server has to make its socket again. */
const patience = 3_000;

export function createServerRecord({ socket, file, table, isAnswering }: ServerPorts): ServerRecord {
  let known: ProcessIdentity | "unread" | undefined = "unread";
  let reviving: Promise<boolean> | undefined;

  const revive = async () => {
    const server = known === "unread" ? await readIdentity(file) : known;
    const end = performance.now() + patience;
    while (server !== undefined && (await table.isAlive(server))) {
      if (performance.now() > end) throw unreachable(socket, server.pid);
      await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
      signal(server.pid);
      await wait(pause);
      if (await isAnswering()) return true;
    }
    known = undefined;
    return false;
  };
  return {
    async pid() {
      const server = known === "unread" ? await readIdentity(file) : known;
      return server !== undefined && (await table.isAlive(server)) ? server.pid : undefined;
    },
    async seen(pid) {
      if (known !== "unread" && known?.pid === pid) return;
      const identity = await table.identify(pid);
      if (identity === undefined) return;
      known = identity;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeWhole(file, JSON.stringify(identity));
    },
    revive() {
      reviving ??= revive().finally(() => {
        reviving = undefined;
      });
      return reviving;
    },
  };
}

async function readIdentity(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** On this signal tmux makes its socket again. */
function signal(pid: number): void {
  try {
    process.kill(pid, "SIGUSR1");
  } catch {
    // It has ended meanwhile.
  }
}

function unreachable(socket: string, pid: number): Fault {
  return new Fault(
    "terminal.unreachable",
    `The tmux server of Signalbox (process ${pid}) does not listen at ${socket}.`,
    {
      retry: "later",
      hint: `Look at the permissions of that folder. To give its windows up with all agents in them: kill ${pid}`,
    },
  );
}
