import { beforeAll, describe, expect, test } from "vitest";
import { createWorlds } from "../../src/engine/explore/graph.ts";
import { driverOf } from "../../src/engine/explore/step.ts";
import { stimuli } from "../../src/engine/explore/stimuli.ts";
import { takeStep, type World } from "../../src/engine/explore/world.ts";
import { createRandom, live, type Random } from "../../src/engine/simulate/live.ts";
import { follow, simulate } from "../../src/engine/simulate/simulate.ts";
import { candidatesFor } from "../../src/engine/verify/suggest-promises.ts";
import { verify } from "../../src/engine/verify/verify.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { verifyAltered } from "./altered-files.ts";
import { about, type Drawn, drawSample, type Sample } from "./random-sample.ts";

// Checks the proofs of verify against random simulation of random workflows, with the engine that moves real tasks. The
// version with ten thousand lives for each workflow is in test/long.

const workflows = 150;
const lives = 30;
const firstSeed = 2_000;

let sample: Sample = { tried: 0, loaded: [], proved: [] };
beforeAll(() => {
  sample = drawSample(workflows, firstSeed);
}, 300_000);

/** The workflow with the promises that hold according to verify, or with all others that it could state. */
function withPromises({ workflow, verification }: Drawn, holds: boolean): Workflow {
  const held = new Set(verification.suggested.flatMap(({ promises }) => promises));
  // Of two forms of a promise, only the stricter one is named, so the other forms may hold too.
  const promises = candidatesFor(workflow).filter(({ written }) => held.has(written) === holds);
  return { ...workflow, promises };
}

