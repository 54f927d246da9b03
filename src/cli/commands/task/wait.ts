import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import type { TaskView } from "../../../api/task-wires.ts";
import { readDuration } from "../../../engine/duration.ts";
import { didYouMean } from "../../../engine/language/nearest.ts";
import { Fault } from "../../../fault.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { allEvents } from "../../list-events.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { pause } from "../../pause.ts";
import { visible } from "../../visible.ts";
import { writeJson } from "../../write-json.ts";

export interface WaitFlags {
  readonly for?: string;
  readonly timeout?: string;
  readonly any: boolean;
  readonly json: boolean;
}

/** What became of a task that was waited for. */
type End = "reached" | "over" | "needs-person" | "failed" | "waiting";

interface Waited {
  readonly task: TaskView;
  readonly end: End;
}

/** Between two looks. */
const interval = 500;
/** A need counts when it is still there after this many looks: agents that are being started can seem dead. */
const steadyLooks = 3;

/** Waits until each task is over, needs a person, or is in the state that is wanted. */
export async function wait(this: Context, flags: WaitFlags, ...references: readonly string[]): Promise<void> {
  const patience = flags.timeout === undefined ? Number.POSITIVE_INFINITY : readTimeout(flags.timeout);
  const endAt = Date.now() + patience * 1000;
  const call = createOnlooker(this, timeUp(patience));
  const ids = await Promise.all(
    references.map(async (reference) => {
      const { task, states = [] } = await call(routes.getTask, await nameTask(call, reference));
      mustHaveState(task, states, flags.for);
      return task.id;
    }),
  );
  const look = [...new Set(ids)].map((id) => createLook(call, id, flags.for));
  let hasTold = false;
  for (;;) {
    const all = await Promise.all(look.map((each) => each()));
    const paused: string | undefined = hasTold ? undefined : whyStill(all);
    if (paused !== undefined) this.say(paused);
    hasTold ||= paused !== undefined;
    const isEnough = flags.any ? all.some(isOver) : all.every(isOver);
    if (isEnough || Date.now() >= endAt) return tell(this, all, flags, isEnough);
    await pause(Math.min(interval, Math.max(0, endAt - Date.now())));
  }
}

/** Timers reach no further than 24 days. */
function timeUp(seconds: number): AbortSignal | undefined {
  return seconds * 1000 < 2 ** 31 ? AbortSignal.timeout(seconds * 1000) : undefined;
}

/** Where all that is still waited for is paused, nothing happens until somebody resumes it: they are told so, once. */
function whyStill(all: readonly Waited[]): string | undefined {
  const open = all.filter((each) => !isOver(each));
  const isStill = ({ task: { paused, session, waiting } }: Waited) =>
    paused !== "" && (session !== "alive" || waiting !== "");
  return open.length > 0 && open.every(isStill) ? open[0]?.task.paused : undefined;
}

/** Nobody would ever come to a state that is not there. */
function mustHaveState(task: TaskView, states: readonly string[], wanted: string | undefined): void {
  if (wanted === undefined || states.length === 0 || states.includes(wanted)) return;
  const text = `The workflow "${task.workflow}" of ${shownTask(task)} has no state "${wanted}".`;
  throw new Fault("usage", text, { hint: didYouMean(wanted, states) });
}

function readTimeout(text: string): number {
  const seconds = readDuration(text);
  if (seconds !== undefined) return seconds;
  throw new Fault("usage", `"${text}" is no duration.`, { hint: "Write it like 30s, 10m or 2h." });
}

function isOver({ end }: Waited): boolean {
  return end !== "waiting";
}

/** Looks at a task again and again. A daemon that is being replaced is waited for. */
function createLook(call: Call, id: string, wanted: string | undefined): () => Promise<Waited> {
  let last: TaskView | undefined;
  let steady = 0;
  let position: number | undefined;
  let failures = 0;
  let hasReached = false;

  const look = async (): Promise<Waited> => {
    const { task } = await call(routes.getTask, { params: { task: id } });
    last = task;
    // It may have come by between two looks.
    if (wanted !== undefined && !hasReached) {
      const events = await allEvents(call, { task: id }, position ?? 0);
      const isNew = position !== undefined;
      position = events.at(-1)?.position ?? position ?? 0;
      const came = isNew && events.some(({ type, data }) => type === "task.moved" && data.to === wanted);
      hasReached = task.status === wanted || came;
    }
    steady = task.needsPerson ? steady + 1 : 0;
    return { task, end: endOf(task) };
  };
  const endOf = (task: TaskView): End => {
    if (hasReached) return "reached";
    if (task.outcome !== null) return wanted === undefined && task.outcome === "done" ? "over" : "failed";
    return steady >= steadyLooks ? "needs-person" : "waiting";
  };
  return async () => {
    try {
      const found = await look();
      failures = 0;
      return found;
    } catch (error) {
      const isGone = error instanceof Fault && error.code.endsWith(".missing");
      if (isGone || last === undefined || ++failures > mostFailures) throw error;
      return { task: last, end: "waiting" };
    }
  };
}

const mostFailures = 20;

function tell(context: Context, all: readonly Waited[], { any, json }: WaitFlags, isEnough: boolean): void {
  const counted = any && isEnough ? all.filter(isOver) : all;
  const isWell = counted.every(({ end }) => end === "reached" || end === "over");
  if (!isEnough) context.process.exitCode = exitCodes.timeout;
  else if (!isWell) context.process.exitCode = exitCodes.failed;
  if (json) {
    const tasks = all.map(({ task, end }) => {
      const { id, project, number, status, outcome, needs } = task;
      return { end, id, project, number, status, outcome, needs };
    });
    context.print(writeJson({ timedOut: !isEnough, tasks }));
    return;
  }
  for (const each of all) context.print(line(each));
  if (!isEnough) context.say("The time is up.");
}

function line({ task, end }: Waited): string {
  const { brief, command } = task.needs[0] ?? { brief: "", command: "" };
  const needed = visible([brief, command].filter(Boolean).join(" → "));
  const said = { reached: "", over: "", failed: "", waiting: "not yet", "needs-person": `needs you: ${needed}` }[end];
  return [shownTask(task), task.status, said].filter(Boolean).join("  ");
}
