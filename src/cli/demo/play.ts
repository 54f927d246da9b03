import type { RunView } from "../../api/agents.ts";
import { type Call, Refusal } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView, TaskView } from "../../api/tasks.ts";
import type { State, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { createCall, followStream } from "../connect.ts";
import type { Context } from "../context.ts";
import { describeEvent } from "../describe-event.ts";
import { pause } from "../screen.ts";
import { listed } from "../text.ts";
import { createScreen, draw, type ShownHappening, writeHappening } from "./draw.ts";
import { type DemoTask, demoTasks, type Stage } from "./stage.ts";

interface OnlookerOptions {
  readonly workflow: Workflow;
  readonly began: number;
  /** Show nothing. */
  readonly isQuiet: boolean;
}

/** Shows what happens: a live view on a terminal, elsewhere a line for each event. */
export function createOnlooker(
  context: Context,
  { workflow, began, isQuiet }: OnlookerOptions,
): Onlooker & { close(): void } {
  const { print, paint, isTerminal } = context;
  const stdout = context.process.stdout as NodeJS.WriteStream;
  const isLive = isTerminal && !isQuiet;
  const screen = createScreen(stdout);
  const numbers = new Map<string, number>();
  const stays = new Map<string, readonly Stay[]>();
  const happenings: ShownHappening[] = [];
  let tasks: readonly TaskView[] = [];
  let runs: readonly RunView[] = [];

  const show = () => {
    if (!isLive) return;
    const shown = demoTasks.map((planned) => {
      const task = tasks.find(({ branch }) => branch === planned.branch);
      const own = task?.id ?? "";
      return { planned, task, stays: stays.get(own) ?? [], runs: runs.filter((run) => run.task === own) };
    });
    const [width, height] = [stdout.columns || 80, stdout.rows || 24];
    screen.show(draw({ tasks: shown, happenings, began, now: Date.now() }, width, height - 1, paint));
  };
  // Show something before the daemon runs.
  show();

  return {
    happened(event) {
      if (event.type === "task.created") numbers.set(event.task, numbers.size + 1);
      stays.set(event.task, withStay(stays.get(event.task) ?? [], event));
      const happening = happeningOf(event, workflow);
      if (happening === undefined || isQuiet) return;
      const shown = { ...happening, at: Date.parse(event.at) - began, number: numbers.get(event.task) ?? 0 };
      happenings.push(shown);
      if (isLive) show();
      else print(writeHappening(shown, Number.POSITIVE_INFINITY, paint));
    },
    saw(newTasks, newRuns) {
      tasks = newTasks;
      runs = newRuns;
      show();
    },
    close: () => screen.clear(),
  };
}

/** The viewer of the demo. */
interface Onlooker {
  happened(event: EventView): void;
  /** Called several times a second with the current state. */
  saw(tasks: readonly TaskView[], runs: readonly RunView[]): void;
}

/** Milliseconds between two polls. */
const pollInterval = 150;
/** How long the demo's person takes to notice a waiting agent and to answer. */
const answerDelay = 600;
/** The longest time without any event before the demo fails. */
const idleTimeout = 90_000;

interface PlayOptions {
  readonly onlooker: Onlooker;
  readonly signal: AbortSignal;
  /** Somebody else is the person, and takes their time; called once, before the tasks are created. */
  readonly invitePerson?: (call: Call) => Promise<void>;
}

/** Creates the tasks, and acts as the person unless there is one, until all tasks are over. Returns the ended tasks. */
export async function play(
  { caller, repository }: Stage,
  { onlooker, signal, invitePerson }: PlayOptions,
): Promise<readonly TaskView[]> {
  const call = createCall(caller);
  await call(routes.addProject, {
    body: { name: "coffee", path: repository, harness: "scripted", poolSize: demoTasks.length },
  });
  await invitePerson?.(call);
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
    const person = invitePerson === undefined ? createPerson(call, signal) : undefined;
    for (;;) {
      const asked = performance.now();
      const { tasks } = await call(routes.listTasks);
      const { runs } = await call(routes.listRuns);
      onlooker.saw(tasks, runs);
      person?.look(tasks, asked);
      if (tasks.every(({ phase }) => phase === "over")) return [...tasks].sort((a, b) => a.number - b.number);
      if (person !== undefined && Date.now() - newsAt > idleTimeout) throw quiet(tasks);
      await Promise.race([pause(pollInterval, signal), ...(person === undefined ? [] : [person.failed])]);
      signal.throwIfAborted();
    }
  } finally {
    ending.abort();
    await following;
  }
}

