import { setTimeout as wait } from "node:timers/promises";
import { Fault } from "../../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../../ports/processes.ts";

export interface EndFamily {
  readonly table: ProcessTable;
  /** Milliseconds that a program has to end by itself. */
  readonly grace: number;
}

const firstPause = 20;
const lastPause = 200;
/** How long to wait for what was killed. Only a process that hangs in the system itself takes as long. */
const patience = 15_000;

/** Ends a process and everybody who descends from it or is in its group: gently, then by force. Returns when all are gone. */
export async function endFamily({ table, grace }: EndFamily, pid: number): Promise<void> {
  const root = await table.identify(pid);
  let known: readonly ProcessIdentity[] = [];
  const look = async () => {
    const alive = await stillAlive(table, known);
    // Once the process is dead its number may become somebody else's, but not while anybody of its group lives.
    const now = await table.identify(pid);
    const isOurs = now === undefined || (now.start === root?.start && now.boot === root.boot);
    const from = new Set([...(isOurs ? [pid] : []), ...alive.map((each) => each.pid)]);
    const found = (await Promise.all([...from].map((each) => table.familyOf(each)))).flat();
    known = [...new Map([...alive, ...found].map((each) => [each.pid, each])).values()];
  };
  const signalAll = (signal: NodeJS.Signals) => {
    for (const each of known) send(each.pid, signal);
  };

  // Whoever has left the group is found only while its parent lives: before the first signal, and ever again.
  await look();
  signalAll("SIGTERM");
  // Whoever is stopped would never hear of it.
  signalAll("SIGCONT");
  const start = performance.now();
  for (let pause = firstPause; known.length > 0; pause = Math.min(2 * pause, lastPause)) {
    const passed = performance.now() - start;
    if (passed > grace) signalAll("SIGKILL");
    if (passed > grace + patience) throw undying(pid);
    await wait(pause);
    await look();
  }
}

async function stillAlive(table: ProcessTable, some: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]> {
  const checked = await Promise.all(some.map(async (each) => ((await table.isAlive(each)) ? [each] : [])));
  return checked.flat();
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}

function undying(pid: number): Fault {
  return new Fault("terminal.undying", `The process ${pid} or one of its descendants does not end.`, {
    retry: "later",
    hint: "It is tried again. Look whether it waits for a disk or a network that does not answer.",
  });
}
