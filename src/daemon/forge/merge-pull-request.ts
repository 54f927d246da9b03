import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Config } from "../../home/config-fields.ts";
import type { Turns } from "../../keyed.ts";
import type { PullRequest, PullRequestStatus } from "../../ports/forge.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { remoteName, targetOf } from "../project.ts";
import { leftOut, type MergedPull } from "./left-out.ts";
import { type ProjectForge, type PushPorts, pushedRef } from "./push-task.ts";

export interface MergePorts extends PushPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  workflowOf(task: Task): Promise<Workflow>;
  mergeMethod(): Config["forgeMerge"];
  /** Calls a person. Repeated with the same key, it is the same note. */
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

type PullRequestMerge =
  /** The task has no pull request on a forge. */
  | { readonly kind: "none" }
  | { readonly kind: "merged"; readonly commit: string }
  /** It is merged, perhaps by somebody else, and not all of the task's work is in the target. */
  | { readonly kind: "left-out"; readonly reason: string; readonly fix: string }
  | {
      readonly kind: "refused";
      readonly word: "unapproved" | "unmergeable";
      /** A sentence. */
      readonly reason: string;
      /** The forge does not know yet; it may know soon. */
      readonly isUndecided: boolean;
    };

export interface MergeWish {
  /** It must be at this commit. */
  readonly only?: string | undefined;
  /**
   * A person wants it merged, which counts as the approval where the forge demands none, because nobody can approve their own
   * pull request.
   */
  readonly isPersonsWord?: boolean;
  /** Called right before the forge is asked to merge: throws where the task must not be merged as it is now. Returns its commit. */
  check(): Promise<string | undefined>;
}

/**
 * Merges the task's pull request on the forge if it is approved and nothing prevents it. Whoever has merged it: it counts as
 * merged only if the target has the task's work.
 */
export function mergePullRequest(
  ports: MergePorts,
  project: Project,
  task: Task,
  wish: MergeWish,
): Promise<PullRequestMerge> {
  return ports.inTurn(`forge ${task.id}`, async () => {
    const place = await ports.forgeOf(project);
    if (place.kind === "none") return { kind: "none" };
    const found = await findOwn(ports, place, task);
    if (found === undefined) return { kind: "none" };
    if (found.state === "closed") return refused("unmergeable", `Pull request ${found.number} is closed.`);
    if (found.state === "merged") return settle(ports, place, project, task, found);
    const merged = await mergeOpen(ports, place, project, task, found.number, wish);
    return "kind" in merged ? merged : settle(ports, place, project, task, merged);
  });
}

async function findOwn({ store }: MergePorts, { forge }: ProjectForge, task: Task): Promise<PullRequest | undefined> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined && record.url !== "") return forge.getPullRequest(record.number);
  return forge.findPullRequest(task.branch);
}

