import type { Reason } from "../engine/decision.ts";
import { notReviewed, unreviewedAdvice } from "../engine/held-advice.ts";
import { whyFixed } from "../engine/plan-edit.ts";
import type { Judged, Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Caller } from "./callers.ts";
import type { Core } from "./core.ts";
import { type LandingPlace, placeOf } from "./landing-place.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";

// Compares the work that is to be merged with the work that was reviewed, and with what the person has seen.

/** Work that has moved since it was judged. */
export interface Unreviewed {
  readonly judged: Judged;
  readonly commit: string;
  /** How many commits were not there when it was judged. */
  readonly commits: number;
  /** How many of them belong to other branches, and came in by a merge without changing a file; missing if none. */
  readonly swallowed?: number;
}

/**
 * The part of a task's work that nobody has judged. Undefined where the workflow has no judge, and where merging the
 * judged commit would give the same files: rebasing the branch, or merging the target into it, adds no work. Merging
 * another branch does, even if that merge discards its changes: git would consider its commits merged. `remote` is the
 * target's commit on the remote, where the merge is made there.
 */
export async function unreviewedWork(
  own: ProjectWorkspaces,
  place: LandingPlace,
  task: Task,
  commit: string,
  remote?: string,
): Promise<Unreviewed | undefined> {
  const { judged } = task;
  if (judged === undefined || judged.commit === commit) return undefined;
  // Compared with an outdated target, merging its new commits would look like new work, and undoing them like no work.
  const target = remote ?? (await place.start());
  const isSame = target !== undefined && (await givesSame(own, target, judged.commit, commit));
  const swallowed = isSame ? await broughtIn(own, target, judged.commit, commit) : 0;
  if (isSame && swallowed === 0) return undefined;
  const commits = await own.control.countCommits(judged.commit, commit).catch(orNone);
  return { judged, commit, commits, ...(swallowed === 0 ? {} : { swallowed }) };
}

/**
 * How many commits of other branches were merged into the work since it was judged. Such a commit does not descend from
 * the judged one; if the work was rebased since, it is not in the first-parent history.
 */
async function broughtIn({ control }: ProjectWorkspaces, onto: string, judged: string, now: string): Promise<number> {
  const added = await control.listCommits(now, [onto, judged]);
  if (![...added.values()].some((parents) => parents.length > 1)) return 0;
  const isOwn = new Set<string>();
  if (await control.isAncestor(judged, now)) {
    for (let before = -1; before < isOwn.size; ) {
      before = isOwn.size;
      for (const [id, parents] of added) if (parents.some((each) => each === judged || isOwn.has(each))) isOwn.add(id);
    }
  } else for (let next = now; added.has(next); next = added.get(next)?.[0] ?? "") isOwn.add(next);
  return added.size - isOwn.size;
}

async function givesSame({ control }: ProjectWorkspaces, onto: string, judged: string, now: string): Promise<boolean> {
  const nobody = { name: "Signalbox", email: "signalbox@localhost" };
  const entry = { strategy: "merge", message: "", date: 0 } as const;
  const trees = await Promise.all(
    [judged, now].map(async (branch) => {
      const [result] = await control
        .mergeAll({ onto, author: nobody, entries: [{ ...entry, branch }] })
        .catch(orNothing);
      if (result?.kind === "merged") return result.tree;
      return result?.kind === "up-to-date" ? "none" : undefined;
    }),
  );
  return trees[0] !== undefined && trees[0] === trees[1];
}

/** A judged commit that git no longer has cannot be compared. */
function orNone(error: unknown): number {
  if (error instanceof Fault && error.retry !== "later") return 0;
  throw error;
}

function orNothing(error: unknown): readonly [] {
  orNone(error);
  return [];
}

/** Says what nobody has judged, and what a person can do about it. */
export function unreviewedTrouble(
  workflow: Workflow,
  task: Task,
  { judged, commit, commits, swallowed = 0 }: Unreviewed,
): { readonly reason: string; readonly fix: string } {
  const whose = judged.role === "human" ? "You approved" : `The verdict of ${judged.role} is for`;
  const many = commits === 0 ? "" : commits === 1 ? ", with 1 commit more" : `, with ${commits} commits more`;
  const left =
    swallowed === 0
      ? ""
      : ` A merge has brought in ${swallowed === 1 ? "1 commit" : `${swallowed} commits`} of another branch without a change of a file: once merged, git considers that work merged.`;
  return {
    reason: `${whose} ${short(judged.commit)}, but the branch is at ${short(commit)}${many}. ${notReviewed}${left}`,
    fix: unreviewedAdvice(workflow, task).join("\n"),
  };
}

