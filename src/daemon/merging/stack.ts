import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Conflict, ControlRepository } from "../../ports/control-repository.ts";
import type { Person } from "../../ports/git.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { LandingPlace, Tips } from "../landing-place.ts";
import { eventsOf } from "../project.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { type Outcome, type Ready, refused } from "./merge-queue.ts";

export interface Stack {
  /** The commit that contains everything that could be merged. */
  readonly top: string;
  /** In the order of the stack, from its base. */
  readonly merged: readonly Merged[];
  readonly others: ReadonlyMap<Ready, Outcome>;
}

export interface Merged {
  readonly entry: Ready;
  readonly before: string;
  readonly after: string;
}

/**
 * Merges entries one after the other onto a commit, without moving a branch. An entry that conflicts with another of the
 * stack is retried alone: the other may not be merged after all.
 */
export async function stackUp(
  control: ControlRepository,
  base: string,
  entries: readonly Ready[],
  author: Person,
): Promise<Stack> {
  const answers = await control.mergeAll({
    onto: base,
    author,
    entries: entries.map(({ commit, strategy, message, at }) => ({ branch: commit, strategy, message, date: at })),
  });
  const merged: Merged[] = [];
  const others = new Map<Ready, Outcome>();
  let top = base;
  for (const [index, entry] of entries.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    if (answer.kind === "conflict" || answer.kind === "diverged") {
      others.set(entry, top === base ? obstacle(entry, answer) : { kind: "again" });
      continue;
    }
    const after = answer.kind === "up-to-date" ? top : answer.commit;
    merged.push({ entry, before: top, after });
    top = after;
  }
  return { top, merged, others };
}

/** Why an entry cannot be merged, for people. */
export function obstacle({ target }: Pick<Ready, "target">, answer: Conflict | { readonly kind: "diverged" }): Outcome {
  if (answer.kind === "diverged")
    return refused(
      `"${target}" has commits that the task's branch lacks, so it cannot be fast-forwarded. Merge them into the task's branch with signalbox task sync, or merge with --strategy merge.`,
    );
  const files = answer.files.map(({ path }) => path.text);
  return {
    kind: "conflict",
    files,
    reason: `The task's work conflicts with "${target}" in ${listed(files)}.\n${answer.text}`.trim(),
  };
}

const maxListed = 20;

function listed(files: readonly string[]): string {
  const shown = files.slice(0, maxListed).join(", ");
  return files.length > maxListed ? `${shown} and ${files.length - maxListed} more` : shown;
}

/**
 * A branch that has diverged from the remote's is the user's to reconcile, unless the remote's new commits are those that the
 * daemon pushed just before the user's branch moved. Then this makes a commit that merges both.
 */
export async function bringTogether(
  own: ProjectWorkspaces,
  target: string,
  { user, remote }: Tips,
  entries: readonly Ready[],
  author: Person,
): Promise<string | undefined> {
  const at = remote?.at ?? user;
  const base = await own.control.mergeBase(user, at);
  const [first] = entries;
  const isOurs = base !== undefined && first !== undefined && (await onlyOurs(own, base, at, entries));
  if (!isOurs) return undefined;
  const message = `Merge ${target} of the remote`;
  const order = { onto: user, branch: at, strategy: "merge", message, author, date: first.at } as const;
  const result = await own.control.merge(order);
  return result.kind === "merged" ? result.commit : undefined;
}

/** Whether the remote's only new commits are the work of these entries. */
async function onlyOurs(
  { control }: ProjectWorkspaces,
  base: string,
  at: string,
  entries: readonly Ready[],
): Promise<boolean> {
  const known = await Promise.all(entries.map(({ commit }) => control.isAncestor(commit, at)));
  if (!known.some((is) => is)) return false;
  let merges = 0;
  for (const { commit } of entries.filter((_, index) => known[index]))
    merges += (await control.countCommits(base, commit)) + 1;
  return (await control.countCommits(base, at)) <= merges;
}

/** A branch's commit before and after a merge. */
export interface Landed {
  readonly before: string;
  readonly after: string;
}

/**
 * The merges of a task into a branch since the last undo, oldest first, from the task's history. If the last merge was undone
 * and the task was not merged again: the merges that were undone then.
 */
export async function landingsOf(store: Store, { task, target, state, before, after }: Merge): Promise<Landed[]> {
  let [landings, undone]: [Landed[], Landed[]] = [[], []];
  for await (const { event } of eventsOf(store, task)) {
    const { data } = event;
    if (data.target !== target) continue;
    if (event.type === "merge.undone") [landings, undone] = [[], landings];
    // A forge reports only the commit that it has made.
    if (event.type === "merge.landed" && data.before !== "" && data.before !== data.after)
      landings.push({ before: String(data.before), after: String(data.after) });
  }
  const found = state === "undone" ? undone : landings;
  const isOwn = (state === "merged" || state === "undone") && after !== "" && before !== after;
  return isOwn && !found.some((each) => each.after === after) ? [...found, { before, after }] : found;
}

