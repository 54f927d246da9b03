import { Fault } from "../../../fault.ts";
import { type Collected, type CollectOrder, lacksCommit, taskRef } from "../../../ports/control-repository.ts";
import { branchRef, checkCommit, checkPart } from "../check-names.ts";
import { listRefs } from "../list-refs.ts";
import { createTurns } from "../turns.ts";
import { lookForRef } from "../workspace/read-git-folder.ts";
import { bringIn } from "./bring-in.ts";
import type { ControlGit } from "./control-git.ts";
import { checkFolder, checkWhole, fetchInto } from "./fetch-into.ts";
import { knownCommits, noteReached } from "./known-commits.ts";
import { moveRef } from "./move-ref.ts";
import { commitAt, isAncestor, noteAncestor, treeOf } from "./read-history.ts";

const turns = createTurns();

/**
 * First into a ref that counts for nothing; only what was found whole moves the task's ref. A crash in between leaves the
 * task's ref where it was. One at a time for each task: two would take that ref away from each other.
 */
export function collect(control: ControlGit, order: CollectOrder): Promise<Collected> {
  return turns.take(`${control.folder} ${order.task}`, () => collectAlone(control, order));
}

async function collectAlone(control: ControlGit, order: CollectOrder): Promise<Collected> {
  const { folder, branch, task, seenAt, contains } = order;
  const ref = taskRef(checkPart(task));
  const known = seenAt === undefined ? undefined : await commitAt(control, ref);
  if (known !== undefined && known === seenAt && (contains ?? known) === known)
    return { commit: known, previous: known };
  const incoming = `refs/signalbox/incoming/tasks/${task}`;
  branchRef(branch);
  checkFolder(folder);
  if ((await lookForRef(control.folder, incoming)).kind !== "absent") await forget(control, incoming);
  const seen = seenAt !== undefined && (await isBroughtIn(control, order, seenAt, known)) ? seenAt : undefined;
  const commit = seen ?? (await fetchBranch(control, order, incoming));
  if (contains !== undefined && !(await isAncestor(control, checkCommit(contains), commit))) {
    if (seen === undefined) await forget(control, incoming);
    throw new Fault(lacksCommit, `The branch ${JSON.stringify(branch)} of ${folder} does not contain ${contains}.`);
  }
  const previous = await commitAt(control, ref);
  await moveRef(control, ref, commit, previous);
  if ((await commitAt(control, ref)) !== commit) throw lost(folder, branch);
  noteReached(control, [commit]);
  if (seen === undefined) await forget(control, incoming);
  return { commit, previous };
}

/** Whether a commit is here, with everything that it needs: brought in now, or long known. */
async function isBroughtIn(
  control: ControlGit,
  { folder, signal }: CollectOrder,
  commit: string,
  previous: string | undefined,
): Promise<boolean> {
  const { whole } = knownCommits(control);
  if (whole.has(checkCommit(commit))) return true;
  const branches = (await listRefs(control.folder, "refs/remotes/user/")) ?? new Map<string, string>();
  const known = [...(previous === undefined ? [] : [previous]), ...branches.values()];
  if (known.length === 0 || !(await bringIn(control, { folder, commit, known, signal }))) return false;
  const parents = await checkWhole(control, [commit]);
  // Of what is no commit nobody can say what it contains.
  if (previous === undefined) await treeOf(control, commit);
  else if (parents.has(previous)) await noteAncestor(control, previous, commit);
  else await isAncestor(control, previous, commit);
  whole.add(commit);
  return true;
}

async function fetchBranch(
  control: ControlGit,
  { folder, branch, signal }: CollectOrder,
  incoming: string,
): Promise<string> {
  const refspecs = [`+${branchRef(branch)}:${incoming}`];
  await fetchInto(control, { from: checkFolder(folder), refspecs, prunes: false, signal });
  const commit = await commitAt(control, incoming);
  if (commit === undefined) throw lost(folder, branch);
  await checkWhole(control, [commit]);
  return commit;
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
