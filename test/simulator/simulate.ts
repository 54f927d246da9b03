import { drawCrowd, type PlannedFault, planLife } from "./faults.ts";
import { type Life, type LifeOrder, live } from "./live.ts";
import { aboutPlans } from "./mutants/about-plans.ts";
import { aboutProofs } from "./mutants/about-proofs.ts";
import { aboutStages } from "./mutants/about-stages.ts";
import { foundByLives, type Mutant } from "./mutants/found-by-lives.ts";
import { foundByTests } from "./mutants/found-by-tests.ts";
import { lifeKind } from "./stages.ts";
import type { SimulatedWorkflow } from "./world.ts";

/** The planted bugs that the simulator or a test must find. */
export const mutants: readonly Mutant[] = [
  ...foundByLives,
  ...foundByTests,
  ...aboutPlans,
  ...aboutStages,
  ...aboutProofs,
];

export interface Found {
  readonly seed: number;
  readonly workflow: string;
  readonly violations: readonly string[];
  /** The minimal set of faults, and the trace with them alone. */
  readonly faults: readonly PlannedFault[];
  readonly trace: readonly string[];
}

export interface Totals {
  readonly lives: number;
  readonly ended: number;
  readonly asking: number;
  readonly deaths: number;
  readonly calls: number;
  readonly slept: number;
  readonly found: readonly Found[];
}

/** Runs one life for each seed, each under one of the workflows. Ends early once `most` lives broke a promise. */
export async function simulateFaults(
  workflows: readonly SimulatedWorkflow[],
  seeds: Iterable<number>,
  { most = 1, isCrowded = false } = {},
): Promise<Totals> {
  let [lives, ended, asking, deaths, calls, slept] = [0, 0, 0, 0, 0, 0];
  const found: Found[] = [];
  for (const seed of seeds) {
    const chosen = workflows[seed % workflows.length];
    if (chosen === undefined) break;
    const faults = planLife(seed, lifeKind(chosen));
    const crowd = isCrowded ? drawCrowd(seed) : undefined;
    const life = await live({ seed, faults, crowd, ...chosen }).catch((error: unknown) => {
      throw new Error(`The life of seed ${seed} under ${chosen.name} broke off: ${error}`, { cause: error });
    });
    lives++;
    ended += life.ended;
    asking += life.asking;
    deaths += life.deaths;
    calls += life.calls;
    slept += life.slept;
    if (life.violations.length > 0) found.push(await shrink({ seed, crowd, ...chosen }, faults, life));
    if (found.length >= most) break;
  }
  return { lives, ended, asking, deaths, calls, slept, found };
}

/** Minimises the faults: drops every fault without which the same promise is still broken. */
async function shrink(
  order: Omit<LifeOrder, "faults"> & Pick<SimulatedWorkflow, "name">,
  planned: readonly PlannedFault[],
  first: Life,
): Promise<Found> {
  const promise = promiseOf(first);
  let faults = planned;
  let life = first;
  for (let at = 0; at < faults.length; ) {
    const fewer = faults.toSpliced(at, 1);
    const tried = await live({ ...order, faults: fewer });
    if (promiseOf(tried) !== promise) at++;
    else [faults, life, at] = [fewer, tried, 0];
  }
  return { seed: order.seed, workflow: order.name, violations: life.violations, faults, trace: life.trace };
}

function promiseOf({ violations }: Life): string | undefined {
  return violations[0]?.split(":")[0];
}
