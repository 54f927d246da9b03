import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { identifyChild } from "./process-table.ts";
import type { Supervision } from "./processes.ts";
import {
  claimFile,
  endFile,
  type OrderRecord,
  openPrinted,
  orderFile,
  processFile,
  readEnd,
  readOrder,
  readProcess,
  reserveRecord,
  troubleFile,
} from "./run-records.ts";
import { supervise } from "./supervise.ts";

// The supervisor of one run: starts the program, enforces its limits, records how it ended. It outlives the daemon that
// started it. Its only argument is the folder of the run; without one it reads the folder from standard input.

// At a shutdown every process gets SIGTERM. The program handles it itself; the supervisor stays to record the end.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, () => {});

const [, , given] = process.argv;
const folder = given ?? readFileSync(0, "utf8");
if (given === undefined && folder !== "") noteTrouble(folder);
// Empty input: the spare supervisor was not needed.
if (folder !== "") begin(folder);

function begin(folder: string): void {
  const order = readOrder(folder);
  const run = order && takeRun(folder, order);
  if (run !== undefined) void supervise(run);
  else if (order !== undefined) rmSync(join(folder, orderFile), { force: true });
}

/** A spare supervisor is started before its folder is known, so its stderr goes nowhere. */
function noteTrouble(folder: string): void {
  process.on("uncaughtException", (error) => {
    appendFileSync(join(folder, troubleFile), `${error.stack ?? error}\n`, { mode: 0o600 });
    process.exit(1);
  });
}

/** Undefined if another supervisor has the run. Everything that can fail comes before the claim. */
function takeRun(folder: string, order: OrderRecord): Supervision | undefined {
  // If there is a record but no claim, the claim was deleted.
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
