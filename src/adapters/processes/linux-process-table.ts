import { readdirSync } from "node:fs";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { familyIn } from "./family-in.ts";
import { type LinuxStat, readLinuxBoot, readLinuxStat, readProc } from "./linux-stat.ts";

/** What Linux counts processor time in, on every machine that Node runs on. */
const ticksPerSecond = 100;

/** Reads /proc. A single look takes some ten microseconds, so none of it is put off. */
export function linuxProcessTable(): ProcessTable {
  const boot = readLinuxBoot();
  const identityOf = ({ pid, start }: LinuxStat): ProcessIdentity => ({ boot, pid, start });
  return {
    async identify(pid) {
      const stat = readLinuxStat(pid);
      return stat && identityOf(stat);
    },
    async isAlive(identity) {
      return identity.boot === boot && readLinuxStat(identity.pid)?.start === identity.start;
    },
    async familyOf(pid) {
      return familyIn(everybody(), pid).map(identityOf);
    },
    async bearersOf(entry) {
      // Who ends between the two looks is gone; who began in between has another start.
      return everybody()
        .filter(({ pid }) => bears(pid, entry))
        .map(identityOf);
    },
    async cpuTime(pid) {
      const ticks = familyIn(everybody(), pid).reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
      return (ticks * 1_000) / ticksPerSecond;
    },
  };
}

function everybody(): readonly LinuxStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readLinuxStat(Number(name)) ?? []);
}

function bears(pid: number, entry: string): boolean {
  return `\0${readProc(`/proc/${pid}/environ`) ?? ""}\0`.includes(`\0${entry}\0`);
}