/**
 * Why a person's approval must not merge the work: a part of it is unreviewed, and they were not shown the current
 * commit.
 */
export async function unseenWork(
  core: Core,
  task: Task,
  head: string,
  verb: "approve" | "continue",
): Promise<Reason | undefined> {
  if (task.judged === undefined || core.repositories === undefined) return undefined;
  if ((await seenCommit(core, task)) === head) return undefined;
  const project = await core.store.getProject(task.project);
  if (project === undefined) return undefined;
  const own = await core.repositories.workspacesOf(project);
  const place = await placeOf({ store: core.store, where: core.repositories.where() }, own, project, task);
  const unreviewed = await unreviewedWork(own, place, task, head);
  if (unreviewed === undefined) return undefined;
  const workflow = await core.workflows.get(task.workflowHash);
  const fix = [
    `See the difference: signalbox task diff ${task.id} --since-review`,
    `Then: signalbox task ${verb} ${task.id}`,
    `To let it be merged unseen: signalbox task ${verb} ${task.id} ${verb === "approve" ? "--unreviewed" : "--yes"}`,
  ].join("\n");
  return { code: "unreviewed", text: unreviewedTrouble(workflow, task, unreviewed).reason, fix };
}

/** Notes that the person was shown a commit. A page may mark the task as seen at the same time, in the same record. */
export async function noteSeen(
  { store, clock, inTurn }: Pick<Core, "store" | "clock" | "inTurn">,
  caller: Caller,
  { id, project }: Task,
  commit: string,
): Promise<void> {
  if (caller.kind !== "human" || commit === "") return;
  await inTurn(seenOf(id), async () => {
    const before = await store.seen.get(id);
    if (before?.commit === commit) return;
    await store.seen.put({ ...before, id, project, task: id, at: clock.now(), commit });
  });
}

/** The mutex key of what a person has seen of a task. */
export function seenOf(task: string): string {
  return `seen ${task}`;
}

/** Notes that the person was shown a plan. */
export async function noteSeenPlan(
  { store, clock, inTurn }: Pick<Core, "store" | "clock" | "inTurn">,
  caller: Caller,
  { id, project }: Task,
  plan: string,
): Promise<void> {
  if (caller.kind !== "human" || plan === "") return;
  await inTurn(seenOf(id), async () => {
    const before = await store.seen.get(id);
    if (before?.plan === plan) return;
    await store.seen.put({ commit: "", ...before, id, project, task: id, at: clock.now(), plan });
  });
}

/**
 * The fingerprint of the plan that a person's request is about: the one that the request names, or else the one that the
 * person was last shown. Undefined where the plan does not wait for a person, or where the person was shown none.
 */
export async function seenPlan(
  { store, workflows }: Pick<Core, "store" | "workflows">,
  task: Task,
  named: string | undefined,
): Promise<string | undefined> {
  if (named !== undefined) return named;
  const isOpen = whyFixed(await workflows.get(task.workflowHash), task) === undefined;
  return isOpen ? (await store.seen.get(task.id))?.plan : undefined;
}

/** The commit that the person was last shown; undefined where the person was shown none. */
export async function seenCommit({ store }: Pick<Core, "store">, { id }: Task): Promise<string | undefined> {
  return (await store.seen.get(id))?.commit || undefined;
}

/** The commit that the person has marked as seen, or else was shown; undefined where there is neither. */
export async function lastSeenCommit({ store }: Pick<Core, "store">, { id }: Task): Promise<string | undefined> {
  const seen = await store.seen.get(id);
  return seen?.reviewed || seen?.commit || undefined;
}

/**
 * When a person merges unreviewed work, it counts as judged by them. They must have been shown the current commit.
 */
export async function judgeUnreviewed(core: Core, task: Task, commit: string): Promise<void> {
  if (task.judged === undefined || task.judged.commit === commit) return;
  if ((await seenCommit(core, task)) !== commit)
    throw new Fault("merge.unseen", `The branch is at ${short(commit)}, which you were not shown.`, {
      hint: [
        `See what was not reviewed: signalbox task diff ${task.id} --since-review`,
        `If that is too long to be shown whole, see it with git, then list its files: signalbox task diff ${task.id} --since-review --stat`,
      ].join("\n"),
    });
  const judged: Judged = { commit, role: "human" };
  await core.submit(task.id, { kind: "edit", actor: { role: "human" }, set: { judged } });
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