describe("random workflows", () => {
  test("most of them load, and the sample has enough proved and refuted ones", () => {
    expect(sample.proved).toHaveLength(workflows);
    expect(sample.loaded.length / sample.tried).toBeGreaterThan(0.7);
    expect(sample.loaded.length - sample.proved.length).toBeGreaterThan(40);
    const codes = new Set(sample.loaded.flatMap(({ verification }) => verification.findings.map(({ code }) => code)));
    for (const code of [
      "wedge",
      "no-success",
      "rule-cycle",
      "agent-cycle",
      "gate-without-producer",
      "leak",
      "dead-rule",
      "unreachable",
      "held",
    ] as const)
      expect(codes).toContain(code);
  });

  test("no life of a proved workflow is wedged, breaks an invariant or a promise that holds, or never ends", () => {
    let lived = 0;
    for (const drawn of sample.proved) {
      const workflow = withPromises(drawn, true);
      const { runs, wedged, cut, violations, ends } = simulate(workflow, { runs: lives, seed: drawn.seed });
      expect({ wedged, cut, violations }, about(drawn, violations)).toEqual({ wedged: 0, cut: 0, violations: [] });
      expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(runs);
      lived += runs;
    }
    expect(lived).toBe(workflows * lives);
  });

  test("promises of many kinds hold, and each that is broken has a life that can be followed", () => {
    const kinds = new Set<string>();
    let broken = 0;
    for (const drawn of sample.loaded) {
      for (const { promises } of drawn.verification.suggested)
        for (const promise of promises) kinds.add(promise.replace(/^\{ to: \S+ |"## \w+"|by: .*| \}$/g, "").trim());
      if (broken > 100) continue;
      const workflow = withPromises(drawn, false);
      const { findings } = workflow.promises.length === 0 ? { findings: [] } : verify(workflow);
      for (const { code, example } of findings) {
        if (code !== "promise" || example === undefined) continue;
        const { problem, breaks } = follow(workflow, example);
        expect({ problem, breaks: breaks !== undefined }, about(drawn, breaks)).toEqual({
          problem: undefined,
          breaks: true,
        });
        broken++;
      }
    }
    expect(broken).toBeGreaterThan(100);
    expect([...kinds].join()).toMatch(/merged.*|tests.*|gate.*|never_by/);
    expect(kinds.size).toBeGreaterThan(3);
  });

  test("without people, a task of a proved workflow comes to rest: it is over, or a person is asked", () => {
    for (const drawn of sample.proved) {
      for (const { world } of createWorlds(drawn.workflow, "", {})) {
        const random = createRandom(drawn.seed);
        for (let i = 0; i < 20; i++)
          expect(stepsToRest(drawn.workflow, world, random), about(drawn, world.task.status)).toBeLessThan(1_000);
      }
    }
  });

  test("every counterexample can be followed, and every cycle repeated", () => {
    let followed = 0;
    for (const drawn of sample.loaded) {
      for (const { example, code } of drawn.verification.findings) {
        if (example === undefined) continue;
        followed++;
        expect(follow(drawn.workflow, example).problem, about(drawn, code)).toBeUndefined();
        const circle = example.steps.slice(example.steps.length - example.circle);
        const again = { ...example, steps: [...example.steps, ...circle, ...circle, ...circle] };
        expect(follow(drawn.workflow, again).problem, about(drawn, code)).toBeUndefined();
      }
    }
    expect(followed).toBeGreaterThan(200);
  });

  test("from a wedge, no life comes to an end", () => {
    let wedges = 0;
    for (const drawn of sample.loaded) {
      for (const { example, code } of drawn.verification.findings) {
        if (example === undefined || code !== "wedge") continue;
        wedges++;
        const { last } = follow(drawn.workflow, example);
        for (let i = 0; i < 3; i++)
          expect(live(drawn.workflow, last, createRandom(i)).end, about(drawn, code)).not.toBe("over");
      }
    }
    expect(wedges).toBeGreaterThan(0);
  });

  test("where nothing but cancelling is left, no life comes to another end", () => {
    for (const drawn of sample.loaded) {
      for (const { example, code } of drawn.verification.findings) {
        if (example === undefined || code !== "no-success") continue;
        const { last } = follow(drawn.workflow, example);
        for (let i = 0; i < 3; i++) {
          const life = live(drawn.workflow, last, createRandom(i));
          const outcome = drawn.workflow.states[life.last.task.status]?.outcome;
          expect(life.end === "over" && outcome !== "cancelled", about(drawn, code)).toBe(false);
        }
      }
    }
  });

  test("the same seed gives the same workflow, the same findings and the same lives", () => {
    const again = drawSample(10, firstSeed);
    expect(again.loaded.map(({ text }) => text)).toEqual(
      sample.loaded.slice(0, again.loaded.length).map(({ text }) => text),
    );
    expect(again.loaded.map(({ verification }) => verification)).toEqual(
      sample.loaded.slice(0, again.loaded.length).map(({ verification }) => verification),
    );
    for (const { workflow } of again.proved)
      expect(simulate(workflow, { runs: 5, seed: 3 })).toEqual(simulate(workflow, { runs: 5, seed: 3 }));
  });
});

test("built-in files with a line lost, doubled or moved never make verify throw", () => {
  expect(verifyAltered(60)).toBeGreaterThan(6);
}, 300_000);

/**
 * How many steps the engine takes by itself until none is left. In the same position it always takes the same random
 * step, so that in a cycle some choice of steps never leaves it.
 */
function stepsToRest(workflow: Workflow, start: World, random: Random): number {
  const habits = new Map<string, number>();
  let world = start;
  for (let taken = 0; taken < 1_000; taken++) {
    const { status, phase, runs } = world.task;
    const situation = [status, phase, ...Object.keys(runs)].join(" ");
    const habit = habits.get(situation) ?? random.next();
    habits.set(situation, habit);
    const possible = stimuli(workflow, world)
      .filter((step) => driverOf(step, world.task) === "machine")
      .flatMap((step) => takeStep(workflow, world, step) ?? []);
    const next = possible[Math.floor(habit * possible.length)];
    if (next === undefined) return taken;
    world = next.world;
  }
  return 1_000;
}
