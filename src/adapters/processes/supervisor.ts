// The supervisor of one run: starts the program, sees to its limits, notes how it ended. It belongs to nobody: whoever
// started it may die. Its only argument is the folder of the run.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openPrinted } from "./printed.ts";
import { reserveRecord } from "./reserve-record.ts";
import { claimFile, endFile, orderFile, processFile, readOrder } from "./run-records.ts";
import { supervise } from "./supervise.ts";
import { identifyChild } from "./system-process-table.ts";

// When the machine goes down everybody is asked to end. The program decides for itself; we note what becomes of it.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, () => {});

const folder = process.argv[2] ?? "";
const order = readOrder(folder);
if (order !== undefined) claimAndSupervise(folder, order);

function claimAndSupervise(folder: string, order: NonNullable<ReturnType<typeof readOrder>>): void {
  const [claiming, record, end] = [claimFile, processFile, endFile].map((name) => reserveRecord(folder, name)) as [
    ReturnType<typeof reserveRecord>,
    ReturnType<typeof reserveRecord>,
    ReturnType<typeof reserveRecord>,
  ];
  const printed = openPrinted(folder);
  const claim = { supervisor: identifyChild(process.pid), mark: order.mark, at: Date.now() };
  // From here on there may be a program. Whatever can fail has been done before.
  if (claiming.publish(claim)) return void supervise({ folder, order, claim, printed, record, end });
  for (const each of [record, end]) each.release();
  rmSync(join(folder, orderFile), { force: true });
}
