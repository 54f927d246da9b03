import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ProcessIdentity } from "../../../ports/processes.ts";

/** Who this process is, in the words of the table of processes. */
export function identifyMyself(): ProcessIdentity {
  const { pid } = process;
  if (process.platform !== "linux")
    return { boot: ask("sysctl", ["-n", "kern.boottime"]), pid, start: startFromPs(pid) };
  // The second field is a name in parentheses that may itself have spaces and parentheses; the start is the 22nd.
  const stat = readFileSync("/proc/self/stat", "utf8");
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), pid, start };
}

function startFromPs(pid: number): string {
  return ask("ps", ["-o", "lstart=", "-p", `${pid}`]);
}

function ask(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    env: { PATH: "/bin:/usr/bin:/usr/sbin:/sbin", LC_ALL: "C" },
  }).trim();
}
