import { loadWorkflow } from "../../src/engine/language/load.ts";
import { type Verification, verify } from "../../src/engine/verify/verify.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { randomWorkflow } from "./random-workflow.ts";

export interface Drawn {
  readonly seed: number;
  readonly text: string;
  readonly workflow: Workflow;
  readonly verification: Verification;
}

export interface Sample {
  /** How many texts were drawn; not all of them load. */
  readonly tried: number;
  readonly loaded: readonly Drawn[];
  readonly proved: readonly Drawn[];
}

/** Draws random workflows until this many of them are proved. */
export function drawSample(provedCount: number, firstSeed: number): Sample {
  const loaded: Drawn[] = [];
  const proved: Drawn[] = [];
  let seed = firstSeed;
  for (; proved.length < provedCount && seed < firstSeed + 10 * provedCount; seed++) {
    const text = randomWorkflow(seed);
    const { workflow, problems } = loadWorkflow(text, `random-${seed}.yml`);
    if (workflow === undefined) continue;
    const drawn = { seed, text, workflow, verification: verify(workflow, problems) };
    loaded.push(drawn);
    if (drawn.verification.proved) proved.push(drawn);
  }
  return { tried: seed - firstSeed, loaded, proved };
}

/** Names the workflow that a check failed for, so that it can be drawn again. */
export function about({ seed, text }: Drawn, what: unknown): string {
  return `${JSON.stringify(what)}\nin the workflow of seed ${seed}:\n${text}`;
}
