import { Refusal } from "../api/client.ts";
import type { ProjectView } from "../api/routes.ts";
import type { ChangeView, EventView, PullRequestView, TaskView } from "../api/tasks.ts";
import { briefNeed, type Need } from "../engine/needs.ts";
import type { Part, Task } from "../engine/task.ts";
import type { State, Workflow } from "../engine/workflow.ts";
import type { PullRequestRecord } from "../ports/records.ts";
import type { Project, StoredEffect, StoredEvent, StoredTask } from "../ports/store.ts";
import type { Agents } from "./agents/agents.ts";
import type { CoveringAccount } from "./agents/budgets.ts";
import { lifeOf } from "./agents/run-signs.ts";
import { childProgress } from "./children/progress.ts";
import type { Core } from "./core.ts";
import type { Answer } from "./submit.ts";

/** A task as the API shows it. */
function taskView(
  { task, revision, createdAt, updatedAt }: StoredTask,
  workflow: Workflow | undefined,
  agents: Agents | undefined,
  needs: readonly Need[],
  children: TaskView["children"],
  budgets: TaskView["budgets"],
): TaskView {
  const state = workflow?.states[task.status];
  const { held } = task;
  return {
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
    outcome: state?.outcome ?? null,
    needsPerson: needs.length > 0,
    needs: needs.map(needView),
    held: held === undefined ? null : { reason: held.reason, word: held.word, again: held.again },
    reason: state?.outcome === "failed" ? task.reason : "",
    judged: task.judged ?? null,
    tested: task.tested ?? null,
    session: sessionOf(state, task, agents),
    waiting: agents?.dispatch.whyWaiting(task.id) ?? "",
    paused: (state?.terminal === true ? undefined : agents?.pauses.why(task.project)) ?? "",
    harness: task.harness,
    reviewHarness: task.reviewHarness,
    model: task.model,
    workspace: task.workspace,
    prUrl: task.prUrl,
    ticket: task.ticket ?? "",
    protectedChanges: [...(task.protectedChanges ?? [])],
    parent: task.parent,
    part: partView(task.part),
    children,
    dependsOn: task.dependsOn,
    handDown: task.handDown ?? [],
    budgets,
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
}

function partView(part: Part | undefined): TaskView["part"] {
  if (part === undefined) return null;
  const { item, title, size, files, slot = null } = part;
  return { item, try: part.try, slot, title, files, size };
}

/** A task as it is now. */
export async function viewOf(
  core: Pick<Core, "store" | "workflows" | "agents" | "needs" | "scheduler" | "pools">,
  stored: StoredTask,
): Promise<TaskView> {
  // A task whose workflow no longer loads must not hide the others.
  const workflow = await core.workflows.get(stored.task.workflowHash).catch(() => undefined);
  const children = await childProgress(core, stored.task, workflow);
  const accounts = (await core.agents?.budgets.accountsOf(stored.task)) ?? [];
  return taskView(stored, workflow, core.agents, await core.needs.of(stored), children, accounts.map(budgetView));
}

function budgetView({
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
