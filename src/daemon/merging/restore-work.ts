import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Conflict, ControlRepository } from "../../ports/control-repository.ts";
import type { Person } from "../../ports/git-names.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { findTips, type Where } from "./find-tips.ts";

/** A branch contains a task's commits, but not their changes any more: it had them at `before`, and at `after` it had not. */
export interface TakenBack {
  readonly before: string;
  readonly after: string;
}

/**
 * Whether the work of a task was taken back in a branch that contains its commit: by us, or by a person with git. Git would
 * never merge such commits again, since the branch has them already.
 */
export async function takenBack(
  control: ControlRepository,
  merge: Merge | undefined,
  commit: string,
  tip: string,
  how: NewCommit,
): Promise<TakenBack | undefined> {
  if (merge?.undo !== undefined && (await control.isAncestor(merge.undo.after, tip))) return merge.undo;
  const change = await changeOf(control, merge, commit, tip);
  if (change === undefined) return undefined;
  const lost = { before: change.after, after: change.before };
  if (merge?.state === "undone") return lost;
  // A person can revert in many ways. All of them leave a branch in which there is nothing of the work to take back.
  const rest = await control.revertMerge({ ...how, onto: tip, ...change });
  return rest.kind === "up-to-date" ? lost : undefined;
}

interface NewCommit {
  readonly message: string;
  readonly author: Person;
  readonly date: number;
}

/** Where the branch was before and after the work came in. */
async function changeOf(
  control: ControlRepository,
  merge: Merge | undefined,
  commit: string,
  tip: string,
): Promise<TakenBack | undefined> {
  const isOurs = merge !== undefined && merge.after !== "" && merge.before !== merge.after;
  if (isOurs && (await control.isAncestor(merge.after, tip))) return { before: merge.before, after: merge.after };
  const before = await control.beforeMergeOf(commit, tip);
  const begin = before === undefined ? undefined : await control.mergeBase(before, commit);
  return begin === undefined ? undefined : { before: begin, after: commit };
}

/**
 * Makes a commit that brings the work back, on top of `tip`. Where later commits changed the same places it begins where
 * the work was taken back, so that the conflict shows up when it is merged. Undefined where the branch has the work again.
 */
export async function restoreWork(
  control: ControlRepository,
  lost: TakenBack,
  tip: string,
  how: NewCommit,
): Promise<string | undefined> {
  const onTop = await control.revertMerge({ ...how, onto: tip, ...lost });
  if (onTop.kind === "reverted") return onTop.commit;
  if (onTop.kind === "up-to-date") return undefined;
  const before = await control.revertMerge({ ...how, onto: lost.after, ...lost });
  if (before.kind === "reverted") return before.commit;
  throw new Fault("git.failed", `The changes from ${lost.after} to ${lost.before} could not be made again.`, {
    hint: `Look at them: git diff ${lost.after} ${lost.before}`,
  });
}

/** A task's work as it has to be merged, or where it conflicts with itself as it was before it was taken back. */
export type Whole = { readonly kind: "whole"; readonly commit: string } | Conflict;

/**
 * The work of a task that is still open, with what was taken back of it. `commit` is its own where nothing was, or where the
 * task has seen that it was.
 */
export async function wholeWork(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  merge: Pick<Merge, "undo" | "target"> | undefined,
  commit: string,
  where: Where,
  date: number,
): Promise<Whole> {
  const { control } = own;
  const mine = { kind: "whole", commit } as const;
  if (merge?.undo === undefined || (await control.isAncestor(merge.undo.after, commit))) return mine;
  const { base } = await findTips(own, project, merge.target, where);
  if (!(await control.isAncestor(merge.undo.after, base))) return mine;
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(task, merge.target), author, date };
  const onto = await restoreWork(control, merge.undo, base, how);
  if (onto === undefined) return mine;
  const message = `Merge ${task.branch} with its work that was taken back\n`;
  const merged = await control.merge({ ...how, message, onto, branch: commit, strategy: "merge" });
  if (merged.kind === "conflict") return merged;
  return { kind: "whole", commit: merged.kind === "up-to-date" ? onto : merged.commit };
}

/** The message of the commit that brings a task's work back. */
export function restoreMessage(
  { branch, project, number, id }: Pick<Task, "branch" | "project" | "number" | "id">,
  target: string,
): string {
  return `Bring back the work of ${branch}\n\nIt was merged into ${target}, and then taken back there.\nTask: ${project}#${number} (${id})\n`;
}
