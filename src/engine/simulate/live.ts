import { apply, type Effect, type TaskEvent } from "../decision.ts";
import { outcomesOf } from "../explore/choices.ts";
import { driverOf, type Step } from "../explore/step.ts";
import { type Taken, takeStep, type World } from "../explore/world.ts";
import { whyBroken } from "../promises.ts";
import type { Task } from "../task.ts";
import { isAccident } from "../when.ts";
import type { State, Workflow } from "../workflow.ts";
import { isDeadEnd } from "./dead-end.ts";
import { possibleRequests } from "./requests.ts";

/** The invariants that a step has broken. They hold for every step of every task in every workflow. */
function violationsOf(workflow: Workflow, before: World, step: Step, taken: Taken): readonly string[] {
  const broken: string[] = [];
  const { task } = taken.world;
  const from = before.task.status;

  let replayed = before.task;
  for (const event of taken.events) replayed = apply(replayed, event);
  if (!sameTask(replayed, task)) broken.push(`Replaying the events of "${step.what}" in "${from}" gives another task.`);
  if (workflow.states[task.status] === undefined) broken.push(`"${task.status}" is not a state of the workflow.`);
  if (workflow.states[from]?.terminal && task.status !== from) broken.push(`A task left "${from}", which is terminal.`);

  const moves = taken.events.filter((event) => event.type === "task.moved");
  if (task.entry !== before.task.entry + moves.length) broken.push("The stays of the task are counted wrong.");
  for (const move of moves) {
    const isKnown = workflow.ways.some((way) => way.from === move.data.from && way.to === move.data.to);
    if (!isKnown)
      broken.push(`A task went from "${String(move.data.from)}" to "${String(move.data.to)}", where there is no way.`);
  }
  broken.push(...runViolations(before, taken));
  if (taken.broken !== undefined)
    broken.push(`A task broke the promise ${taken.broken.written}: ${whyBroken(taken.broken)}`);
  return broken;
}

/** A role has at most one live run, and every live run was started. */
function runViolations(before: World, taken: Taken): readonly string[] {
  const broken: string[] = [];
  const alive = new Set(Object.values(before.task.runs).map((run) => run.key));
  for (const { events, effects } of taken.decisions) {
    for (const event of events) {
      if (event.type === "agent.ended" && typeof event.data.run === "string") alive.delete(event.data.run);
    }
    for (const { action, agent, params } of effects) {
      if (action === "kill_session") alive.clear();
      if (action === "kill_agent") alive.delete(String(params.run));
      if (action !== "spawn_agent" || agent === undefined) continue;
      const name = agent.run.split("#")[0];
      if ([...alive].some((key) => key.split("#")[0] === name)) broken.push(`A second ${agent.role} was started.`);
      alive.add(agent.run);
    }
  }
  const runs = Object.values(taken.world.task.runs).map((run) => run.key);
  for (const key of runs)
    if (!alive.has(key)) broken.push(`The task counts the run ${key} as live, but it was never started.`);
  for (const key of alive)
    if (!runs.includes(key)) broken.push(`The run ${key} is live, but the task has forgotten it.`);
  return broken;
}

function sameTask(a: object, b: object): boolean {
  const keys = Object.keys(b) as (keyof typeof b)[];
  return keys.every((key) => a[key] === b[key]);
}

/** One simulated life of a task, from its creation to its end. */
export interface Life {
  readonly steps: readonly TracedStep[];
  readonly last: World;
  /** over: in a terminal state; wedged: no step was possible, or none led on; cut: stopped at `maxSteps`. */
  readonly end: "over" | "wedged" | "cut";
  readonly violations: readonly string[];
}

export interface TracedStep {
  readonly step: Step;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly held: string;
  readonly effects: readonly Effect[];
  readonly events: readonly TaskEvent[];
  /** The task after the step. */
  readonly task: Task;
}

// After this many steps a person cancels the task wherever possible.
const cancelAfter = 120;
const maxSteps = 2_000;
// After these many steps the simulation looks whether the task can still end.
const looks: ReadonlySet<number> = new Set([200, 500, 1_000]);

