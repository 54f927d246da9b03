import { readdirSync, readFileSync } from "node:fs";
import type { ProcessIdentity, ProcessTable } from "../../src/ports/processes.ts";

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** A minimal process table from /proc, with only what these tests need. */
export const procTable: ProcessTable = {
  identify: async (pid) => identityOf(entryOf(pid)),
  isAlive: async ({ pid, start, boot: of }) => of === boot && entryOf(pid)?.start === start,
  familyOf: async (pid) => {
    const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (entryOf(Number(name)) ?? []) : []));
    const family = new Set([pid]);
    for (let size = 0; size !== family.size; ) {
      size = family.size;
      for (const each of all) if (family.has(each.parent) || each.group === pid) family.add(each.pid);
    }
    return all.filter((each) => family.has(each.pid)).flatMap((each) => identityOf(each) ?? []);
  },
  bearersOf: async (entry) =>
    readdirSync("/proc").flatMap((name) => {
      if (!/^\d+$/.test(name) || !environmentOf(name).includes(entry)) return [];
      return identityOf(entryOf(Number(name))) ?? [];
    }),
  cpuTime: async () => 0,
};

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return [];
  }
}

function identityOf(entry: Entry | undefined): ProcessIdentity | undefined {
  return entry && { boot, pid: entry.pid, start: entry.start };
}

function entryOf(pid: number): Entry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return { pid, parent: Number(parent), group: Number(group), start: rest[16] ?? "" };
  } catch {
    return undefined;
  }
}
