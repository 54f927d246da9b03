import { Refusal } from "../api/client.ts";
import type { ProjectView } from "../api/routes.ts";
import type { ChangeView, EventView, PullRequestView, TaskView } from "../api/tasks.ts";
import { briefNeed, type Need } from "../engine/needs.ts";
import type { Part, Task } from "../engine/task.ts";
import type { State, Workflow } from "../engine/workflow.ts";
import type { PullRequestRecord, Seen } from "../ports/records.ts";
import type { Project, StoredEffect, StoredEvent, StoredTask } from "../ports/store.ts";
import type { Agents } from "./agents/agents.ts";
import type { CoveringAccount } from "./agents/budgets.ts";
import { lifeOf } from "./agents/run-signs.ts";
import { childProgress } from "./children/progress.ts";
import type { Core } from "./core.ts";
import type { Answer } from "./submit.ts";

/** The fields of a task that depend on nothing else. Lists show the same tasks again and again. */
function ownFields(stored: StoredTask) {
  const known = seenFields.get(stored);
  if (known !== undefined) return known;
  const { task, revision, createdAt, updatedAt } = stored;
  const { held } = task;
  const fields = {
    id: task.id,
    project: task.project,
    number: task.number,
    branch: task.branch,
    // Missing in tasks that older versions have stored.
    base: task.base ?? "",
    summary: task.summary,
    workflow: task.workflow,
    workflowHash: task.workflowHash,
    status: task.status,
    previousStatus: task.previousStatus,
    phase: task.phase,
    held: held === undefined ? null : { reason: held.reason, word: held.word, again: held.again },
    judged: task.judged ?? null,
    tested: task.tested ?? null,
    harness: task.harness,
    reviewHarness: task.reviewHarness,
    model: task.model,
    workspace: task.workspace,
    prUrl: task.prUrl,
    ticket: task.ticket ?? "",
    protectedChanges: [...(task.protectedChanges ?? [])],
    parent: task.parent,
    part: partView(task.part),
    dependsOn: task.dependsOn,
    handDown: task.handDown ?? [],
    labels: task.labels,
    priority: task.priority,
    autostart: task.autostart,
    counters: task.counters,
    crashCount: task.crashCount,
    runs: Object.entries(task.runs).map(([role, { key, mode }]) => ({ role, key, mode })),
    revision,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
  seenFields.set(stored, fields);
  return fields;
}

type OtherFields = keyof ReturnType<typeof presentFields> | keyof SeenView | "undone";
const seenFields = new WeakMap<StoredTask, Omit<TaskView, OtherFields>>();

/** The fields that depend on its workflow, its agents and its surroundings. */
function presentFields(
  { task }: StoredTask,
  workflow: Workflow | undefined,
  agents: Agents | undefined,
  needs: readonly Need[],
  children: TaskView["children"],
  budgets: TaskView["budgets"],
) {
  const state = workflow?.states[task.status];
  return {
    outcome: state?.outcome ?? null,
    needsPerson: needs.length > 0,
    needs: needs.map(needView),
    reason: state?.outcome === "failed" ? task.reason : "",
    session: sessionOf(state, task, agents),
    waiting: agents?.dispatch.whyWaiting(task.id) ?? "",
    paused: (state?.terminal === true ? undefined : agents?.pauses.why(task.project)) ?? "",
    children,
    budgets,
  };
}

function partView(part: Part | undefined): TaskView["part"] {
  if (part === undefined) return null;
  const { item, title, size, files, slot = null } = part;
  return { item, try: part.try, slot, title, files, size };
}

/** A task as it is now. `needs`: its needs, where the caller has just asked for them. */
export async function viewOf(
  core: Pick<Core, "store" | "workflows" | "agents" | "needs" | "scheduler" | "pools" | "clock">,
  stored: StoredTask,
  needs?: readonly Need[],
): Promise<TaskView> {
  // A task whose workflow no longer loads must not hide the others.
  const workflow = await core.workflows.get(stored.task.workflowHash).catch(() => undefined);
  const children = await childProgress(core, stored.task, workflow);
  const accounts = (await core.agents?.budgets.accountsOf(stored.task)) ?? [];
  const now = needs ?? (await core.needs.of(stored));
  return {
    ...ownFields(stored),
    ...presentFields(stored, workflow, core.agents, now, children, accounts.map(budgetView)),
    undone: await isUndone(core, stored.task, workflow),
    ...seenView(stored, await core.store.seen.get(stored.task.id), core.clock.now()),
  };
}

async function isUndone({ store }: Pick<Core, "store">, { id, status }: Task, workflow: Workflow | undefined) {
  return workflow?.states[status]?.outcome === "done" && (await store.merges.get(id))?.state === "undone";
}

type SeenView = Pick<TaskView, "unread" | "snoozedUntil">;

/** Whether the person has seen the task as it is, and whether it is snoozed. */
export function seenView({ revision }: StoredTask, seen: Seen | undefined, now: number): SeenView {
  const until = seen?.snoozedUntil ?? 0;
  return {
    unread: seen?.isUnread === true || (seen?.revision ?? 0) < revision,
    snoozedUntil: until > now ? isoTime(until) : null,
  };
}

export function budgetView({
  owner,
  kind,
  limit,
  spent,
  reserved,
  left,
  unknown,
}: CoveringAccount): TaskView["budgets"][number] {
  return { of: `${owner.project}#${owner.number}`, kind, limit, spent, reserved, left, unknown };
}

/** What a request did. Throws a refusal, which the API answers as an error. */
export async function changeView(
  core: Parameters<typeof viewOf>[0],
  { decision, stored, from }: Answer,
): Promise<ChangeView> {
  if (decision.kind === "rejected") throw new Refusal(decision.reasons);
  const task = await viewOf(core, stored);
  const { entry } = stored.task;
  if (decision.kind === "ignored") return { kind: "ignored", from, task, why: decision.why, entry, effects: [] };
  const effects = decision.effects.map(({ action }) => action);
  return { kind: decision.kind, from, task, why: "", entry, effects };
}

function needView(need: Need): TaskView["needs"][number] {
  const { reason, text, command, since } = need;
  return { reason, text, brief: briefNeed(need), command, since: isoTime(since) };
}

/** Whether the agent that the state waits for is alive. */
function sessionOf(state: State | undefined, task: Task, agents: Agents | undefined): TaskView["session"] {
  const lives = new Set(Object.values(task.runs).map(({ key }) => lifeOf(agents, task.id, key)));
  for (const life of ["alive", "unknown", "dead", "none"] as const) if (lives.has(life)) return life;
  if (state === undefined || state.terminal || task.runCount === 0) return "none";
  // In a dialogue each agent ends with its question, and the next one starts with the answer.
  if (task.wait.turn === "reply" || task.wait.turn === "confirm") return "none";
  const { wait } = state;
  // An open state is held because of a run if that run has ended.
  const hasLostOne = wait.kind === "open" && task.held?.again === "wait";
  // A run without a terminal has no session that could die: it ends with its answer, or the task is held for what it lacks.
  if (wait.kind === "agent" && wait.run.mode !== "session" && task.held !== undefined) return "none";
  const wantsRun =
    wait.kind === "agent" ||
    (wait.kind === "human" && wait.run !== undefined) ||
    state.respawn !== undefined ||
    hasLostOne;
  return wantsRun && task.phase !== "entering" && !hasEndedWell(task) ? "dead" : "none";
}

/** Whether the task is held for something else than the end of its agent: the answer, the evidence, or the work after it. */
function hasEndedWell({ held }: Task): boolean {
  return held?.again === "do" || ["ok", "missing", "invalid"].includes(held?.word ?? "");
}

export function projectView(stored: Project): ProjectView {
  const { obeyed: _, movedBranches: __, fullPermissions = "ask", ...project } = stored;
  return { ...project, fullPermissions, createdAt: isoTime(project.createdAt) };
}

export function eventView({ position, task, project, revision, event, at }: StoredEvent): EventView {
  return { position, task, project, revision, type: event.type, by: event.by, data: event.data, at: isoTime(at) };
}

export function effectView({ id, entry, effect, state, tries, dueAt, failure }: StoredEffect) {
  return { id, entry, action: effect.action, state, tries, dueAt: isoTime(dueAt), failure: failure?.reason ?? null };
}

export function pullRequestView(record: PullRequestRecord): PullRequestView {
  const { number, url, state, head, base, title, isDraft, review, checks, seenAt } = record;
  return { number, url, state, head, base, title, isDraft, review, checks, seenAt: isoTime(seenAt) };
}

export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
