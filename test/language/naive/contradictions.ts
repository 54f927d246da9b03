import { expect } from "vitest";
import { configurationsOf } from "../../../src/engine/explore/configurations.ts";
import { loadWorkflow } from "../../../src/engine/language/load.ts";
import { verify } from "../../../src/engine/verify/verify.ts";
import { disagreements, graphsOf } from "./disagreements.ts";
import { richWorkflow } from "./rich-workflow.ts";

/** Demands that verify and the naive explorer agree about random workflows, and returns how many of them were proved. */
export function expectNoContradiction(files: number, firstSeed: number, bound: number): number {
  let loaded = 0;
  let proved = 0;
  for (let seed = firstSeed; loaded < files; seed++) {
    const text = richWorkflow(seed);
    const { workflow, problems } = loadWorkflow(text, `rich-${seed}.yml`);
    if (workflow === undefined) continue;
    loaded++;
    const verification = verify(workflow, problems);
    const graphs = verification.proved ? graphsOf(workflow, configurationsOf(workflow).tried) : [];
    proved += Number(verification.proved);
    const found = disagreements({ workflow, verification, graphs }, seed, bound);
    expect(found, `in the workflow of seed ${seed}:\n${text}`).toEqual([]);
  }
  return proved;
}
