// Starts programs and then waits to be killed. Arguments: the folder, how many, the supervisor.

import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { createProcesses } from "../../src/adapters/processes/processes.ts";

const [folder = "", count = "", ...supervisor] = process.argv.slice(2);
const processes = createProcesses({ folder, supervisor, table: systemProcessTable() });
const limits = { timeLimit: 600_000, outputLimit: 1_000_000 };
const env = { PATH: process.env.PATH ?? "" };
for (let i = 0; i < Number(count); i++) {
  // Each program ends when a file with its name exists.
  const argv = ["sh", "-c", `echo $$ >> lives; while [ ! -e ${i}.over ]; do sleep 0.2; done; exit ${i}`];
  await processes.start({ id: `run-${i}`, argv, cwd: folder, env, input: "", ...limits });
}
process.stdout.write("started\n");
setInterval(() => {}, 1_000);
