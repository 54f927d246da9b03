import { createWorlds } from "../explore/graph.ts";
import { type Variant, variantsOf } from "../explore/variants.ts";
import type { Settings, Workflow } from "../workflow.ts";
import { type Life, live } from "./live.ts";
import { createRandom } from "./random.ts";

export interface SimulationOptions {
  readonly runs: number;
  readonly seed: number;
  /** Without a preset, each life draws its own, and its switches too. */
  readonly preset?: string;
  readonly settings?: Settings;
  /** Start tasks here only; otherwise wherever the workflow lets them start. */
  readonly start?: string;
  /** Sees every life as it ends. */
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
  /** Each way, and how often it was gone. */
  readonly coverage: readonly Covered[];
}

export interface Covered {
  readonly from: string;
  readonly to: string;
  readonly times: number;
}

/** Rehearses many lives. The same workflow, options and seed give the same lives. */
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
    // Most tasks start where tasks usually start.
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
  return variantsOf(workflow).map((variant) => ({
    preset: variant.preset,
    settings: { ...variant.settings, ...settings },
  }));
}
