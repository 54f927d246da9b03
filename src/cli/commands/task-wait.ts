import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView, TaskView } from "../../api/tasks.ts";
import { readDuration } from "../../engine/duration.ts";
import { didYouMean } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import { createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes, visible } from "../fast/tell.ts";
import { nameTask, shownTask } from "../find.ts";
import { pause } from "../screen.ts";
import { writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { allEvents } from "./events.ts";
import { flag, json, status, tasks, textFlag } from "./parameters.ts";

/** How waiting for a task ended. */
type End = "reached" | "over" | "needs-person" | "failed" | "waiting";

interface Waited {
  readonly task: TaskView;
  readonly end: End;
}

/** Milliseconds between two polls. */
const pollInterval = 500;

/** A need counts after this many polls in a row, because an agent that is starting can look dead. */
const steadyPolls = 3;

const waitFlags = {
  for: status(
    "Wait until the task has been in this state; of an open task, only the time since a person last moved it counts",
  ),
  timeout: textFlag("DURATION", "Wait at most this long, such as 30s, 10m or 2h"),
  any: flag("Wait for one of the tasks, not for all of them"),
  json,
} as const;

type WaitFlags = FlagsOf<typeof waitFlags>;

/** Waits until each task is over, needs a person, or is in the wanted state. */
export const wait = command({
  parameters: {
    positional: tasks,
    flags: waitFlags,
  },
  docs: {
    brief: "Wait until tasks are over or need a person",
    fullDescription: `For scripts. Prints a line for each task: the task, its state, and what it needs.

Examples:
  signalbox task wait coffee#12
  signalbox task wait coffee#12 coffee#13 --any --timeout 30m
  signalbox task wait coffee#12 --for reviewing

--json: { timedOut, tasks: [{ end, id, project, number, status, outcome, needs }] }. end is reached, over, failed, needs-person or waiting
Exit codes: 0 each is done, or has reached the state; 1 one needs a person, or ended otherwise; 2 wrong usage, 3 no such task, 4 the time is up`,
  },
  async func(flags, ...references): Promise<void> {
    const timeout = flags.timeout === undefined ? Number.POSITIVE_INFINITY : readTimeout(flags.timeout);
    const endAt = Date.now() + timeout * 1000;
    const call = createOnlooker(this, timeUp(timeout));
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
      await pause(Math.min(pollInterval, Math.max(0, endAt - Date.now())));
    }
  },
});

/** Node's timers are limited to 24 days. */
function timeUp(seconds: number): AbortSignal | undefined {
  return seconds * 1000 < 2 ** 31 ? AbortSignal.timeout(seconds * 1000) : undefined;
}

/** Why nothing will happen until a person resumes: every task that is still waited for is paused. Reported once. */
function whyStill(all: readonly Waited[]): string | undefined {
  const open = all.filter((each) => !isOver(each));
  const isStill = ({ task: { paused, session, waiting } }: Waited) =>
    paused !== "" && (session !== "alive" || waiting !== "");
  return open.length > 0 && open.every(isStill) ? open[0]?.task.paused : undefined;
}

/** Refuses a state that the workflow does not have: the task would never reach it. */
function mustHaveState(task: TaskView, states: readonly string[], wanted: string | undefined): void {
  if (wanted === undefined || states.length === 0 || states.includes(wanted)) return;
  const text = `The workflow "${task.workflow}" of ${shownTask(task)} has no state "${wanted}".`;
  throw new Fault("usage", text, { hint: didYouMean(wanted, states) });
}

function readTimeout(text: string): number {
  const seconds = readDuration(text);
  if (seconds !== undefined) return seconds;
  throw new Fault("usage", `"${text}" is not a duration.`, { hint: "Write it like 30s, 10m or 2h." });
}

function isOver({ end }: Waited): boolean {
  return end !== "waiting";
}

/** Returns a function that polls a task, and that tolerates a daemon which is being replaced. */
function createLook(call: Call, id: string, wanted: string | undefined): () => Promise<Waited> {
  let last: TaskView | undefined;
  let steady = 0;
  let position = 0;
  let failures = 0;
  let hasReached = false;

  const look = async (): Promise<Waited> => {
    const { task } = await call(routes.getTask, { params: { task: id } });
    last = task;
    // The task may have passed through the state before, or between two polls.
    if (wanted !== undefined && !hasReached) {
      const events = await allEvents(call, { task: id }, position);
      position = events.at(-1)?.position ?? position;
      hasReached =
        task.status === wanted ||
        (task.outcome === null ? sincePerson(events) : events).some((event) => leadsTo(event, wanted));
    }
    steady = task.needsPerson ? steady + 1 : 0;
    return { task, end: endOf(task) };
  };
  const endOf = (task: TaskView): End => {
    if (hasReached) return "reached";
    if (task.outcome !== null) return wanted === undefined && task.outcome === "done" ? "over" : "failed";
    return steady >= steadyPolls ? "needs-person" : "waiting";
  };
  return async () => {
    try {
      const found = await look();
      failures = 0;
      return found;
    } catch (error) {
      const isGone = error instanceof Fault && error.code.endsWith(".missing");
      if (isGone || last === undefined || ++failures > maxFailures) throw error;
      return { task: last, end: "waiting" };
    }
  };
}

const maxFailures = 20;

/** Events before a person last moved an open task belong to an earlier attempt: a script waits for the next one. */
function sincePerson(events: readonly EventView[]): readonly EventView[] {
  const last = events.findLastIndex(({ type, by }) => type === "task.moved" && by === "human");
  return events.slice(Math.max(0, last));
}

function leadsTo({ type, data }: EventView, state: string): boolean {
  return (type === "task.moved" && data.to === state) || (type === "task.created" && data.status === state);
}

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
