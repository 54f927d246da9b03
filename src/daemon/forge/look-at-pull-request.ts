import type { Decision, TaskEvent } from "../../engine/decision.ts";
import { targetsFor } from "../../engine/move.ts";
import type { Task } from "../../engine/task.ts";
import { isTemporary } from "../../engine/words.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequestStatus } from "../../ports/forge.ts";
import type { Log } from "../../ports/log.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Project, Store, StoredTask } from "../../ports/store.ts";
import { remoteName } from "../remote-of.ts";
import type { Submit } from "../submit.ts";
import type { Turns } from "../turns.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { addFeedback } from "./add-feedback.ts";
import type { ProjectForge } from "./project-forge.ts";
import { renderFeedback } from "./render-feedback.ts";

export interface LookPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  workflowOf(task: Task): Promise<Workflow>;
  /** The task's document was changed. */
  changed(stored: StoredTask): void;
  /** Asks for a person's attention. Told again with the same key, it is the same note. */
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

/** Finds out what became of a task's pull request, and lets the task know. Nothing is told twice. */
export async function lookAtPullRequest(
  ports: LookPorts,
  project: Project,
  { forge, remote }: ProjectForge,
  stored: StoredTask,
  record: PullRequestRecord,
): Promise<void> {
  const { store, clock } = ports;
  const status = await forge.statusOf(record.number);
  const { pullRequest: found, review, checks } = status;
  const seen: PullRequestRecord = {
    ...record,
    ...{ state: found.state, headCommit: found.headCommit, base: found.base, isDraft: found.isDraft, review },
    ...{ mergedCommit: found.mergedCommit ?? "", checks: checks.state, seenAt: clock.now() },
  };
  if (seen.state === "open") {
    const { comments, position } = await forge.commentsSince(record.number, record.told.comments ?? "");
    const { reviews = "", checks = "" } = record.told;
    const { items, told } = renderFeedback(status, comments, { reviews, checks });
    if (items.length > 0 && (await addFeedback(ports, seen, items))) ports.changed(stored);
    await store.pullRequests.put({ ...seen, told: { ...record.told, ...told, comments: position } });
    return clearHold(ports, stored.task, status);
  }
  // First what follows from it: who is killed in between looks again.
  const isSettled = seen.state === "merged" ? await merged(ports, project, remote, stored.task, seen) : false;
  if (seen.state === "closed") await store.addEvents(stored.task.id, [noteOf("pr.closed", seen)], clock.now());
  await store.pullRequests.put(seen);
  if (!isSettled) await askPerson(ports, stored.task, seen);
}

/** Why it was closed only people know; and not every workflow lets the engine say that a task is done. */
async function askPerson({ log, tellPerson }: LookPorts, task: Task, record: PullRequestRecord): Promise<void> {
  const { number, url, state, task: id } = record;
  const what = state === "merged" ? "was merged. Is the task done?" : "was closed unmerged. What becomes of the task?";
  // It is in the task's history, whether or not somebody can be told.
  await tellPerson(task, `Pull request ${number} ${what} ${url}`, `${id}:pull-request:${number}:${state}`).catch(
    (error) => log.warn("The person could not be told", { task: id, error }),
  );
}

/** A task that is held because of the pull request is tried again once nothing is in the way any more. */
async function clearHold(
  { submit }: LookPorts,
  { id, held }: Task,
  { review, mergeable, checks }: PullRequestStatus,
): Promise<void> {
  if (held === undefined || !isTemporary(held.word)) return;
  const isFree = mergeable === "yes" && (checks.state === "passing" || checks.state === "none");
  if (review === "approved" && isFree) await submit(id, { kind: "continue", actor: { role: "engine" } });
}

/** Somebody has merged it: the task is done, where its workflow lets the engine say so. Gives whether that was so. */
async function merged(
  ports: LookPorts,
  project: Project,
  remote: string | undefined,
  task: Task,
  record: PullRequestRecord,
): Promise<boolean> {
  const { store, clock, log, workspacesOf, submit } = ports;
  if (remote !== undefined) {
    const { control } = await workspacesOf(project);
    await control
      .syncFrom({ from: remote, name: remoteName })
      .catch((error) => log.warn("The control repository could not be synced", { task: task.id, error }));
  }
  await store.addEvents(task.id, [noteOf("pr.merged", record)], clock.now());
  const actor = { role: "engine" };
  // What was held because it could not be merged can end now.
  if (task.held !== undefined && isTemporary(task.held.word)) {
    return isChange((await submit(task.id, { kind: "continue", actor })).decision);
  }
  const to = endOf(await ports.workflowOf(task), task);
  return to !== undefined && isChange((await submit(task.id, { kind: "move", to, actor })).decision);
}

function isChange({ kind }: Decision): boolean {
  return kind === "moved" || kind === "stayed";
}

/** The state in which the task has succeeded, if the engine may ask for one from here. */
function endOf(workflow: Workflow, { status }: Task): string | undefined {
  const state = workflow.states[status];
  const targets = state === undefined ? [] : targetsFor(state, "engine");
  return targets.find((name) => workflow.states[name]?.outcome === "done");
}

function noteOf(type: "pr.merged" | "pr.closed", { number, url, mergedCommit }: PullRequestRecord): TaskEvent {
  return { type, by: "engine", data: { number, url, commit: mergedCommit }, set: {} };
}
