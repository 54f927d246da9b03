import { createWorlds } from "../explore/graph.ts";
import { writeStep } from "../explore/step.ts";
import { takeStep, type World } from "../explore/world.ts";
import type { Example } from "../verify/finding.ts";
import type { Workflow } from "../workflow.ts";
import { type TracedStep, trace } from "./live.ts";

export interface Followed {
  readonly steps: readonly TracedStep[];
  readonly last: World;
  /** Why the example could not be followed to its end; undefined where it could. */
  readonly problem: string | undefined;
}

/** Follows a counterexample of `verify` step by step, as real requests to the engine. */
export function follow(workflow: Workflow, example: Example): Followed {
  const start = createWorlds(workflow, example.preset, example.settings).find(
    ({ status }) => status === example.created,
  );
  const steps: TracedStep[] = [];
  if (start === undefined) {
    const nowhere = createWorlds(workflow, example.preset, example.settings)[0]?.world as World;
    return { steps, last: nowhere, problem: `No task can be created in "${example.created}".` };
  }
  let world = start.world;
  for (const [index, plain] of example.steps.entries()) {
    const sections =
      plain.sections &&
      Object.fromEntries(
        Object.entries(plain.sections).map(([heading, body]) => [heading, `${body}\n\nWritten in step ${index + 1}.`]),
      );
    const step = sections === undefined ? plain : { ...plain, sections };
    const taken = takeStep(workflow, world, step);
    if (taken === undefined)
      return { steps, last: world, problem: `Step ${index + 1} was refused: ${writeStep(plain)}.` };
    steps.push(trace(plain, world, taken));
    world = taken.world;
  }
  const { status, held } = world.task;
  const isThere = status === example.ends.status && (held !== undefined) === example.ends.held;
  return {
    steps,
    last: world,
    problem: isThere ? undefined : `It ended in "${status}", not in "${example.ends.status}".`,
  };
}
