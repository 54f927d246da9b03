import { Fault } from "../../../fault.ts";
import { type Collected, type CollectOrder, taskRef } from "../../../ports/control-repository.ts";
import { branchRef, checkPart } from "../check-names.ts";
import { createTurns } from "../turns.ts";
import { lookForRef } from "../workspace/read-git-folder.ts";
import type { ControlGit } from "./control-git.ts";
import { checkFolder, checkWhole, fetchInto } from "./fetch-into.ts";
import { noteReached } from "./known-commits.ts";
import { moveRef } from "./move-ref.ts";
import { commitAt } from "./read-history.ts";

const turns = createTurns();

/**
 * First into a ref that counts for nothing; only what was found whole moves the task's ref. A crash in between leaves the
 * task's ref where it was. One at a time for each task: two would take that ref away from each other.
 */
export function collect(control: ControlGit, order: CollectOrder): Promise<Collected> {
  return turns.take(`${control.folder} ${order.task}`, () => collectAlone(control, order));
}

async function collectAlone(control: ControlGit, order: CollectOrder): Promise<Collected> {
  const { folder, branch, task, seenAt, signal } = order;
  const ref = taskRef(checkPart(task));
  const known = seenAt === undefined ? undefined : await commitAt(control, ref);
  if (known !== undefined && known === seenAt) return { commit: known, previous: known };
  const incoming = `refs/signalbox/incoming/tasks/${task}`;
  const source = branchRef(branch);
  if ((await lookForRef(control.folder, incoming)).kind !== "absent") await forget(control, incoming);
  await fetchInto(control, { from: checkFolder(folder), refspecs: [`+${source}:${incoming}`], prunes: false, signal });
  const commit = await commitAt(control, incoming);
  if (commit === undefined) throw lost(folder, branch);
  await checkWhole(control, [commit]);
  const previous = await commitAt(control, ref);
  await moveRef(control, ref, commit, previous);
  if ((await commitAt(control, ref)) !== commit) throw lost(folder, branch);
  noteReached(control, [commit]);
  await forget(control, incoming);
  return { commit, previous };
}

async function forget(control: ControlGit, incoming: string): Promise<void> {
  await control.git(["update-ref", "--no-deref", "-d", "--end-of-options", incoming], { writes: true });
}

function lost(folder: string, branch: string): Fault {
  return new Fault("git.ref-moved", `The branch ${JSON.stringify(branch)} of ${folder} did not arrive.`, {
    retry: "later",
    hint: "Somebody else may have collected it at the same moment; it is done again.",
  });
}
