import { readFileSync } from "node:fs";

/** What the system says about one process; times are in ticks. */
export interface LinuxStat {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Since the machine came up. */
  readonly start: string;
  /** Its own, and that of the children it has buried. */
  readonly cpuTicks: number;
}

/** Undefined where there is no such process, or it is dead and only not buried. */
export function readLinuxStat(pid: number): LinuxStat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseLinuxStat(text, false);
}

/** The same for a process that may be dead, as long as nobody has buried it. */
export function readLinuxStart(pid: number): string | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseLinuxStat(text, true)?.start;
}

export function readLinuxBoot(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
}

/** Undefined where it cannot be read: the process is gone, or somebody else's. */
export function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function parseLinuxStat(text: string, alsoDead: boolean): LinuxStat | undefined {
  // A program chooses its own name, which may have blanks and brackets; everything after the last bracket is numbers.
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
