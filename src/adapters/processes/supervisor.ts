// The supervisor of one run: starts the program, sees to its limits, notes how it ended. It belongs to nobody: whoever
// started it may die. Its only argument is the folder of the run; without one that comes from its input, once it is known.
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openPrinted } from "./printed.ts";
import { reserveRecord } from "./reserve-record.ts";
import {
  claimFile,
  endFile,
  type OrderRecord,
  orderFile,
  processFile,
  readEnd,
  readOrder,
  readProcess,
  troubleFile,
} from "./run-records.ts";
import { supervise } from "./supervise.ts";
import type { Supervision } from "./supervision.ts";
import { identifyChild } from "./system-process-table.ts";

// When the machine goes down everybody is asked to end. The program decides for itself; we note what becomes of it.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, () => {});

const [, , given] = process.argv;
const folder = given ?? readFileSync(0, "utf8");
if (given === undefined && folder !== "") noteTrouble(folder);
// Nobody needed us.
if (folder !== "") begin(folder);

function begin(folder: string): void {
  const order = readOrder(folder);
  const run = order && takeRun(folder, order);
  if (run !== undefined) void supervise(run);
  else if (order !== undefined) rmSync(join(folder, orderFile), { force: true });
}

/** Whoever started us did not know yet where our complaints go. */
function noteTrouble(folder: string): void {
  process.on("uncaughtException", (error) => {
    appendFileSync(join(folder, troubleFile), `${error.stack ?? error}\n`, { mode: 0o600 });
    process.exit(1);
  });
}

/** Undefined where somebody else has it. Whatever can fail is done before the claim: after it there may be a program. */
function takeRun(folder: string, order: OrderRecord): Supervision | undefined {
  // Where there is a record but no claim, somebody has deleted the claim.
  if (readProcess(folder) !== undefined || readEnd(folder) !== undefined) return undefined;
  const claiming = reserveRecord(folder, claimFile);
  const record = reserveRecord(folder, processFile);
  const end = reserveRecord(folder, endFile);
  const printed = openPrinted(folder);
  const claim = { supervisor: identifyChild(process.pid), mark: order.mark, at: Date.now() };
  if (claiming.publish(claim)) return { folder, order, claim, printed, record, end };
  for (const each of [record, end]) each.release();
  return undefined;
}
