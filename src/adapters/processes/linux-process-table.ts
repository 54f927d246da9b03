import { readdirSync } from "node:fs";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";
import { familyIn } from "./family-in.ts";
import { type LinuxStat, readLinuxBoot, readLinuxStat, readProc } from "./linux-stat.ts";

/** What Linux counts processor time in, on every machine that Node runs on. */
const ticksPerSecond = 100;

/** Reads /proc. To look at one process takes some ten microseconds, at all of them as many milliseconds. */
export function linuxProcessTable(): ProcessTable {
  const boot = readLinuxBoot();
  const identityOf = ({ pid, start }: LinuxStat): ProcessIdentity => ({ boot, pid, start });
  const everybody = together(readEverybody);
  const environments = together(() => readEverybody().map((stat) => ({ stat, environment: environmentOf(stat.pid) })));
  return {
    async identify(pid) {
      const stat = readLinuxStat(pid);
      return stat && identityOf(stat);
    },
    async isAlive(identity) {
      return identity.boot === boot && readLinuxStat(identity.pid)?.start === identity.start;
    },
    async familyOf(pid) {
      return familyIn(await everybody(), pid).map(identityOf);
    },
    async bearersOf(entry) {
      const bearers = (await environments()).filter(({ environment }) => environment.includes(`\0${entry}\0`));
      return bearers.map(({ stat }) => identityOf(stat));
    },
    async cpuTime(pid) {
      const ticks = familyIn(await everybody(), pid).reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
      return (ticks * 1_000) / ticksPerSecond;
    },
  };
}

/** Whoever asks before the look is taken shares it: when everything is stopped at once, all ask at once. */
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

function readEverybody(): readonly LinuxStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readLinuxStat(Number(name)) ?? []);
}

function environmentOf(pid: number): string {
  return `\0${readProc(`/proc/${pid}/environ`) ?? ""}\0`;
}
