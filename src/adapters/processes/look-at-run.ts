import type { ProcessState, ProcessTable } from "../../ports/processes.ts";
import { markEntry } from "./process-mark.ts";
import { type ClaimRecord, readClaim, readEnd, readProcess } from "./run-records.ts";

/**
 * What is known about a run, from its records and the table. While a supervisor lives its word is waited for. Where it
 * died between claim and record, nobody can tell whether the program was started: if it lives it has the mark; if not, the
 * run is lost, for it may have lived. That is also why a run that was claimed is never started again.
 */
export async function lookAtRun(table: ProcessTable, folder: string): Promise<ProcessState> {
  const end = readEnd(folder);
  if (end !== undefined) return end;
  const record = readProcess(folder);
  if (record !== undefined) {
    const { identity, supervisor, at } = record;
    // The program may be dead and its supervisor about to say so.
    const isRunning = (await table.isAlive(identity)) || (await table.isAlive(supervisor));
    return isRunning ? { kind: "running", identity, startedAt: at } : (readEnd(folder) ?? { kind: "lost" });
  }
  const claim = readClaim(folder);
  if (claim === undefined) return readEnd(folder) ?? { kind: "absent" };
  if (await table.isAlive(claim.supervisor)) return { kind: "absent" };
  // It has ended since the first look, and may have recorded anything before.
  if (readEnd(folder) !== undefined || readProcess(folder) !== undefined) return lookAtRun(table, folder);
  return lookByMark(table, claim);
}

async function lookByMark(table: ProcessTable, { mark, at }: ClaimRecord): Promise<ProcessState> {
  const bearers = await table.bearersOf(markEntry(mark));
  const [identity] = [...bearers].sort((a, b) => a.start.localeCompare(b.start, "en", { numeric: true }));
  return identity === undefined ? { kind: "lost" } : { kind: "running", identity, startedAt: at };
}
