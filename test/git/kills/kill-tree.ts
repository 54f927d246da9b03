import { readdirSync, readFileSync } from "node:fs";

/** Kills a process, and what it has started with everything below: what a crash of the machine would end at once. */
export function killTree(pid: number): void {
  // Whoever is stopped starts nothing new.
  for (let known: readonly number[] = []; ; ) {
    const all = [pid, ...below(pid)];
    for (const each of all) signal(each, "SIGSTOP");
    if (all.length === known.length) break;
    known = all;
  }
  for (const each of [pid, ...below(pid)]) signal(each, "SIGKILL");
}

function below(pid: number): readonly number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const childrenOf = (parent: number): readonly number[] =>
    parents.filter(([, of]) => of === parent).flatMap(([child]) => [child, ...childrenOf(child)]);
  return childrenOf(pid);
}

function parentOf(pid: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Its name, which comes before, may have anything in it.
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
