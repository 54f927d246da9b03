import { configurationsOf, type Variant } from "../explore/configurations.ts";
import { createWorlds } from "../explore/graph.ts";
import { writeStep } from "../explore/step.ts";
import { takeStep, type World } from "../explore/world.ts";
import { whyBroken } from "../promises.ts";
import type { Example } from "../verify/finding.ts";
import type { AuthorsPromise, Settings, Workflow } from "../workflow.ts";
import { createRandom, type Life, live, type TracedStep, trace } from "./live.ts";

export interface Followed {
  readonly steps: readonly TracedStep[];
  readonly last: World;
  /** Why the example could not be followed to its end; undefined where it could. */
  readonly problem: string | undefined;
  /** The promise that the last step breaks, in the author's words: the daemon would not make that step. */
  readonly breaks?: string;
}

/** Follows a counterexample of `verify` step by step, as real requests to the engine. */
export function follow(whole: Workflow, example: Example): Followed {
  // Of several promises that the last step breaks, the example is about one.
  const isMeant = ({ written }: AuthorsPromise) => example.promise === undefined || written === example.promise;
  const workflow = { ...whole, promises: whole.promises.filter(isMeant) };
  const start = createWorlds(workflow, example.preset, example.settings).find(
    ({ status }) => status === example.created,
  );
  const steps: TracedStep[] = [];
  if (start === undefined) {
    const nowhere = createWorlds(workflow, example.preset, example.settings)[0]?.world as World;
    return { steps, last: nowhere, problem: `No task can be created in "${example.created}".` };
  }
  let world = start.world;
  let broken: AuthorsPromise | undefined;
  for (const [index, plain] of example.steps.entries()) {
    const sections =
      plain.sections &&
      Object.fromEntries(
        Object.entries(plain.sections).map(([heading, body]) => [heading, `${body}\n\nWritten in step ${index + 1}.`]),
      );
    const step = sections === undefined ? plain : { ...plain, sections };
    // Evidence of earlier steps is spent, or was replaced.
    const taken = takeStep(workflow, { ...world, sections: {} }, step);
    if (taken === undefined)
      return { steps, last: world, problem: `Step ${index + 1} was refused: ${writeStep(plain)}.` };
    steps.push(trace(plain, world, taken));
    world = taken.world;
    broken = taken.broken;
  }
  const { status, held } = world.task;
  const isThere = status === example.ends.status && (held !== undefined) === example.ends.held;
  const isKept = example.code === "promise" && broken === undefined;
  return {
    steps,
    last: world,
    problem: !isThere
      ? `It ended in "${status}", not in "${example.ends.status}".`
      : isKept
        ? "Its last step breaks no promise."
        : undefined,
    ...(broken === undefined ? {} : { breaks: `${broken.written}: ${whyBroken(broken)}` }),
  };
}

interface SimulationOptions {
  readonly runs: number;
  readonly seed: number;
  /** Without a preset, each life draws a random preset and random switches. */
  readonly preset?: string;
  readonly settings?: Settings;
  /** Start tasks here only; otherwise wherever the workflow lets them start. */
  readonly start?: string;
  /** Called with every life when it ends. */
  readonly onLife?: (life: Life, index: number) => void;
}

export interface Simulation {
  readonly runs: number;
  readonly seed: number;
  readonly steps: number;
  /** How many lives ended in each state; lives that did not end count under `wedged` and `cut`. */
  readonly ends: Readonly<Record<string, number>>;
  readonly wedged: number;
  readonly cut: number;
  readonly violations: readonly string[];
  /** Each way, and how often it was taken. */
  readonly coverage: readonly Covered[];
}

interface Covered {
  readonly from: string;
  readonly to: string;
  readonly times: number;
}

/** Simulates many random lives. The same workflow, options and seed give the same lives. */
export function simulate(workflow: Workflow, options: SimulationOptions): Simulation {
  const { runs, seed } = options;
  const variants = variantsFor(workflow, options).map(({ preset, settings }) =>
    createWorlds(workflow, preset, settings).filter(
      ({ status }) => options.start === undefined || status === options.start,
    ),
  );
  const times = new Map(workflow.ways.map((way) => [`${way.from}\n${way.to}`, 0]));
  const ends: Record<string, number> = {};
  const violations = new Set<string>();
  let steps = 0;
  let wedged = 0;
  let cut = 0;
  for (let index = 0; index < runs; index++) {
    const random = createRandom(seed + index * 0x10001);
    const starts = variants[Math.floor(random.next() * variants.length)] ?? [];
    // 70 % of the tasks start in the default state.
    const start = starts[random.next() < 0.7 ? 0 : Math.floor(random.next() * starts.length)];
    if (start === undefined) break;
    const life = live(workflow, start.world, random);
    for (const { events } of life.steps) {
      for (const event of events) {
        if (event.type !== "task.moved") continue;
        const key = `${String(event.data.from)}\n${String(event.data.to)}`;
        times.set(key, (times.get(key) ?? 0) + 1);
      }
    }
    for (const violation of life.violations) violations.add(violation);
    steps += life.steps.length;
    if (life.end === "over") ends[life.last.task.status] = (ends[life.last.task.status] ?? 0) + 1;
    else if (life.end === "wedged") wedged++;
    else cut++;
    options.onLife?.(life, index);
  }
  const coverage = [...times].map(([key, count]): Covered => {
    const [from = "", to = ""] = key.split("\n");
    return { from, to, times: count };
  });
  return { runs, seed, steps, ends, wedged, cut, violations: [...violations], coverage };
}

function variantsFor(workflow: Workflow, { preset, settings = {} }: SimulationOptions): readonly Variant[] {
  if (preset !== undefined) return [{ preset, settings }];
  return configurationsOf(workflow).tried.map((variant) => ({
    preset: variant.preset,
    settings: { ...variant.settings, ...settings },
  }));
}