/**
 * Answers questions and merges ready tasks, as a person would. A task may move on while the person acts, so a refusal is followed
 * by another look at it. `failed` rejects if it is refused again and again.
 */
export function createPerson(call: Call, signal: AbortSignal, delay = answerDelay) {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  // Callers may ignore `failed` without an unhandled rejection.
  failed.catch(() => undefined);
  /** Until when the person is busy with a task: earlier views of it are outdated. */
  const busyUntil = new Map<string, number>();
  const answered = new Set<string>();
  const refused = new Map<string, number>();
  const help = async (task: TaskView) => {
    if (task.held !== null) throw stuck(task, task.held.reason);
    await pause(delay, signal);
    if (signal.aborted) return;
    const about = { params: { task: task.id } };
    const answer = answered.has(task.id) ? undefined : plannedFor(task)?.answer;
    if (answer !== undefined) {
      await call(routes.answerTask, { ...about, body: { text: answer } });
      answered.add(task.id);
      return;
    }
    const { state, reason } = await call(routes.mergeTask, { ...about, body: {} });
    if (!goingOn.includes(state)) throw stuck(task, reason);
  };
  /** Throws what another look at the task would not change. */
  const lookAgain = (task: string, error: unknown) => {
    const times = (refused.get(task) ?? 0) + 1;
    refused.set(task, times);
    const isEarly = error instanceof Refusal && error.reasons.every(({ code }) => early.has(code));
    if (!isEarly || times > maxRefusals) throw error;
  };
  return {
    failed,
    look(tasks: readonly TaskView[], at: number) {
      for (const task of tasks) {
        // Other needs, such as a slow agent's, are none that a merge or an answer would meet.
        const isReady = task.held !== null || task.needs.some(({ reason }) => met.has(reason));
        if (!task.needsPerson || !isReady || at < (busyUntil.get(task.id) ?? 0)) continue;
        busyUntil.set(task.id, Number.POSITIVE_INFINITY);
        help(task)
          .catch((error) => lookAgain(task.id, error))
          .then(() => busyUntil.set(task.id, performance.now()), reject);
      }
    },
  };
}

const met: ReadonlySet<string> = new Set(["question", "approval", "merge"]);
/** The codes of refusals that say that the task is in another state than the person saw. */
const early: ReadonlySet<string> = new Set([
  "not-waiting",
  "no-transition",
  "not-allowed",
  "moved-on",
  "answered",
  "terminal",
]);
/** How often a task may refuse its person before the demo fails. */
const maxRefusals = 20;

/** The merge is done, or is waiting in the queue. */
const goingOn: readonly string[] = ["merged", "lined-up", "waits"];

function plannedFor({ branch }: Pick<TaskView, "branch">): DemoTask | undefined {
  return demoTasks.find((each) => each.branch === branch);
}

function stuck({ number, summary, status }: TaskView, reason: string): Fault {
  return new Fault("demo.stuck", `#${number} "${summary}" does not continue in ${status}: ${reason}`);
}

function quiet(tasks: readonly TaskView[]): Fault {
  const open = tasks
    .filter(({ phase }) => phase !== "over")
    .map(({ number, status, needs }) => [`#${number} in ${status}`, ...needs.map(({ brief }) => brief)].join(": "));
  return new Fault(
    "demo.stuck",
    `No event for ${idleTimeout / 1000} s, and some tasks are not over: ${open.join(", ")}.`,
  );
}

