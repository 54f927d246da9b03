import { describe, expect, test } from "vitest";
import { follow, simulate } from "../../src/engine/simulate/simulate.ts";
import { verifyAltered } from "../language/altered-files.ts";
import { about, drawSample } from "../language/random-sample.ts";
import { builtIn, builtInNames, load } from "../language/workflow-texts.ts";

// Like test/language/random-workflows.test.ts, with larger numbers. SIGNALBOX_SEED chooses another seed.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const workflows = Number(process.env.SIGNALBOX_WORKFLOWS ?? 150);
const lives = Number(process.env.SIGNALBOX_LIVES ?? 10_000);

test(`no life of ${workflows} proved random workflows is wedged or breaks an invariant, ${lives} lives each`, () => {
  const { loaded, proved } = drawSample(workflows, seed);
  expect(proved).toHaveLength(workflows);
  for (const drawn of loaded) {
    for (const { example, code } of drawn.verification.findings) {
      if (example !== undefined) expect(follow(drawn.workflow, example).problem, about(drawn, code)).toBeUndefined();
    }
  }
  for (const drawn of proved) {
    const { wedged, cut, violations } = simulate(drawn.workflow, { runs: lives, seed: drawn.seed });
    expect({ wedged, cut, violations }, about(drawn, violations)).toEqual({ wedged: 0, cut: 0, violations: [] });
  }
});

describe("no life of a built-in workflow is wedged or breaks an invariant", () => {
  test.each(builtInNames)("%s", (name) => {
    const { wedged, cut, violations } = simulate(load(builtIn(name), `${name}.yml`), { runs: lives, seed });
    expect({ wedged, cut, violations }).toEqual({ wedged: 0, cut: 0, violations: [] });
  });
});

test("built-in files with a line lost, doubled or moved never make verify throw", () => {
  expect(verifyAltered(500)).toBeGreaterThan(50);
});
