import type { TaskEvent } from "../../engine/decision.ts";
import { reportOf } from "../../engine/handed.ts";
import type { RunEnd } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Places } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import { type Callers, publishAgents } from "../callers.ts";
import { eventsOf } from "../project.ts";
import type { Answer, Submit } from "../submit.ts";
import { labelOf } from "./roster.ts";
import { runRecordId } from "./run-order.ts";
import { forgetSecrets } from "./run-secrets.ts";

interface ReportPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Places;
  readonly callers: Pick<Callers, "revoke">;
  readonly submit: Submit;
  /** The named agent of this run is stuck, as the run's record says. */
  stuck?(run: Run, label: string): void;
}

export interface ReportedEnd {
  readonly word: RunEnd;
  readonly reason?: string;
  readonly answer?: unknown;
  /** A retry would end in the same way. */
  readonly isFinal?: true;
}

/**
 * A run has ended: revokes its credential, then reports the end to the engine. Only then is the record closed: if the
 * daemon dies in between, it finds and judges the run again, and the engine recognises the second report.
 */
export async function reportEnd(
  { store, clock, places, callers, submit, stuck }: ReportPorts,
  task: string,
  run: string,
  { word, reason = "", answer, isFinal }: ReportedEnd,
): Promise<Answer> {
  await callers.revoke(task, run);
  const before = (await store.getTask(task))?.task;
  // The reason goes into the history and to people's terminals.
  const why = oneLine(reason, 600);
  const told = await submit(task, {
    ...{ kind: "ended", run, word },
    ...(why === "" ? {} : { reason: why }),
    ...(answer === undefined ? {} : { answer }),
    ...(isFinal === undefined ? {} : { isFinal }),
  });
  const known = await store.runs.get(runRecordId(task, run));
  if (known !== undefined && known.endedAt === undefined) {
    const ending = await endingOf(store, known, before, told, { word, reason: why });
    const ended: Run = { ...known, endedAt: clock.now(), ...ending };
    await store.runs.put(ended);
    if (ended.stuck !== undefined) stuck?.(ended, labelOf(told.stored.task));
  }
  if (known?.started !== undefined) forgetSecrets(places.runs, known.started.name);
  await publishAgents({ store, places });
  return told;
}

/** The fields of a run's record that its end sets: how its workflow counted the end, and what the run said. */
export async function endingOf(
  store: Store,
  run: Pick<Run, "task" | "key" | "agent">,
  before: Task | undefined,
  { decision, stored }: Pick<Answer, "decision" | "stored">,
  { word, reason }: { readonly word: string; readonly reason: string },
): Promise<Pick<Run, "word" | "report" | "error" | "stuck">> {
  const isSaved = decision.kind === "moved" || decision.kind === "stayed";
  const known = before && reportOf(before, run.key);
  if (isSaved)
    return { ...fields(decision.events, run.key, known, word, reason), ...stuckOf(run, decision.events, stored) };
  // An earlier daemon reported the end, and was killed before it closed the record.
  const all = await eventsSince(store, run);
  const events = all.filter(({ data }) => data.run === run.key);
  const said = events.findLast(({ type }) => type === "work.completed")?.data;
  const report = said && { summary: String(said.summary), outcome: String(said.outcome) };
  return { ...fields(events, run.key, report, word, reason), ...stuckOf(run, all, stored) };
}

/**
 * How a run ended that its task no longer wants, and whose record is still open. An earlier daemon may have reported
 * the end, and may have been killed before it closed the record.
 */
export async function endingOfUnwanted(
  store: Store,
  run: Run,
): Promise<Pick<Run, "word" | "report" | "error" | "stuck">> {
  const killed = { word: "killed", reason: "" };
  const stored = run.agent === undefined ? undefined : await store.getTask(run.task);
  if (stored === undefined) return { word: "killed" };
  return endingOf(store, run, undefined, { stored, decision: { kind: "ignored", why: "" } }, killed);
}

/** The events of the task from the start of the run on. */
async function eventsSince(store: Store, { task, key }: Pick<Run, "task" | "key">): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = [];
  for await (const { event } of eventsOf(store, task))
    if (events.length > 0 || event.data.run === key) events.push(event);
  return events;
}

/**
 * A named agent is stuck if its task is held because its run ended badly. If the run ended `ok`, the agent has not
 * failed: the workflow has no rule for its answer.
 */
function stuckOf(
  { agent, key }: Pick<Run, "agent" | "key">,
  events: readonly TaskEvent[],
  stored: StoredTask,
): Pick<Run, "stuck"> {
  const held = agent === undefined ? undefined : stored.task.held;
  if (held === undefined || held.word === "ok") return {};
  const end = events.findIndex(({ type, data }) => type === "agent.ended" && data.run === key);
  const after = end < 0 ? undefined : events.slice(end + 1).find(({ type }) => turns.has(type));
  return after?.type === "task.held" ? { stuck: held.reason } : {};
}

/** The first of these events after the end of a run shows what the end led to. */
const turns: ReadonlySet<string> = new Set(["task.held", "task.moved", "agent.started", "task.continued"]);

function fields(
  events: readonly TaskEvent[],
  run: string,
  report: Run["report"],
  word: string,
  reason: string,
): Pick<Run, "word" | "report" | "error"> {
  const ended = events.find(({ type, data }) => type === "agent.ended" && data.run === run);
  const counted = typeof ended?.data.word === "string" ? ended.data.word : word;
  const isGood = counted === "ok" || counted === "step";
  return {
    word: counted,
    ...(report === undefined ? {} : { report: { summary: report.summary, outcome: report.outcome } }),
    ...(isGood || reason === "" ? {} : { error: reason }),
  };
}

/** The state of a run for lists, in one word. */
export function statusOf({
  endedAt,
  pid,
  word,
  report,
}: Run): "waiting" | "running" | "completed" | "failed" | "stopped" {
  if (endedAt === undefined) return pid === 0 ? "waiting" : "running";
  if (word === "ok" || word === "step" || report !== undefined) return "completed";
  return word === "killed" || word === "lost" ? "stopped" : "failed";
}
