import { answerProblems, sampleAnswers } from "../../answers/read-answer.ts";
import { handOverTools } from "../handed.ts";
import { specOf } from "../run-spec.ts";
import { ticketWord } from "../settled.ts";
import type { Task } from "../task.ts";
import { isTemporary, resolve, waitWords, workWords } from "../when.ts";
import type { Mode, RunSpec, Scalar, State, Way, Workflow } from "../workflow.ts";
import { type Outcome, outcomesOf } from "./choices.ts";
import type { Step } from "./step.ts";
import { stepLimit, type World } from "./world.ts";

/** Every step that can be taken next, with the facts under which it is. */
export function stimuli(workflow: Workflow, world: World): readonly Step[] {
  return outcomes(workflow, world).map(({ step }) => step);
}

/** Every step that can be taken next, and what it leads to. The order depends only on the order of the file. */
export function outcomes(workflow: Workflow, world: World): readonly Outcome[] {
  return requests(workflow, world).flatMap((step) => outcomesOf(workflow, world, step));
}

/** Everything that may be asked or reported next; the engine refuses what makes no sense. */
export function requests(workflow: Workflow, world: World): readonly Step[] {
  const { task } = world;
  const state = workflow.states[task.status];
  if (state === undefined || task.phase === "over") return [];
  // Whatever else happens to such a task happens in the same way to one that is not held, and `continue` makes it one.
  if (task.held?.again === "effects")
    return [continued("human"), ...(task.held.word === ticketWord ? [continued("engine")] : [])];
  const settle: readonly Step[] = task.phase === "entering" ? [{ what: "settled", by: "engine" }] : [];
  if (state.terminal) return [...settle, ...mishaps(world, state)];
  return [
    ...settle,
    ...machineSteps(workflow, task, state),
    ...agentSteps(task, state),
    ...humanSteps(task, state),
    ...mishaps(world, state),
  ];
}

const continued = (by: string): Step => ({ what: "continue", by });

/**
 * What can happen in any state, through no fault of the file. A ticket that is closed ends the agents of a task as a limit of
 * the whole task does; only where a person or the engine is waited for, it holds the task in another way.
 */
function mishaps({ task, past }: World, { terminal, wait }: State): readonly Step[] {
  const { held, phase } = task;
  const steps: Step[] = [];
  if (past.owes && held === undefined) steps.push({ what: "unsettled", by: "engine" });
  if (terminal) return steps;
  const isAsked = phase !== "doing" && (wait.kind === "human" || wait.kind === "slot" || wait.kind === "time");
  if (isAsked && held === undefined) steps.push({ what: "ticket", by: "engine" });
  steps.push({ what: "task-limit", by: "engine", word: "time" });
  for (const name of distinctRuns(task)) steps.push({ what: "ended", by: name, word: "lost" });
  return steps;
}

function machineSteps(workflow: Workflow, task: Task, state: State): readonly Step[] {
  const { wait } = state;
  const { held, phase } = task;
  const ends = distinctRuns(task).flatMap((name) => endings(workflow, task, state, name));
  const work: readonly Step[] =
    phase === "doing" && held === undefined
      ? ["ok", ...workWords(state.do)].map((word) => ({ what: "did", by: "engine", word }))
      : [];
  const engine =
    held === undefined ? phase !== "doing" && (wait.kind === "slot" || wait.kind === "time") : isTemporary(held.word);
  const limits =
    held === undefined && phase !== "entering"
      ? (["time", "cost"] as const).filter((word) => state.limits[word] !== undefined)
      : [];
  return [
    ...work,
    ...ends,
    ...(engine ? [continued("engine")] : []),
    ...children(workflow, task, state),
    ...limits.map((word): Step => ({ what: "limit", by: "engine", word })),
  ];
}

/** Only under the policy `stop` do children that failed end the fan-out with `error`. */
function children(workflow: Workflow, task: Task, { wait }: State): readonly Step[] {
  if (wait.kind !== "fan_out" || task.phase !== "waiting" || task.held !== undefined || task.wait.childrenOver)
    return [];
  const words = resolve(wait.policy, workflow, task) === "stop" ? ["ok", "error"] : ["ok"];
  return words.map((word) => ({ what: "children", by: "engine", word }));
}

/** The ways in which one live run can end in this state. */
function endings(workflow: Workflow, task: Task, state: State, name: string): readonly Step[] {
  const run = task.runs[name];
  const mode: Mode = run?.mode ?? "session";
  const spec = { ...specOf(workflow, state, name), mode };
  const ended = (word: string): Step => ({ what: "ended", by: name, word });
  const words = waitWords({ wait: { kind: "agent", run: spec }, limits: state.limits }, []);
  // Limits of the state are separate steps; these are limits of the run.
  const isStates = (word: string) => (word === "time" || word === "cost") && state.limits[word] !== undefined;
  const failures = words.filter((word) => !isStates(word) && word !== "steps" && word !== "rounds").map(ended);
  if (mode === "session") {
    const idle: Step = { what: "idle", by: name, untilLeft: true };
    const canComplete = spec.tools?.includes(handOverTools.complete) === true && run?.report === undefined;
    return [...failures, idle, ...(canComplete ? [{ what: "complete", by: name } as const] : [])];
  }
  const answers = spec.result === undefined ? [undefined] : samples(workflow, state, spec);
  const good = answers.map((answer): Step => ({ ...ended("ok"), ...(answer === undefined ? {} : { answer }) }));
  return [
    ...good,
    ...stepEnds(workflow, task, mode, name),
    ...failures,
    ended("login"),
    { ...ended("error"), isFinal: true },
  ];
}

