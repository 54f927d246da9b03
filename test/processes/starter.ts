// Starts programs and then does nothing more, until somebody kills it. Arguments: the folder, how many, the supervisor.
import { createProcesses } from "../../src/adapters/processes/create-processes.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";

const [folder = "", count = "", ...supervisor] = process.argv.slice(2);
const processes = createProcesses({ folder, supervisor, table: systemProcessTable() });
const limits = { timeLimit: 600_000, outputLimit: 1_000_000 };
const env = { PATH: process.env.PATH ?? "" };
for (let i = 0; i < Number(count); i++) {
  // Each ends when a file of its name is there.
  const argv = ["sh", "-c", `echo $$ >> lives; while [ ! -e ${i}.over ]; do sleep 0.2; done; exit ${i}`];
  await processes.start({ id: `run-${i}`, argv, cwd: folder, env, input: "", ...limits });
}
process.stdout.write("started\n");
setInterval(() => {}, 1_000);
