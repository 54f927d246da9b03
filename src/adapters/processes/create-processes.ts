import { constants, watch } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import type { Processes, ProcessTable } from "../../ports/processes.ts";
import { endFamily } from "./end-family.ts";
import { endRun } from "./end-run.ts";
import { lookAtRun } from "./look-at-run.ts";
import { newsFolder } from "./run-records.ts";
import { createSpare } from "./spare-supervisor.ts";
import { makeFolder, startRun } from "./start-run.ts";

export interface ProcessesOptions {
  /** Where the folders of the runs are; nobody else's. */
  readonly folder: string;
  /** What starts a supervisor; the run's folder is put after it, or into its input. */
  readonly supervisor: readonly string[];
  /** Whether one is started before it is needed, for a while after each start. */
  readonly keepsSpare?: boolean;
  /** The one for this machine: supervisors write down who somebody is in its words. */
  readonly table: ProcessTable;
  /** Milliseconds that a program has to end by itself once it is asked to. */
  readonly grace?: number;
  /** Milliseconds until we no longer wait for a supervisor to record its program. */
  readonly patience?: number;
}

/** Programs below supervisors, with everything about them in files: any number of us can come and go. */
export function createProcesses(options: ProcessesOptions): Processes {
  const { folder, table, grace = 5_000, patience = 60_000, keepsSpare = false } = options;
  const spare = keepsSpare ? createSpare(options.supervisor) : undefined;
  const folderOf = (id: string) => {
    if (/^[a-z0-9-]+$/.test(id)) return join(folder, id);
    throw new Fault("processes.bad-id", `"${id}" cannot be the id of a run: only a-z, 0-9 and "-" can be in it.`);
  };
  return {
    start: async (order) => startRun({ ...options, spare, grace, patience }, folderOf(order.id), order),
    look: async (id) => lookAtRun(table, folderOf(id)),
    kill: async (id) => endRun(table, folderOf(id), grace),
    sweep: async (head, entry) => (await endFamily(table, { head, entry }, grace)) !== "",
    watch(listener) {
      const news = join(folder, newsFolder);
      makeFolder(news);
      // Where nobody can be told, or any more, whoever looks from time to time finds out what has become of the runs.
      try {
        const watcher = watch(news, { persistent: false }, (_, name) => {
          if (name !== null && /^[a-z0-9-]+$/.test(name)) listener(name);
        });
        watcher.on("error", () => watcher.close());
        return () => watcher.close();
      } catch {
        return () => {};
      }
    },
    read: async (id, channel, from, limit) => readPart(join(folderOf(id), channel), from, limit),
  };
}

async function readPart(path: string, from: number, limit: number): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    // Of what somebody has put in its place nothing is read: what was printed is as unknown as if it were not there.
    if (error.code === "ENOENT" || error.code === "ELOOP" || error.code === "ENXIO") return undefined;
    throw new Fault("processes.unreadable", `${path} cannot be read (${error.code}).`, {
      retry: "later",
      cause: error,
    });
  });
  if (handle === undefined) return new Uint8Array();
  try {
    const found = await handle.stat();
    if (!found.isFile()) return new Uint8Array();
    const { size } = found;
    const buffer = new Uint8Array(Math.max(0, Math.min(limit, size - from)));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