/** A stepped run takes its steps up to its limit; without one, it takes them for ever. */
function stepEnds(workflow: Workflow, task: Task, mode: Mode, name: string): readonly Step[] {
  if (mode !== "steps") return [];
  const step: Step = { what: "ended", by: name, word: "step" };
  if (stepLimit(workflow, task) === Number.POSITIVE_INFINITY) return [step];
  // The first step forgets the failures of the state before.
  const isFirst = task.crashCount > 0 && task.phase === "entering" && task.wait.hasFailed !== true;
  return [...(isFirst ? [step] : []), { ...step, untilLeft: true }];
}

/** Answers that differ in the fields that rules read, on both sides of each value; for a fan-out, with and without items. */
function samples(workflow: Workflow, state: State, { result = "", until }: RunSpec): readonly unknown[] {
  const known = sampled.get(state) ?? new Map<string, readonly unknown[]>();
  sampled.set(state, known);
  const before = known.get(result);
  if (before !== undefined) return before;
  const found = freshSamples(workflow, state, result, until ?? {});
  known.set(result, found);
  return found;
}

const sampled = new WeakMap<State, Map<string, readonly unknown[]>>();

function freshSamples(workflow: Workflow, state: State, result: string, until: Readonly<Record<string, Scalar>>) {
  const schema = workflow.schemas[result];
  if (schema === undefined) return [{}];
  const wanted = comparedValues(workflow, state, until);
  const answers = sampleAnswers(schema, Object.keys(wanted), wanted);
  const fanOuts = Object.values(workflow.states).flatMap(({ wait }) =>
    wait.kind === "fan_out" && wait.from.result === result ? [wait.from.field] : [],
  );
  if (fanOuts.length === 0) return answers;
  const item = { id: "1", title: "One", description: "One part", needs: [] };
  const items = Object.fromEntries(fanOuts.map((field) => [field, [item]]));
  const planned = answers.map((answer) => ({ ...(answer as object), ...items }));
  return [...planned.filter((answer) => answerProblems(schema, answer).length === 0), ...answers];
}

/** The values with which rules, promises and the end of a dialogue compare each field of an answer. */
export function comparedValues(
  { promises }: Workflow,
  state: State,
  until: Readonly<Record<string, Scalar>>,
): Readonly<Record<string, readonly Scalar[]>> {
  const wanted: Record<string, Scalar[]> = Object.create(null);
  const promised = promises.flatMap((promise) =>
    promise.kind === "after" && promise.evidence.kind === "result" ? [promise.evidence.fields] : [],
  );
  for (const fields of [...state.rules.map(({ result }) => result ?? {}), until, ...promised]) {
    for (const [field, value] of Object.entries(fields)) {
      const values = wanted[field] ?? [];
      if (!values.includes(value)) values.push(value);
      wanted[field] = values;
    }
  }
  return wanted;
}

function agentSteps(task: Task, state: State): readonly Step[] {
  if (state.wait.kind === "human" && !task.attended) return [];
  return distinctRuns(task).flatMap((name) => {
    const role = name.split("/")[0] ?? name;
    return targets(state, (way) => way.by === undefined || way.by.includes(role)).map(
      (to): Step => ({ what: "move", by: name, to }),
    );
  });
}

function humanSteps(task: Task, state: State): readonly Step[] {
  const { wait } = state;
  const waits = wait.kind === "human" || wait.kind === "slot" || wait.kind === "time";
  const steps: Step[] = [];
  if (task.held !== undefined || (waits && task.phase !== "doing")) steps.push(continued("human"));
  for (const to of targets(state, (way) => way.by === undefined || way.by.includes("human")))
    steps.push({ what: "move", by: "human", to });
  if (state.respawn !== undefined && task.runs[state.respawn.role] === undefined)
    steps.push({ what: "respawn", by: "human" });
  const reply = (text: string) => steps.push({ what: "reply", by: "human", text });
  if (task.wait.turn === "reply") reply("the answer");
  if (task.wait.turn === "confirm") {
    reply("yes");
    reply("not yet");
  }
  if (wait.kind === "human" && !task.attended && Object.keys(task.runs).length > 0) reply("the answer");
  return steps;
}

/** Members of a panel that are equally far differ only in their names, so one of them stands for all. */
function distinctRuns({ runs, wait }: Task): readonly string[] {
  const names = Object.keys(runs);
  if (names.length < 2) return names;
  const seen = new Set<string>();
  return names.filter((name) => {
    const [role = name, member] = name.split("/");
    if (member === undefined) return true;
    const { state, tries } = wait.members[name] ?? {};
    const key = `${role} ${state} ${tries}`;
    return !seen.has(key) && seen.add(key);
  });
}

function targets(state: State, may: (way: Way) => boolean): readonly string[] {
  return Object.keys(state.out).filter((to) => state.out[to]?.some(may));
}
