import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Looks again and again: for what the system knows but tells nobody. */
export async function until<T>(look: () => T): Promise<NonNullable<T>> {
  for (;;) {
    const seen = look();
    if (seen) return seen;
    await sleep(5);
  }
}

/** Comes back when so many are connected to a socket, whether or not its owner has taken them on. Only Linux tells. */
export async function connectionsTo(socket: string, count: number): Promise<void> {
  const ends = () =>
    readFileSync("/proc/net/unix", "utf8")
      .split("\n")
      .filter((line) => line.endsWith(` ${socket}`));
  // One of them is the door itself.
  await until(() => ends().length > count);
}

/** The processes that a process has begun and not outlived; undefined where it has begun none, none where it is over. */
export function childrenOf(pid: number | undefined): readonly string[] | undefined {
  const file = `/proc/${pid}/task/${pid}/children`;
  try {
    const text = readFileSync(file, "utf8").trim();
    return text === "" ? undefined : text.split(" ");
  } catch {
    return [];
  }
}

/** Whether a process that need not be our child has ended. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** Every process that was started with this in its environment. */
export function processesWith(setting: string): readonly number[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(setting))
    .map(Number);
}

/** Kills every process that was started with this in its environment, until there is none. */
export function endAllWith(setting: string): void {
  for (;;) {
    const found = processesWith(setting);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
