import { readProcessTree, signalIfThere } from "../../process-tree.ts";

/** Kills a process with all its descendants, as a crash of the machine would. */
export function killTree(pid: number): void {
  // A stopped process starts no new children.
  for (let known: readonly number[] = []; ; ) {
    const all = [pid, ...readProcessTree().below(pid)];
    for (const each of all) signalIfThere(each, "SIGSTOP");
    if (all.length === known.length) break;
    known = all;
  }
  for (const each of [pid, ...readProcessTree().below(pid)]) signalIfThere(each, "SIGKILL");
}
