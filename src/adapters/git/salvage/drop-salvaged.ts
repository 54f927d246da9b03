import { Fault } from "../../../fault.ts";
import { checkCommit, checkRef } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { knownCommits } from "../control/known-commits.ts";
import { commitAt } from "../control/read-history.ts";
import { salvageFolder } from "./salvage.ts";

export async function dropSalvaged(control: ControlGit, ref: string, commit: string): Promise<void> {
  checkCommit(commit);
  if (!checkRef(ref).startsWith(salvageFolder)) {
    throw new Fault("git.bad-ref", `Nothing was salvaged under ${JSON.stringify(ref)}.`, {
      hint: "See what there is: signalbox salvage list",
    });
  }
  if ((await commitAt(control, ref)) === undefined) return;
  try {
    await control.git(["update-ref", "--no-deref", "-d", "--end-of-options", ref, commit], { writes: true });
  } finally {
    knownCommits(control).reached.clear();
  }
}
