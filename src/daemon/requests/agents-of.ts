import type { AgentOrder } from "../../engine/decision.ts";
import { sentence } from "../../engine/sentence.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { StoredEffect, StoredTask } from "../../ports/store.ts";
import type { Agents } from "../agents/agents.ts";
import { runRecordId } from "../agents/run-name.ts";
import { shownTime } from "../agents/shown-time.ts";
import { isWanted } from "../agents/start-run.ts";
import type { Core } from "../core.ts";

/** What looks after agents; refused where there is nothing of the kind. */
export function agentsOf(core: Core): Agents {
  if (core.agents !== undefined) return core.agents;
  throw new Fault("agents.unavailable", "This daemon starts no agents.");
}

/** The run that somebody means: of this role, else the one that is alive, else the last. */
export async function runOf(core: Core, { task }: StoredTask, wanted: { role?: string; run?: string }): Promise<Run> {
  const all = (await core.store.runs.list({ task: task.id })).filter(({ started }) => started !== undefined);
  const meant = all.filter(
    ({ role, key }) =>
      (wanted.role === undefined || role === wanted.role || key === wanted.role) &&
      (wanted.run === undefined || key === wanted.run),
  );
  const alive = meant.filter(({ endedAt }) => endedAt === undefined);
  // Of several the one that was started last is the one that the state is about.
  const found = alive.at(-1) ?? meant.at(-1);
  if (found !== undefined) return found;
  const who = wanted.run ?? wanted.role;
  const roles = [...new Set(all.map(({ role }) => role))];
  throw new Fault("run.missing", `The task has had no agent${who === undefined ? "" : ` "${who}"`} yet.`, {
    hint:
      roles.length > 0 ? `It has had ${roles.join(", ")}.` : `See what it waits for: signalbox task explain ${task.id}`,
  });
}

/** A run that its task wants and that was not started yet. */
export interface RunToCome extends Pick<Run, "id" | "project" | "task" | "key"> {
  readonly mode: AgentOrder["spec"]["mode"];
  /** What it waits for, in sentences, and what a person can do about it. */
  readonly why: string;
  readonly fix: string;
}

/** The run that somebody means, where it waits to be started and none that they could mean is alive. */
export async function runToCome(core: Core, { task }: StoredTask, role?: string): Promise<RunToCome | undefined> {
  const isMeant = (run: { readonly role: string; readonly key: string }) =>
    role === undefined || role === run.role || role === run.key;
  const runs = await core.store.runs.list({ task: task.id });
  const isAlive = ({ endedAt, started, pid }: Run) =>
    endedAt === undefined && started !== undefined && (pid > 0 || started.asleepSince !== undefined);
  if (runs.some((run) => isMeant(run) && isAlive(run))) return undefined;
  for (const stored of await core.store.openEffects(task.id)) {
    const { action, agent: order } = stored.effect;
    if (action !== "spawn_agent" || order === undefined || !isWanted(task, order.run)) continue;
    if (!isMeant({ role: order.role, key: order.run })) continue;
    const id = runRecordId(task.id, order.run);
    const about = { id, project: task.project, task: task.id, key: order.run, mode: order.spec.mode };
    return { ...about, ...whatItWaitsFor(core, about, stored) };
  }
  return undefined;
}

/** A pause comes first: nothing else matters while it lasts. */
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
    return { why: failed, fix: `Mend the cause, then: signalbox task continue ${task}` };
  }
  const seat = dispatch.whyRunWaits(id);
  if (seat !== undefined) {
    const harness = dispatch.waiting().find(({ run }) => run === id)?.harness;
    const isLimited = dispatch.limits().some((limit) => limit.harness === harness);
    const fix = isLimited
      ? `It starts by itself then. If that does not hold any more: signalbox resume --harness ${harness}`
      : "It starts by itself. See who is at work: signalbox agent ps";
    return { why: `${why} ${seat}`, fix };
  }
  const told = failure === undefined ? "" : ` The last try failed: ${sentence(failure.reason)}`;
  const next = dueAt > core.clock.now() ? ` The next try is at ${shownTime(dueAt)}.` : "";
  return { why: `${why}${told}${next}`, fix: `See what comes next: signalbox task explain ${task}` };
}
