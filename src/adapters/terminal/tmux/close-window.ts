import type { ProcessTable } from "../../../ports/processes.ts";
import type { Ask } from "./ask.ts";
import { type EndFamily, endFamily } from "./end-family.ts";
import type { TmuxPane } from "./list-panes.ts";
import { readRecord } from "./run-record.ts";
import { hasNoServer, hasNoTarget, tmuxFault } from "./run-tmux.ts";

/** Ends what runs in a pane, then takes its window away. */
export async function closeWindow(ask: Ask, ending: EndFamily, { id, pid, dead }: TmuxPane): Promise<void> {
  if (dead === undefined || (await isOrphaned(ending.table, pid))) await endFamily(ending, pid);
  const end = await ask(["kill-pane", "-t", id]);
  if (end.code !== 0 && !hasNoServer(end) && !hasNoTarget(end)) throw tmuxFault("close a window", end);
}

/** Ends the program of a run whose window is gone, where it has outlived it. */
export async function endLost(ending: EndFamily, folder: string): Promise<void> {
  const record = await readRecord(folder);
  if (record === undefined) return;
  const { table } = ending;
  const isSame = await table.isAlive(record);
  if (isSame || ((await isOfThisBoot(table, record.boot)) && (await isOrphaned(table, record.pid))))
    await endFamily(ending, record.pid);
}

/** A process that is dead may have left others of its group behind. Its number belongs to somebody else only if they are gone. */
async function isOrphaned(table: ProcessTable, pid: number): Promise<boolean> {
  return (await table.identify(pid)) === undefined;
}

async function isOfThisBoot(table: ProcessTable, boot: string): Promise<boolean> {
  return (await table.identify(process.pid))?.boot === boot;
}
