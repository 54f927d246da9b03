import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Polls a condition for which the system sends no notification. */
export async function until<T>(look: () => T): Promise<NonNullable<T>> {
  for (;;) {
    const seen = look();
    if (seen) return seen;
    await sleep(5);
  }
}

/** Resolves when this many clients are connected to a socket, accepted or not. Linux only. */
export async function connectionsTo(socket: string, count: number): Promise<void> {
  await until(() => clientsOf(socket) >= count);
}

/** How many clients are connected to a socket, accepted or not. Linux only. */
export function clientsOf(socket: string): number {
  const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
  // One of them is the listening socket itself.
  return lines.filter((line) => line.endsWith(` ${socket}`)).length - 1;
}

/** The live children of a process; undefined if it has started none, none if it has ended. */
export function childrenOf(pid: number | undefined): readonly string[] | undefined {
  const file = `/proc/${pid}/task/${pid}/children`;
  try {
    const text = readFileSync(file, "utf8").trim();
    return text === "" ? undefined : text.split(" ");
  } catch {
    return [];
  }
}

/** Whether a process, child or not, has ended. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** Every process with this entry in its environment. */
export function processesWith(setting: string): readonly number[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(setting))
    .map(Number);
}

/** Kills every process with this entry in its environment, until there is none. */
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