/** Simulates a task: at every position it takes one of the possible steps at random. */
export function live(workflow: Workflow, start: World, random: Random): Life {
  const steps: TracedStep[] = [];
  const violations: string[] = [];
  let world = start;
  // Accidents come in clusters: most lives have few, some have many.
  const accidents = random.next() < 0.25 ? 3 : 0.25;
  while (steps.length < maxSteps) {
    if (world.task.phase === "over") return { steps, last: world, end: "over", violations };
    const isDead = looks.has(steps.length) && isDeadEnd(workflow, world);
    const taken = isDead ? undefined : drawStep(workflow, world, random, steps.length, accidents);
    if (taken === undefined) return { steps, last: world, end: "wedged", violations };
    violations.push(...violationsOf(workflow, world, taken.step, taken));
    steps.push(trace(taken.step, world, taken));
    world = taken.world;
  }
  return { steps, last: world, end: isDeadEnd(workflow, world) ? "wedged" : "cut", violations };
}

/** What a step did, for printing. */
export function trace(step: Step, before: World, { events, effects, world }: Taken): TracedStep {
  const moved = events.findLast((event) => event.type === "task.moved");
  const { task } = world;
  const cause = moved === undefined ? "" : String(moved.data.cause);
  return {
    step,
    from: before.task.status,
    to: task.status,
    cause,
    held: task.held?.reason ?? "",
    effects,
    events,
    task,
  };
}

/** Draws a request by its weight, then the facts under which the engine decides about it. */
function drawStep(workflow: Workflow, world: World, random: Random, age: number, accidents: number) {
  const requests = possibleRequests(workflow, world);
  const answered = requests.filter(({ word, by }) => word === "ok" && world.task.runs[by] !== undefined).length;
  const candidates = requests.map((step) => {
    const weight = weightOf(workflow, world.task, step, age, accidents);
    // A schema with many fields does not make its answers more likely than everything else.
    return { step, weight: "answer" in step ? (weight * 3) / Math.max(3, answered) : weight };
  });
  while (candidates.length > 0) {
    const [drawn] = candidates.splice(draw(candidates, random), 1);
    if (drawn === undefined) return undefined;
    const possible = [...outcomesOf(workflow, world, drawn.step)];
    while (possible.length > 0) {
      const [{ step: plain } = drawn] = possible.splice(Math.floor(random.next() * possible.length), 1);
      const step = written(plain, age);
      const taken = takeStep(workflow, world, step);
      if (taken !== undefined) return { ...taken, step };
    }
  }
  return undefined;
}

function draw(candidates: readonly { readonly weight: number }[], random: Random): number {
  let rest = random.next() * candidates.reduce((sum, each) => sum + each.weight, 0);
  for (const [index, { weight }] of candidates.entries()) {
    rest -= weight;
    if (rest < 0) return index;
  }
  return 0;
}

/** Most steps succeed; cancellations are rare until `cancelAfter`. */
function weightOf(workflow: Workflow, task: Task, step: Step, age: number, accidents: number): number {
  if (driverOf(step, task) === "mishap" || step.poolFull || step.isFinal) return 0.02 * accidents;
  const target: State | undefined = step.to === undefined ? undefined : workflow.states[step.to];
  const here = workflow.states[task.status];
  // The engine refuses a move where there is no way, and hears an answer that nobody waits for.
  if (step.to !== undefined && here?.out[step.to] === undefined) return 0.01;
  if (step.what === "reply" && task.wait.turn === undefined && (task.attended || here?.wait.kind !== "human"))
    return 0.01;
  if (step.by === "human" && (target?.outcome === "cancelled" || target?.outcome === "failed"))
    return age > cancelAfter ? 40 : 0.12;
  if (step.by === "human" && step.what === "move") return 0.5;
  if (step.what === "move" || step.word === "ok" || step.what === "continue" || step.what === "reply") return 4;
  if (step.what === "settled") return 8;
  if (step.word !== undefined && isAccident(step.word)) return accidents;
  return 1;
}

/** Makes the sections differ from those of earlier steps, or they would count as spent. */
function written(step: Step, age: number): Step {
  if (step.sections === undefined) return step;
  const sections = Object.fromEntries(
    Object.entries(step.sections).map(([heading, body]) => [heading, `${body}\n\nWritten in step ${age + 1}.`]),
  );
  return { ...step, sections };
}

/** Pseudo-random numbers, the same for the same seed. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      // A Weyl sequence, mixed: every seed gives a full period, and neighbouring seeds share nothing.
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = state ^ (state >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      mixed ^= mixed >>> 15;
      return (mixed >>> 0) / 0x100000000;
    },
  };
}
