import { expect } from "vitest";
import { configurationsOf } from "../../../src/engine/explore/configurations.ts";
import { explore } from "../../../src/engine/explore/graph.ts";
import { loadWorkflow } from "../../../src/engine/language/load.ts";
import { verify } from "../../../src/engine/verify/verify.ts";
import { disagreements, graphsOf, missedPlace } from "./disagreements.ts";
import { exploreNaively } from "./explorer.ts";
import { richWorkflow } from "./rich-workflow.ts";

// Larger files say little more and take most of the time: about one of twenty-five has more positions with its defaults.
const maxPositions = 400;

/**
 * Demands that verify and the naive explorer agree about random workflows, and returns how many of them were proved. The first
 * disagreement ends the run. `bound` is how many places the naive explorer visits.
 */
export function expectNoContradiction(files: number, firstSeed: number, bound: number): number {
  let loaded = 0;
  let proved = 0;
  let large = 0;
  for (let seed = firstSeed; loaded < files; seed++) {
    const text = richWorkflow(seed);
    const { workflow, problems } = loadWorkflow(text, `rich-${seed}.yml`);
    if (workflow === undefined) continue;
    loaded++;
    const usual = explore(workflow, "", {}, { most: maxPositions });
    if (!usual.complete) {
      large++;
      expect(large, "files that are too large: some count is not bounded").toBeLessThan(6 + loaded / 10);
      continue;
    }
    const about = `in the workflow of seed ${seed}:\n${text}`;
    const naive = exploreNaively(workflow, { preset: "", settings: {} }, bound);
    expect(missedPlace(usual, naive), about).toBeUndefined();
    const verification = verify(workflow, problems);
    const graphs = verification.proved ? graphsOf(workflow, configurationsOf(workflow).tried) : [];
    proved += Number(verification.proved);
    expect(disagreements({ workflow, verification, graphs, naive }, seed, bound), about).toEqual([]);
  }
  return proved;
}
