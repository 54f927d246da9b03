// Runs benchmarks, each in its own process: all of them, or the named ones.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const all = [
  "engine",
  "texts",
  "store",
  "daemon",
  "git",
  "agents",
  "terminal",
  "dashboard",
  "sessions",
  "crew",
  "team",
  "pipeline",
  "findings",
  "lists",
  "web",
];
const names = process.argv.slice(2);
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${all.join(", ")}\n`);
  process.exit(2);
}
let failed = false;
/** Benchmarks of durable writes, whose time depends mostly on the disk. */
const waitForDisk = ["store", "daemon"];
for (const name of names.length === 0 ? all : names) {
  const file = join("bench", `${name}.ts`);
  const { status } = spawnSync(process.execPath, [file], { stdio: "inherit" });
  failed ||= status !== 0;
  if (!waitForDisk.includes(name)) continue;
  process.stdout.write("\nThe same as on a disk that takes 1 ms to make something last\n");
  const env = { ...process.env, SIGNALBOX_DISK_MS: "1" };
  const slow = spawnSync(process.execPath, ["--import", `./${join("bench", "slow-disk.ts")}`, file], {
    stdio: "inherit",
    env,
  });
  failed ||= slow.status !== 0;
}
process.exit(failed ? 1 : 0);
