import { readProcessTree, signalIfThere } from "../../process-tree.ts";

/** Kills a process, and what it has started with everything below: what a crash of the machine would end at once. */
export function killTree(pid: number): void {
  // Whoever is stopped starts nothing new.
  for (let known: readonly number[] = []; ; ) {
    const all = [pid, ...readProcessTree().below(pid)];
    for (const each of all) signalIfThere(each, "SIGSTOP");
    if (all.length === known.length) break;
    known = all;
  }
  for (const each of [pid, ...readProcessTree().below(pid)]) signalIfThere(each, "SIGKILL");
}