/** A stay of a task in a state. Times are milliseconds. */
export interface Stay {
  readonly status: string;
  readonly from: number;
  /** Undefined if the task is still in the state, or has ended in it. */
  readonly until: number | undefined;
}

/** The task's stays, extended by an event. */
export function withStay(stays: readonly Stay[], { type, data, at }: Pick<EventView, "type" | "data" | "at">) {
  const status = type === "task.created" ? data.status : type === "task.moved" ? data.to : undefined;
  if (typeof status !== "string") return stays;
  const now = Date.parse(at);
  const last = stays.at(-1);
  const before = last === undefined ? [] : [...stays.slice(0, -1), { ...last, until: now }];
  return [...before, { status, from: now, until: undefined }];
}

/** An event, described for a viewer. */
export interface Happening {
  readonly text: string;
  readonly mood: "plain" | "good" | "bad" | "person";
}

/** Undefined for events that are only of interest in the history. */
function happeningOf(event: EventView, workflow: Workflow): Happening | undefined {
  const { type, by, data } = event;
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  switch (type) {
    case "task.created":
      return { text: `created, with the workflow ${text("workflow")}`, mood: "plain" };
    case "task.moved":
      return moved(event, workflow);
    case "agent.started":
      return { text: `${text("run")} starts in its own terminal`, mood: "plain" };
    case "agent.ended":
      // The end of the run, and the end of the wait for it, are two events.
      return text("run") === "" ? undefined : { text: `${text("run")} has died`, mood: "bad" };
    case "document.changed":
      return by === "human" ? { text: `a person writes ${describeEvent(event)}`, mood: "person" } : undefined;
    case "message.sent":
      return { text: `${text("to")} is told: ${text("text")}`, mood: "plain" };
    case "person.called":
      return { text: `you would be called: ${describeEvent(event)}`, mood: "person" };
    case "merge.asked":
      return { text: "a person merges it", mood: "person" };
    case "merge.landed":
      return { text: `merged ${describeEvent(event)}`, mood: "good" };
    default:
      return loud.includes(type) ? { text: `${type}: ${describeEvent(event)}`, mood: "bad" } : undefined;
  }
}

/** Events that should not happen in a demo. */
const loud = ["task.held", "request.rejected", "effect.failed", "agent.raised", "message.undelivered", "merge.waits"];

/** `agent-review → working, by reviewer#2 with ## Review: FAIL` */
function moved({ by, data }: EventView, workflow: Workflow): Happening {
  const [from, to] = [String(data.from), String(data.to)];
  const evidence = Array.isArray(data.evidence) ? (data.evidence as readonly { section: string }[]) : [];
  const sections = listed(evidence.map(({ section }) => `## ${section}`));
  const [verdict] = evidence.flatMap(({ section }) => verdictOf(workflow, { from, to, section }) ?? []);
  const run = typeof data.run === "string" && data.run !== "" ? data.run : by;
  const who = run === "human" ? "a person" : run === "engine" ? "the engine" : run;
  const shown = `${sections === "" ? "" : ` with ${sections}`}${verdict === undefined ? "" : `: ${verdict}`}`;
  return { text: `${from} → ${to}, by ${who}${shown}`, mood: moodOf(workflow.states[to], verdict) };
}

/** The verdict that a way requires of a section. */
export function verdictOf(
  workflow: Workflow,
  { from, to, section }: { readonly from: string; readonly to: string; readonly section: string },
): "PASS" | "FAIL" | undefined {
  const gates = workflow.ways.filter((way) => way.from === from && way.to === to).flatMap((way) => way.gates);
  return gates.find((gate) => gate.section === section)?.verdict;
}

function moodOf(state: State | undefined, verdict: "PASS" | "FAIL" | undefined): Happening["mood"] {
  if (verdict === "FAIL") return "bad";
  if (verdict === "PASS" || state?.outcome === "done") return "good";
  return state?.wait.kind === "human" ? "person" : "plain";
}