async function mergeOpen(
  ports: MergePorts,
  { forge }: ProjectForge,
  project: Project,
  task: Task,
  number: number,
  { only, isPersonsWord = false, check }: MergeWish,
): Promise<PullRequestMerge | MergedPull> {
  const status = await forge.statusOf(number);
  const obstacle = wrongBase(project, task, status.pullRequest) ?? obstacleIn(status, isPersonsWord);
  if (obstacle !== undefined) return obstacle;
  const { control } = await ports.workspacesOf(project);
  const commit = await check();
  // Commits that others have pushed since were not reviewed here.
  const expectedHead = (await control.commitAt(pushedRef(task.id))) ?? status.pullRequest.headCommit;
  const push = `Push it: signalbox task create-pr ${task.id}`;
  if (only !== undefined && only !== expectedHead)
    return refused(
      "unmergeable",
      `Pull request ${number} is at ${short(expectedHead)}, not at ${short(only)}, which was approved. ${push}`,
    );
  if (commit !== undefined && commit !== expectedHead)
    return refused(
      "unmergeable",
      `Pull request ${number} is at ${short(expectedHead)}, and the task's work at ${short(commit)}. ${push}`,
    );
  await noteAsked(ports, task, true);
  const result = await forge.merge(number, { method: ports.mergeMethod(), expectedHead });
  if (result.kind !== "merged") {
    await noteAsked(ports, task, false);
    return refused(result.kind === "unapproved" ? "unapproved" : "unmergeable", result.reason);
  }
  // A person may have changed its base in the last moment.
  const { base } = await forge.getPullRequest(number);
  return { number, base, headCommit: expectedHead, mergedCommit: result.commit };
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** A person may have changed on the forge into which branch it goes. */
function wrongBase(project: Project, task: Task, { number, base }: PullRequest): PullRequestMerge | undefined {
  const target = targetOf(project, task);
  if (base === target) return undefined;
  return refused(
    "unmergeable",
    `Pull request ${number} goes into "${base}", and the task's work into "${target}". Change its base on the forge.`,
  );
}

/** An absence of objections is no approval. */
function obstacleIn(
  { pullRequest: { number }, review, mergeable }: PullRequestStatus,
  isPersonsWord: boolean,
): PullRequestMerge | undefined {
  if (review === "changes-requested") return refused("unapproved", `Changes are asked for in pull request ${number}.`);
  if (review !== "approved" && !(review === "none" && isPersonsWord))
    return refused("unapproved", `Pull request ${number} is not approved.`);
  if (mergeable === "no") return refused("unmergeable", `Pull request ${number} has conflicts.`);
  if (mergeable === "yes") return undefined;
  return refused("unmergeable", `The forge does not know yet whether pull request ${number} can be merged.`, true);
}

function refused(word: "unapproved" | "unmergeable", reason: string, isUndecided = false): PullRequestMerge {
  return { kind: "refused", word, reason, isUndecided };
}

/** The mark of a record whose merge the forge was asked for, and has not answered yet. It may come through after a brake. */
const askedMark = "merge";

/** Whether the forge was asked to merge it, and the answer is not known. */
export function isAskedFor({ told }: PullRequestRecord): boolean {
  return told[askedMark] !== undefined;
}

export function withoutAsked(told: PullRequestRecord["told"]): PullRequestRecord["told"] {
  const { [askedMark]: _, ...rest } = told;
  return rest;
}

async function noteAsked({ store }: MergePorts, { id, entry }: Task, isAsked: boolean): Promise<void> {
  const record = await store.pullRequests.get(id);
  if (record === undefined) return;
  const told = withoutAsked(record.told);
  await store.pullRequests.put({ ...record, told: isAsked ? { ...told, [askedMark]: String(entry) } : told });
}

/** Records what the forge has merged, and compares it with the task's work. */
async function settle(
  ports: MergePorts,
  { remote }: ProjectForge,
  project: Project,
  task: Task,
  pull: MergedPull,
): Promise<PullRequestMerge> {
  await noteLate(ports, task, pull);
  await noteMerge(ports, remote, project, task, pull);
  const now = (await ports.store.getTask(task.id))?.task ?? task;
  const rest = await leftOut(ports, remote, project, now, pull);
  if (rest !== undefined) return { kind: "left-out", ...rest };
  return { kind: "merged", commit: pull.mergedCommit ?? "" };
}

/** A merge that came through although the task has left the stay that asked for it: the history has it, and a person is told. */
async function noteLate(
  { store, clock, log, workflowOf, tellPerson }: MergePorts,
  { id, entry, status }: Task,
  { number, base, mergedCommit = "" }: MergedPull,
): Promise<void> {
  const now = (await store.getTask(id))?.task;
  const record = await store.pullRequests.get(id);
  if (now === undefined || now.entry === entry || record === undefined || record.state === "merged") return;
  await store.addEvents(id, [pullEvent("pr.merged", { ...record, mergedCommit })], clock.now());
  const isOver = (await workflowOf(now)).states[now.status]?.terminal === true;
  const text = `Pull request ${number} was merged into "${base}" although the task had left ${status}: the forge had been asked before. ${lateAdvice(now, isOver)} ${record.url}`;
  await tellPerson(now, text, mergedKey(record)).catch((error) =>
    log.warn("The person could not be notified", { task: id, error }),
  );
}

/** What a person can do about a merge that was not wanted any more. */
export function lateAdvice({ status }: Pick<Task, "status">, isOver: boolean): string {
  return isOver
    ? `The task is in ${status}, which is the end. If the merge is not wanted, revert it on the forge.`
    : `The task is in ${status}. What it does now needs a new pull request.`;
}

/** The key of the note about a merge, so that it is sent once. */
export function mergedKey({ task, number, state }: Pick<PullRequestRecord, "task" | "number" | "state">): string {
  return `${task}:pull-request:${number}:${state === "closed" ? state : "merged"}`;
}

export function pullEvent(
  type: "pr.merged" | "pr.closed",
  { number, url, mergedCommit }: Pick<PullRequestRecord, "number" | "url" | "mergedCommit">,
): TaskEvent {
  return { type, by: "engine", data: { number, url, commit: mergedCommit }, set: {} };
}

/** Records the merge. A failure here does not matter: the next check of the forge reports the same. */
async function noteMerge(
  { store, clock, log, workspacesOf }: MergePorts,
  remote: string | undefined,
  project: Project,
  task: Task,
  { base, headCommit, mergedCommit = "" }: MergedPull,
): Promise<void> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined) {
    const seen = { state: "merged", base, headCommit, mergedCommit, seenAt: clock.now() } as const;
    await store.pullRequests.put({ ...record, ...seen, told: withoutAsked(record.told) });
  }
  if (remote === undefined) return;
  const { control } = await workspacesOf(project);
  await control
    .syncFrom({ from: remote, name: remoteName })
    .catch((error) => log.warn("The control repository could not be synced", { task: task.id, error }));
}
