import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { Fault } from "../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { familyIn } from "./family-in.ts";
import { readLinuxBoot } from "./linux-stat.ts";

/** One column each: lists of columns are read in different ways by different systems. */
const columns = ["pid", "ppid", "pgid", "stat", "time", "lstart"].flatMap((name) => ["-o", `${name}=`]);
/** Times must read the same whoever asks. */
const env = { PATH: "/bin:/usr/bin:/sbin:/usr/sbin", LC_ALL: "C", TZ: "UTC" };
/** Some systems work out when a process began from when the machine did, which moves with the clock. */
const tolerance = 2_000;

/** Asks `ps`, for systems without /proc. Processes that left their session are found by their parents and marks only. */
export function psProcessTable(): ProcessTable {
  const boot = readPsBoot();
  const identityOf = ({ pid, start }: Row): ProcessIdentity => ({ boot, pid, start });
  const rowOf = async (pid: number) => (await ask(["-p", String(pid), ...columns])).flatMap(readRow)[0];
  const everybody = async () => (await ask(["-A", ...columns])).flatMap(readRow);
  return {
    async identify(pid) {
      const row = await rowOf(pid);
      return row && identityOf(row);
    },
    async isAlive(identity) {
      if (identity.boot !== boot) return false;
      const row = await rowOf(identity.pid);
      return row !== undefined && Math.abs(Date.parse(row.start) - Date.parse(identity.start)) <= tolerance;
    },
    async familyOf(pid) {
      return familyIn(await everybody(), pid).map(identityOf);
    },
    async bearersOf(entry) {
      const pids = bearersIn(await ask(environmentArguments), entry);
      return (await everybody()).filter(({ pid }) => pids.has(pid)).map(identityOf);
    },
    async cpuTime(pid) {
      return familyIn(await everybody(), pid).reduce((sum, { cpu }) => sum + cpu, 0);
    },
  };
}

/** When a process began, for one that nobody has buried yet; undefined where there is none. */
export function readPsStart(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", "lstart="], { env, encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

export function readPsBoot(): string {
  if (existsSync("/proc/sys/kernel/random/boot_id")) return readLinuxBoot();
  return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { env, encoding: "utf8" }).trim();
}

const environmentArguments = [
  ...(process.platform === "linux" ? ["axeww"] : ["-A", "-E", "-ww"]),
  ...["-o", "pid=", "-o", "command="],
];

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly start: string;
  /** Milliseconds. */
  readonly cpu: number;
}

function readRow(line: string): readonly Row[] {
  const [pid, parent, group, state = "", time = "", ...start] = line.trim().split(/\s+/);
  if (start.length === 0 || state.startsWith("Z")) return [];
  return [
    {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      start: start.join(" "),
      cpu: readTime(time),
    },
  ];
}

/** `1-02:03:04`, `02:03:04` or `3:04.56`. */
function readTime(text: string): number {
  const [clock = "", days = "0"] = text.split("-").reverse();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}

function bearersIn(lines: readonly string[], entry: string): ReadonlySet<number> {
  const pids = new Set<number>();
  let pid = 0;
  for (const line of lines) {
    // An environment may have line breaks in it.
    const head = /^\s*(\d+) /.exec(line);
    if (head !== null) pid = Number(head[1]);
    if (line.split(/\s/).includes(entry)) pids.add(pid);
  }
  return pids;
}

/** What it prints, line by line. That it finds nobody is no failure. */
function ask(args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    execFile("ps", [...args], { env, encoding: "latin1", maxBuffer: 256 * 1024 * 1024 }, (error, output) => {
      if (error === null || (error.code === 1 && output === "")) return resolve(output.split("\n"));
      reject(
        new Fault("processes.unknown", `The processes of this machine could not be listed (${error.message.trim()}).`, {
          retry: "later",
          hint: "Check that ps is installed.",
          cause: error,
        }),
      );
    });
  });
}
