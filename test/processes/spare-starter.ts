// Starts two programs, the second with the spare supervisor, and stays.
import { setTimeout as sleep } from "node:timers/promises";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { createProcesses } from "../../src/adapters/processes/processes.ts";

const [folder = "", ...supervisor] = process.argv.slice(2);
const processes = createProcesses({ folder, supervisor, table: systemProcessTable(), keepsSpare: true });
for (const id of ["a", "b"]) {
  const limits = { timeLimit: 600_000, outputLimit: 1e6 };
  await processes.start({
    id,
    argv: ["sleep", "1000"],
    cwd: "/",
    env: process.env as Record<string, string>,
    input: "",
    ...limits,
  });
  await sleep(1_500);
}
await sleep(600_000);
