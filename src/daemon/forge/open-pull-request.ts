import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequest } from "../../ports/forge.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { Submit } from "../submit.ts";
import type { Turns } from "../turns.ts";
import { newRecord } from "./asked-pull-requests.ts";
import { type PushPorts, pushWork, type TaskWork, workOf } from "./push-task.ts";
import { renderPullRequestBody } from "./render-pull-request-body.ts";

export interface OpenPorts extends PushPorts {
  readonly clock: Clock;
  readonly submit: Submit;
  readonly inTurn: Turns;
  /** There is a pull request to be looked at. */
  opened(): void;
}

export interface WantedText {
  /** Empty: the task's summary. */
  readonly title?: string | undefined;
  /** Empty: the task's summary. What is known about the task follows in any case. */
  readonly body?: string | undefined;
  readonly isDraft?: boolean | undefined;
}

/**
 * Opens the task's pull request, or brings the one that it has up to date: its branch is pushed, and the task knows the
 * address. The same one, however often it is asked.
 */
export function openPullRequest(
  ports: OpenPorts,
  project: Project,
  task: Task,
  wanted: WantedText,
): Promise<PullRequestRecord> {
  return ports.inTurn(`forge ${task.id}`, async () => {
    const before = await ports.store.pullRequests.get(task.id);
    const work = await workOf(ports, project, task);
    const record = await open(ports, project, task, work, wanted);
    await ports.store.pullRequests.put(record);
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { prUrl: record.url } });
    if (!isSame(before, record)) await ports.store.addEvents(task.id, [opening(record)], ports.clock.now());
    ports.opened();
    return record;
  });
}

async function open(
  ports: OpenPorts,
  project: Project,
  task: Task,
  work: TaskWork,
  { title = "", body = "", isDraft = false }: WantedText,
): Promise<PullRequestRecord> {
  const { store, clock } = ports;
  const { forge } = await ports.forgeOf(project);
  const there = await forge.findPullRequest(work.branch);
  const isMerged = there?.state === "merged" && there.headCommit === work.commit;
  const text = {
    title: title.trim() || task.summary.trim() || `${task.project}#${task.number}`,
    body: renderPullRequestBody({
      task,
      text: body,
      artifacts: await store.listArtifacts(task.id),
      effects: await store.listEffects(task.id),
      usage: await store.usage.list({ task: task.id }),
    }),
  };
  // A branch that was merged and deleted must not come back because somebody asks again.
  if (!isMerged) await pushWork(ports, project, task, work);
  const found =
    there !== undefined && isMerged
      ? there
      : await forge.openPullRequest({ head: work.branch, base: targetOf(project, task), draft: isDraft, ...text });
  return recordOf(await store.pullRequests.get(task.id), task, found, work.commit, text, clock.now());
}

function recordOf(
  before: PullRequestRecord | undefined,
  { id, project }: Task,
  found: PullRequest,
  commit: string,
  text: { readonly title: string; readonly body: string },
  at: number,
): PullRequestRecord {
  const { number, url, state, head, base, isDraft, mergedCommit = "" } = found;
  const known = before !== undefined && before.number === number && before.url === url ? before : undefined;
  return {
    ...(known ?? { ...newRecord, ...text, id, project, task: id, at }),
    ...{ number, url, state, head, headCommit: commit, base, isDraft, mergedCommit, seenAt: at },
  };
}

function isSame(before: PullRequestRecord | undefined, after: PullRequestRecord): boolean {
  return before !== undefined && before.number === after.number && before.url === after.url;
}

function opening({ number, url, head, base }: PullRequestRecord): TaskEvent {
  return { type: "pr.opened", by: "engine", data: { number, url, head, base }, set: {} };
}
