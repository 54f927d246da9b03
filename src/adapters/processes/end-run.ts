import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessEnd, ProcessTable } from "../../ports/processes.ts";
import { endFamily } from "./end-family.ts";
import { markEntry } from "./process-mark.ts";
import { publishRecord } from "./publish-record.ts";
import {
  type ClaimRecord,
  claimFile,
  endFile,
  killFile,
  newsOf,
  orderFile,
  readClaim,
  readEnd,
  readProcess,
} from "./run-records.ts";
import { sleep } from "./sleep.ts";
import { unwritable } from "./unwritable.ts";

/** How long a supervisor whose program is dead may take to say so; a disk that is full can make it late. */
const patience = 10_000;

/** Ends a run with everything that it has started, also where it has ended itself and has only left something behind. */
export async function endRun(table: ProcessTable, folder: string, grace: number): Promise<void> {
  const claim = readProcess(folder) ?? readClaim(folder) ?? (await forestall(table, folder));
  if (claim === undefined) return;
  const isOver = readEnd(folder) !== undefined;
  if (!isOver) leaveWord(folder);
  const head = isOver ? undefined : await headOf(table, folder, claim);
  const signal = await endFamily(table, { head, entry: markEntry(claim.mark) }, grace);
  if (isOver) return;
  const isSettled = await until(async () => readEnd(folder) !== undefined || !(await table.isAlive(claim.supervisor)));
  if (!isSettled || signal === "" || readEnd(folder) !== undefined) return;
  // Its supervisor is dead, so it is for us to say. Where that cannot be written it is lost, which is true as well.
  try {
    publishEnd(folder, signal);
    rmSync(newsOf(folder), { force: true });
  } catch {}
}

/** Takes the claim away from supervisors that have not come to it yet, so that nothing is started after us. */
async function forestall(table: ProcessTable, folder: string): Promise<ClaimRecord | undefined> {
  if (!existsSync(join(folder, orderFile))) return readClaim(folder);
  const supervisor = await table.identify(process.pid);
  const claim = { supervisor, mark: "none", at: Date.now() };
  try {
    if (!publishRecord(folder, claimFile, JSON.stringify(claim))) return readClaim(folder);
    publishEnd(folder, "");
  } catch (error) {
    throw unwritable(folder, error);
  }
  rmSync(join(folder, orderFile), { force: true });
  return undefined;
}

/** Who the program is, once its supervisor has recorded it. */
async function headOf(table: ProcessTable, folder: string, { supervisor }: ClaimRecord) {
  await until(async () => readProcess(folder) !== undefined || !(await table.isAlive(supervisor)));
  return readProcess(folder)?.identity;
}

/** For the supervisor. That it cannot be left, because the disk is full, must not keep anybody alive. */
function leaveWord(folder: string): void {
  try {
    writeFileSync(join(folder, killFile), "", { mode: 0o600 });
  } catch {}
}

function publishEnd(folder: string, signal: string): void {
  const end: Omit<ProcessEnd, "code"> = { kind: "ended", signal, cause: "killed", reason: "", at: Date.now() };
  publishRecord(folder, endFile, JSON.stringify(end));
}

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + patience;
  while (!(await holds())) {
    if (performance.now() >= deadline) return false;
    await sleep(5);
  }
  return true;
}