/** A branch contains a task's commits, but their changes were reverted: present at `before`, absent at `after`. */
type TakenBack = Landed;

/**
 * The work of a task that was reverted in a branch that contains its commit, by `--undo` or by a person with git, oldest
 * first. Git would not merge these commits again, because the branch contains them.
 */
export async function takenBack(
  { control, store }: { readonly control: ControlRepository; readonly store: Store },
  merge: Merge | undefined,
  commit: string,
  tip: string,
  how: NewCommit,
): Promise<readonly TakenBack[]> {
  if (merge?.undo !== undefined && (await control.isAncestor(merge.undo.after, tip))) return [merge.undo];
  const lost: TakenBack[] = [];
  for (const change of await changesOf(control, merge && (await landingsOf(store, merge)), commit, tip)) {
    // A person can revert in many ways. After each of them, reverting the work once more changes nothing.
    const isLost =
      merge?.state === "undone" || (await control.revertMerge({ ...how, onto: tip, ...change })).kind === "up-to-date";
    if (isLost) lost.push({ before: change.after, after: change.before });
  }
  return lost;
}

interface NewCommit {
  readonly message: string;
  readonly author: Person;
  readonly date: number;
}

/** The branch's commits before and after each merge of the work. */
async function changesOf(
  control: ControlRepository,
  landings: readonly Landed[] = [],
  commit: string,
  tip: string,
): Promise<readonly Landed[]> {
  const last = landings.at(-1);
  if (last !== undefined && (await control.isAncestor(last.after, tip))) return landings;
  const merge = await control.mergeOf(commit, tip);
  const begin = merge && (await control.mergeBase(merge.before, commit));
  return begin === undefined ? [] : [{ before: begin, after: commit }];
}

/**
 * Makes commits that restore the work, on top of `tip`. If later commits conflict, they begin at the revert instead, so that
 * the conflict appears when the work is merged. Undefined if the branch has the work again.
 */
export async function restoreWork(
  control: ControlRepository,
  lost: readonly TakenBack[],
  tip: string,
  how: NewCommit,
): Promise<string | undefined> {
  const onTop = await revertAll(control, lost, tip, how);
  if (onTop.kind === "reverted") return onTop.commit === tip ? undefined : onTop.commit;
  const [first] = lost;
  const before = first && (await revertAll(control, lost, first.after, how));
  if (before?.kind === "reverted") return before.commit;
  const { change } = onTop;
  throw new Fault("git.failed", `The changes from ${change.after} to ${change.before} could not be restored.`, {
    hint: `See them: git diff ${change.after} ${change.before}`,
  });
}

/** The commit without the changes, `onto` itself if it has none of them; or the first change that conflicts. */
type Reverted =
  | { readonly kind: "reverted"; readonly commit: string }
  | { readonly kind: "conflict"; readonly change: Landed; readonly files: Conflict["files"] };

/** Reverts changes on top of a commit, one after the other. */
export async function revertAll(
  control: ControlRepository,
  changes: readonly Landed[],
  onto: string,
  how: NewCommit,
): Promise<Reverted> {
  let commit = onto;
  for (const change of changes) {
    const result = await control.revertMerge({ ...how, onto: commit, ...change });
    if (result.kind === "conflict") return { kind: "conflict", change, files: result.files };
    if (result.kind === "reverted") commit = result.commit;
  }
  return { kind: "reverted", commit };
}

/** A task's work to be merged, or its conflict with its own reverted work. */
type Whole = { readonly kind: "whole"; readonly commit: string } | Conflict;

/**
 * The work of an open task together with its reverted work. The task's own `commit` if nothing was reverted, or if its
 * branch contains the revert.
 */
export async function wholeWork(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  merge: Pick<Merge, "undo"> | undefined,
  place: LandingPlace,
  commit: string,
  date: number,
): Promise<Whole> {
  const { control } = own;
  const mine = { kind: "whole", commit } as const;
  if (merge?.undo === undefined || (await control.isAncestor(merge.undo.after, commit))) return mine;
  const { base } = await place.find();
  if (!(await control.isAncestor(merge.undo.after, base))) return mine;
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(task, place.branch), author, date };
  const onto = await restoreWork(control, [merge.undo], base, how);
  if (onto === undefined) return mine;
  const message = `Merge ${task.branch} with its reverted work\n`;
  const merged = await control.merge({ ...how, message, onto, branch: commit, strategy: "merge" });
  if (merged.kind === "conflict") return merged;
  return { kind: "whole", commit: merged.kind === "up-to-date" ? onto : merged.commit };
}

/** The message of the commit that restores a task's work. */
export function restoreMessage(
  { branch, project, number, id }: Pick<Task, "branch" | "project" | "number" | "id">,
  target: string,
): string {
  return `Restore the work of ${branch}\n\nIt was merged into ${target}, and then reverted there.\nTask: ${project}#${number} (${id})\n`;
}
