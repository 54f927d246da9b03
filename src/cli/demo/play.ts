import type { RunView } from "../../api/agent-wires.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView, TaskView } from "../../api/task-wires.ts";
import { Fault } from "../../fault.ts";
import { createCall, followStream } from "../connect.ts";
import { pause } from "../pause.ts";
import type { Stage } from "./stage.ts";
import { type DemoTask, demoTasks } from "./tasks.ts";

/** Whoever looks on. */
export interface Onlooker {
  happened(event: EventView): void;
  /** Several times a second, with everything as it is. */
  saw(tasks: readonly TaskView[], runs: readonly RunView[]): void;
}

/** Between two looks, in milliseconds. */
const interval = 150;
/** How long a person takes to see that somebody waits for them, and to answer. */
const thought = 600;
/** How long nothing at all may happen. */
const patience = 90_000;

/** Creates the tasks, and does what a person has to do until all of them are over. Gives them as they are then. */
export async function play(
  { caller, repository }: Stage,
  onlooker: Onlooker,
  signal: AbortSignal,
): Promise<readonly TaskView[]> {
  const call = createCall(caller);
  await call(routes.addProject, {
    body: { name: "coffee", path: repository, harness: "scripted", poolSize: demoTasks.length },
  });
  const ending = new AbortController();
  let newsAt = Date.now();
  const following = followStream(
    caller,
    { after: "0" },
    (event) => {
      newsAt = Date.now();
      onlooker.happened(event);
    },
    ending.signal,
  );
  try {
    for (const { branch, summary } of demoTasks)
      await call(routes.createTask, { body: { project: "coffee", branch, summary } });
    const person = createPerson(call, signal);
    for (;;) {
      const asked = performance.now();
      const { tasks } = await call(routes.listTasks);
      const { runs } = await call(routes.listRuns);
      onlooker.saw(tasks, runs);
      person.look(tasks, asked);
      if (tasks.every(({ phase }) => phase === "over")) return [...tasks].sort((a, b) => a.number - b.number);
      if (Date.now() - newsAt > patience) throw quiet(tasks);
      await Promise.race([pause(interval, signal), person.failed]);
      signal.throwIfAborted();
    }
  } finally {
    ending.abort();
    await following;
  }
}

/** Answers what is asked and merges what is ready, as somebody at a keyboard would: `failed` tells where that was refused. */
function createPerson(call: Call, signal: AbortSignal) {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // Whoever waits for it is told; nobody has to.
  failed.catch(() => undefined);
  /** Until when somebody sees to a task: what was seen of it before is old. */
  const busyUntil = new Map<string, number>();
  const answered = new Set<string>();
  const help = async (task: TaskView) => {
    if (task.held !== null) throw stuck(task, task.held.reason);
    await pause(thought, signal);
    if (signal.aborted) return;
    const about = { params: { task: task.id } };
    const answer = answered.has(task.id) ? undefined : plannedFor(task)?.answer;
    if (answer !== undefined) {
      answered.add(task.id);
      await call(routes.answerTask, { ...about, body: { text: answer } });
      return;
    }
    const { state, reason } = await call(routes.mergeTask, { ...about, body: {} });
    if (!goingOn.includes(state)) throw stuck(task, reason);
  };
  return {
    failed,
    look(tasks: readonly TaskView[], at: number) {
      for (const task of tasks) {
        if (!task.needsPerson || at < (busyUntil.get(task.id) ?? 0)) continue;
        busyUntil.set(task.id, Number.POSITIVE_INFINITY);
        help(task).then(() => busyUntil.set(task.id, performance.now()), reject);
      }
    },
  };
}

/** It is merged, or will be as soon as its turn comes. */
const goingOn: readonly string[] = ["merged", "lined-up", "waits"];

export function plannedFor({ branch }: Pick<TaskView, "branch">): DemoTask | undefined {
  return demoTasks.find((each) => each.branch === branch);
}

function stuck({ number, summary, status }: TaskView, reason: string): Fault {
  return new Fault("demo.stuck", `#${number} "${summary}" does not get on in ${status}: ${reason}`);
}

function quiet(tasks: readonly TaskView[]): Fault {
  const open = tasks.filter(({ phase }) => phase !== "over").map(({ number, status }) => `#${number} in ${status}`);
  return new Fault(
    "demo.stuck",
    `Nothing has happened for ${patience / 1000} s, and not all is done: ${open.join(", ")}.`,
  );
}
