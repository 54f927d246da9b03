import { readdirSync, readFileSync } from "node:fs";

/** The current parent of every process. */
export function readProcessTree(): {
  childrenOf(pid: number): readonly number[];
  below(pid: number): readonly number[];
} {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const childrenOf = (pid: number) => parents.filter(([, parent]) => parent === pid).map(([child]) => child);
  const below = (pid: number): readonly number[] => childrenOf(pid).flatMap((child) => [child, ...below(child)]);
  return { childrenOf, below };
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

function parentOf(pid: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The process name before this may contain any character.
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
