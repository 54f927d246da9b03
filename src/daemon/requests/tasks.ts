import type { Routes } from "../../api/routes.ts";
import type { AgentOrder } from "../../engine/decision.ts";
import { settingsOf } from "../../engine/when.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { StoredEffect, StoredTask } from "../../ports/store.ts";
import { sentence, shownTime } from "../../text.ts";
import type { Agents } from "../agents/agents.ts";
import { isWanted, runRecordId } from "../agents/run-order.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { makeTask } from "../make-task.ts";
import { unsettledFindings } from "../merge-outlook.ts";
import { continuedBy } from "../project.ts";
import { effectView, pullRequestView, viewOf } from "../views.ts";

export function createTask(core: Core): Handler<Routes["createTask"]> {
  return ({ body }) => makeTask(core, body);
}

export function getTask(core: Core): Handler<Routes["getTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const effects = await core.store.listEffects(stored.task.id);
    const record = await core.store.pullRequests.get(stored.task.id);
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(() => undefined);
    const continues = await continuedBy(core.store, stored.task.id);
    const openFindings = unsettledFindings(stored.task);
    return {
      task: await viewOf(core, stored),
      ...(continues === "" ? {} : { continues }),
      ...(openFindings.length === 0 ? {} : { openFindings: [...openFindings] }),
      entry: stored.task.entry,
      effects: effects.map(effectView),
      pullRequest: record === undefined ? null : pullRequestView(record),
      ...(workflow === undefined ? {} : { states: Object.keys(workflow.states), ...choicesOf(workflow, stored) }),
    };
  };
}

function choicesOf(workflow: Workflow, { task }: StoredTask) {
  const settings = settingsOf(workflow, task).map(({ value = null, ...rest }) => ({ ...rest, value }));
  return settings.length === 0 ? {} : { preset: task.preset, settings };
}

/** The agents service. Throws if this daemon has none. */
export function agentsOf(core: Core): Agents {
  if (core.agents !== undefined) return core.agents;
  throw new Fault("agents.unavailable", "This daemon does not start agents.");
}

/** The run that the caller names by role or key: a live one if there is one, otherwise the last. */
export async function runOf(core: Core, { task }: StoredTask, wanted: { role?: string; run?: string }): Promise<Run> {
  const all = (await core.store.runs.list({ task: task.id })).filter(({ started }) => started !== undefined);
  const meant = all.filter(
    ({ role, key }) =>
      (wanted.role === undefined || role === wanted.role || key === wanted.role) &&
      (wanted.run === undefined || key === wanted.run),
  );
  const alive = meant.filter(({ endedAt }) => endedAt === undefined);
  // Of several live runs, the one started last belongs to the current state.
  const found = alive.at(-1) ?? meant.at(-1);
  if (found !== undefined) return found;
  const who = wanted.run ?? wanted.role;
  const roles = [...new Set(all.map(({ role }) => role))];
  throw new Fault("run.missing", `The task has had no agent${who === undefined ? "" : ` "${who}"`} yet.`, {
    hint:
      roles.length > 0
        ? `It has had ${roles.join(", ")}.`
        : `See what the task waits for: signalbox task explain ${task.id}`,
  });
}

/** A run that its task wants and that has not started yet. */
interface RunToCome extends Pick<Run, "id" | "project" | "task" | "key"> {
  readonly mode: AgentOrder["spec"]["mode"];
  /** What the run waits for, in sentences, and what a person can do about it. */
  readonly why: string;
  readonly fix: string;
}

/** The run of this role that waits to be started, unless such a run is alive. */
export async function runToCome(core: Core, { task }: StoredTask, role?: string): Promise<RunToCome | undefined> {
  const matches = (run: { readonly role: string; readonly key: string }) =>
    role === undefined || role === run.role || role === run.key;
  const runs = await core.store.runs.list({ task: task.id });
  const isAlive = ({ endedAt, started, pid }: Run) =>
    endedAt === undefined && started !== undefined && (pid > 0 || started.asleepSince !== undefined);
  if (runs.some((run) => matches(run) && isAlive(run))) return undefined;
  for (const stored of await core.store.openEffects(task.id)) {
    const { action, agent: order } = stored.effect;
    if (action !== "spawn_agent" || order === undefined || !isWanted(task, order.run)) continue;
    if (!matches({ role: order.role, key: order.run })) continue;
    const id = runRecordId(task.id, order.run);
    const about = { id, project: task.project, task: task.id, key: order.run, mode: order.spec.mode };
    return { ...about, ...whatItWaitsFor(core, about, stored) };
  }
  return undefined;
}

/** A pause comes first: while it lasts, no other reason matters. */
function whatItWaitsFor(
  core: Core,
  { id, key, project, task }: Omit<RunToCome, "why" | "fix">,
  { state, dueAt, failure }: StoredEffect,
): Pick<RunToCome, "why" | "fix"> {
  const { dispatch, pauses } = agentsOf(core);
  const why = `${key} waits to be started.`;
  const paused = pauses.why(project);
  if (paused !== undefined) return { why, fix: paused };
  if (state === "failed") {
    const failed = `${key} could not be started. ${sentence(failure?.reason ?? "")}`.trim();
    return { why: failed, fix: `Remove the cause, then: signalbox task continue ${task}` };
  }
  const seat = dispatch.whyRunWaits(id);
  if (seat !== undefined) {
    const harness = dispatch.waiting().find(({ run }) => run === id)?.harness;
    const isLimited = dispatch.limits().some((limit) => limit.harness === harness);
    const fix = isLimited
      ? `It starts by itself then. If that no longer applies: signalbox resume --harness ${harness}`
      : "It starts by itself. See which agents are at work: signalbox agent ps";
    return { why: `${why} ${seat}`, fix };
  }
  const told = failure === undefined ? "" : ` The last try failed: ${sentence(failure.reason)}`;
  const next = dueAt > core.clock.now() ? ` The next try is at ${shownTime(dueAt)}.` : "";
  return { why: `${why}${told}${next}`, fix: `See what happens next: signalbox task explain ${task}` };
}
