// Runs benchmarks, each in a process of its own: all of them, or those that are named.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const all = ["engine", "store", "daemon", "git"];
const names = process.argv.slice(2);
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${all.join(", ")}\n`);
  process.exit(2);
}
let failed = false;
for (const name of names.length === 0 ? all : names) {
  const { status } = spawnSync(process.execPath, [join("bench", `${name}.ts`)], { stdio: "inherit" });
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
