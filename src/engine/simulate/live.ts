import type { Effect, TaskEvent } from "../decision.ts";
import type { Step } from "../explore/step.ts";
import { stimuli } from "../explore/stimuli.ts";
import { type Taken, takeStep, type World } from "../explore/world.ts";
import type { Task } from "../task.ts";
import { isAccident } from "../words.ts";
import type { State, Workflow } from "../workflow.ts";
import { violationsOf } from "./invariants.ts";
import type { Random } from "./random.ts";

/** One rehearsed life of a task, from its creation to its end. */
export interface Life {
  readonly steps: readonly TracedStep[];
  readonly last: World;
  /** over: in a terminal state; wedged: nothing could happen any more; cut: it was still going on. */
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
  /** As it is afterwards. */
  readonly task: Task;
}

// After this many steps people lose patience and cancel where they can.
const patience = 120;
const mostSteps = 2_000;

/** Lets a task live: at every point one of the things that can happen is drawn by lot. */
export function live(workflow: Workflow, start: World, random: Random): Life {
  const steps: TracedStep[] = [];
  const violations: string[] = [];
  let world = start;
  // Accidents come in clusters: most lives see few, some see one after the other.
  const accidents = random.next() < 0.25 ? 3 : 0.25;
  while (steps.length < mostSteps) {
    if (world.task.phase === "over") return { steps, last: world, end: "over", violations };
    const taken = drawStep(workflow, world, random, steps.length, accidents);
    if (taken === undefined) return { steps, last: world, end: "wedged", violations };
    violations.push(...violationsOf(workflow, world, taken.step, taken));
    steps.push(trace(taken.step, world, taken));
    world = taken.world;
  }
  return { steps, last: world, end: "cut", violations };
}

/** What a step did, for those who want to see it. */
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

function drawStep(workflow: Workflow, world: World, random: Random, age: number, accidents: number) {
  const candidates = stimuli(workflow, world).map((step) => ({
    step,
    weight: weightOf(workflow, step, age, accidents),
  }));
  while (candidates.length > 0) {
    const [drawn] = candidates.splice(draw(candidates, random), 1);
    if (drawn === undefined) return undefined;
    const step = written(drawn.step, age);
    const taken = takeStep(workflow, world, step);
    if (taken !== undefined) return { ...taken, step };
  }
  return undefined;
}

function draw(candidates: readonly { readonly weight: number }[], random: Random): number {
  let lot = random.next() * candidates.reduce((sum, each) => sum + each.weight, 0);
  for (const [index, { weight }] of candidates.entries()) {
    lot -= weight;
    if (lot < 0) return index;
  }
  return 0;
}

/** Mostly things go well; cancellations are rare, but happen. */
function weightOf(workflow: Workflow, step: Step, age: number, accidents: number): number {
  const target: State | undefined = step.to === undefined ? undefined : workflow.states[step.to];
  if (step.by === "human" && (target?.outcome === "cancelled" || target?.outcome === "failed"))
    return age > patience ? 40 : 0.05;
  if (step.by === "human" && step.what === "move") return 0.5;
  if (step.what === "move" || step.word === "ok" || step.what === "continue" || step.what === "reply") return 4;
  if (step.what === "settled") return 8;
  if (step.word !== undefined && isAccident(step.word)) return accidents;
  return 1;
}

/** What is written now is new: it must not look like what an earlier round wrote. */
function written(step: Step, age: number): Step {
  if (step.sections === undefined) return step;
  const sections = Object.fromEntries(
    Object.entries(step.sections).map(([heading, body]) => [heading, `${body}\n\nWritten in step ${age + 1}.`]),
  );
  return { ...step, sections };
}
