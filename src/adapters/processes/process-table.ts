import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Fault } from "../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";

// The table of running processes: read from /proc on Linux, from `ps` elsewhere.

interface Relative {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 if the system does not report it. */
  readonly session: number;
}

/** A process, its group, its session, and the descendants of them all. */
function familyIn<Each extends Relative>(allProcesses: readonly Each[], root: number): readonly Each[] {
  const children = childrenIn(allProcesses);
  const found = new Map<number, Each>();
  const open = allProcesses.filter(({ pid, group, session }) => pid === root || group === root || session === root);
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (found.has(each.pid)) continue;
    found.set(each.pid, each);
    open.push(...(children.get(each.pid) ?? []));
  }
  return [...found.values()];
}

/** Of one reading the families of hundreds of processes are asked for, when a run that has forked is ended. */
const childrenOf = new WeakMap<readonly Relative[], ReadonlyMap<number, readonly Relative[]>>();

function childrenIn<Each extends Relative>(allProcesses: readonly Each[]): ReadonlyMap<number, readonly Each[]> {
  const known = childrenOf.get(allProcesses) ?? Map.groupBy(allProcesses, ({ parent }) => parent);
  childrenOf.set(allProcesses, known);
  return known as ReadonlyMap<number, readonly Each[]>;
}

/** Linux's unit of processor time; the same on every machine that Node supports. */
const ticksPerSecond = 100;

/** Reads /proc. One process takes about ten microseconds, all of them about ten milliseconds. */
export function linuxProcessTable(): ProcessTable {
  const boot = readLinuxBoot();
  const identityOf = ({ pid, start }: LinuxStat): ProcessIdentity => ({ boot, pid, start });
  const allProcesses = together(readAllProcesses);
  const environments = together(() =>
    readAllProcesses().map((stat) => ({ stat, environment: environmentOf(stat.pid) })),
  );
  return {
    async identify(pid) {
      const stat = readLinuxStat(pid);
      return stat && identityOf(stat);
    },
    async isAlive(identity) {
      return identity.boot === boot && readLinuxStat(identity.pid)?.start === identity.start;
    },
    async familyOf(pid) {
      return familyIn(await allProcesses(), pid).map(identityOf);
    },
    async bearersOf(entry) {
      const bearers = (await environments()).filter(({ environment }) => environment.includes(`\0${entry}\0`));
      return bearers.map(({ stat }) => identityOf(stat));
    },
    async cpuTime(pid) {
      const ticks = familyIn(await allProcesses(), pid).reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
      return (ticks * 1_000) / ticksPerSecond;
    },
  };
}

/** Callers in the same tick share one reading: when many runs are stopped together, they all ask together. */
function together<Seen>(look: () => Seen): () => Promise<Seen> {
  let coming: Promise<Seen> | undefined;
  return () => {
    coming ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        coming = undefined;
        try {
          resolve(look());
        } catch (error) {
          reject(error);
        }
      });
    });
    return coming;
  };
}

function readAllProcesses(): readonly LinuxStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readLinuxStat(Number(name)) ?? []);
}

function environmentOf(pid: number): string {
  return `\0${readProc(`/proc/${pid}/environ`) ?? ""}\0`;
}

/** The kernel's entry of one process; times are in ticks. */
interface LinuxStat {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Since boot. */
  readonly start: string;
  /** Its own time plus that of its reaped children. */
  readonly cpuTicks: number;
}

/** Undefined if the process does not exist or is a zombie. */
function readLinuxStat(pid: number): LinuxStat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseLinuxStat(text, false);
}

/** The start time of a process that may be a zombie. */
function readLinuxStart(pid: number): string | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseLinuxStat(text, true)?.start;
}

function readLinuxBoot(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
}

/** Undefined if it cannot be read: the process has ended, or belongs to another user. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function parseLinuxStat(text: string, alsoDead: boolean): LinuxStat | undefined {
  // A program's name may contain spaces and parentheses; after the last parenthesis there are only numbers.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session] = fields;
  if (!alsoDead && (state === "Z" || state === "X" || state === "x")) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: fields[19] ?? "",
    cpuTicks: ticks,
  };
}

/**
 * Whether it is the process of a sandbox, which ends when the program in it has ended. SIGTERM would make it kill that
 * program before it can clean up.
 */
export function isSandbox(pid: number): boolean {
  return isLinux && readProc(`/proc/${pid}/comm`) === "bwrap\n";
}

/** The mark in the environment of a run's processes, by which those that left its group are found. */
export const markVariable = "SIGNALBOX_PROCESS";

export function markEntry(mark: string): string {
  return `${markVariable}=${mark}`;
}

/** One `-o` per column: systems parse lists of columns differently. */
const columns = ["pid", "ppid", "pgid", "stat", "time", "lstart"].flatMap((name) => ["-o", `${name}=`]);
/** Fixed locale and time zone, so that times are always written in the same way. */
const env = { PATH: "/bin:/usr/bin:/sbin:/usr/sbin", LC_ALL: "C", TZ: "UTC" };
/** Some systems compute a start time from the boot time, which moves when the clock is set. */
const tolerance = 2_000;

/** Uses `ps`, on systems without /proc. It finds processes that left their session only by their parents and marks. */
export function psProcessTable(): ProcessTable {
  const boot = readPsBoot();
  const identityOf = ({ pid, start }: Row): ProcessIdentity => ({ boot, pid, start });
  const rowOf = async (pid: number) => (await ask(["-p", String(pid), ...columns])).flatMap(readRow)[0];
  const allProcesses = async () => (await ask(["-A", ...columns])).flatMap(readRow);
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
      return familyIn(await allProcesses(), pid).map(identityOf);
    },
    async bearersOf(entry) {
      const pids = bearersIn(await ask(environmentArguments), entry);
      return (await allProcesses()).filter(({ pid }) => pids.has(pid)).map(identityOf);
    },
    async cpuTime(pid) {
      return familyIn(await allProcesses(), pid).reduce((sum, { cpu }) => sum + cpu, 0);
    },
  };
}

/** The start time of a process that may be a zombie; undefined if it does not exist. */
function readPsStart(pid: number): string | undefined {
  try {
    return execFileSync("ps", ["-p", String(pid), "-o", "lstart="], { env, encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function readPsBoot(): string {
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
    // An environment may contain line breaks.
    const head = /^\s*(\d+) /.exec(line);
    if (head !== null) pid = Number(head[1]);
    if (line.split(/\s/).includes(entry)) pids.add(pid);
  }
  return pids;
}

/** The lines that `ps` prints. Finding no process is not an error. */
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

const isLinux = process.platform === "linux";

/** The table for this machine. */
export function systemProcessTable(): ProcessTable {
  return isLinux ? linuxProcessTable() : psProcessTable();
}

/** The identity of a direct child, in the format of this machine's table. Synchronous: the child is not reaped yet. */
export function identifyChild(pid: number): ProcessIdentity {
  const boot = isLinux ? readLinuxBoot() : readPsBoot();
  return { boot, pid, start: (isLinux ? readLinuxStart(pid) : readPsStart(pid)) ?? "" };
}
