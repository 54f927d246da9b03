import type { Salvage } from "../../../ports/control-repository.ts";
import type { ControlGit } from "../control/control-git.ts";
import { treeOf } from "../control/read-history.ts";

export interface Sought {
  /** Undefined where anybody's will do. */
  readonly task: string | undefined;
  readonly head: string | undefined;
  readonly tree: string;
  /** The tree of what was staged, where it must have been saved by itself. */
  readonly staged: string | undefined;
}

/** A salvage of the same files on the same commit: whoever made it was killed, or has not removed the workspace yet. */
export async function savedBefore(control: ControlGit, sought: Sought): Promise<Salvage["saved"]> {
  const { stdout } = await control.git([
    "for-each-ref",
    "--format=%(objectname) %(refname) %(tree) %(parent)",
    "--end-of-options",
    `refs/signalbox/salvage/${sought.task ?? ""}`,
  ]);
  for (const line of stdout.toString("latin1").split("\n")) {
    const [commit = "", ref = "", tree, ...parents] = line.split(" ").filter((word) => word !== "");
    if (tree !== sought.tree || parents[0] !== sought.head) continue;
    const trees = sought.staged === undefined ? [] : await Promise.all(parents.map((each) => treeOf(control, each)));
    if (sought.staged === undefined || trees.includes(sought.staged)) return { ref, commit };
  }
  return undefined;
}
