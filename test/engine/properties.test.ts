import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/engine/decide.ts";
import { apply } from "../../src/engine/decision.ts";
import { createWorlds } from "../../src/engine/explore/graph.ts";
import { stimuli } from "../../src/engine/explore/stimuli.ts";
import { factsOf, takeStep, type World } from "../../src/engine/explore/world.ts";
import type { Request } from "../../src/engine/request.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { simulate } from "../../src/engine/simulate/simulate.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { builtIn, drive, loadText } from "./drive.ts";

const folder = new URL("../../workflows/", import.meta.url);
const workflows = readdirSync(folder).map((file) => loadText(readFileSync(new URL(file, folder), "utf8"), file));

/** A workflow, and a task at a random point of its life. */
const position = fc
  .record({ index: fc.nat(workflows.length - 1), seed: fc.nat(), steps: fc.nat(25) })
  .map(({ index, seed, steps }) => {
    const workflow = workflows[index] as Workflow;
    const random = createRandom(seed);
    const worlds = createWorlds(workflow, Object.keys(workflow.presets)[0] ?? "", {});
    let world = worlds[Math.floor(random.next() * worlds.length)]?.world as World;
    for (let i = 0; i < steps; i++) {
      const all = stimuli(workflow, world);
      const step = all[Math.floor(random.next() * all.length)];
      world = (step && takeStep(workflow, world, step)?.world) ?? world;
    }
    return { workflow, world };
  });

/** An arbitrary request, mostly one that does not fit the task's state. */
function requests(workflow: Workflow, task: Task): fc.Arbitrary<Request> {
  const states = fc.constantFrom(...Object.keys(workflow.states), "nowhere", "__proto__", "");
  const runs = fc.constantFrom(...Object.values(task.runs).map((run) => run.key), "worker#0", "nobody#9");
  const roles = fc.constantFrom("human", "engine", "worker", "reviewer", "nobody", ...Object.keys(task.runs));
  const actor = fc.oneof(fc.record({ role: roles }), fc.record({ role: roles, run: runs }));
  const entry = fc.constantFrom(task.entry, task.entry - 1, task.entry + 1);
  const word = fc.constantFrom(
    "ok",
    "exit",
    "error",
    "invalid",
    "stall",
    "step",
    "time",
    "cost",
    "lost",
  ) as fc.Arbitrary<"ok">;
  return fc.oneof(
    fc.record({ kind: fc.constant("move" as const), to: states, actor }),
    fc.record({ kind: fc.constant("continue" as const), actor }),
    fc.record({ kind: fc.constant("reply" as const), actor, text: fc.string() }),
    fc.record({ kind: fc.constant("respawn" as const), actor }),
    fc.record({ kind: fc.constant("ended" as const), run: runs, word, answer: fc.jsonValue() }),
    fc.record({ kind: fc.constant("idle" as const), run: runs }),
    fc.record({ kind: fc.constant("settled" as const), entry }),
    fc.record({ kind: fc.constant("unsettled" as const), entry, action: fc.string(), reason: fc.string() }),
    fc.record({
      kind: fc.constant("did" as const),
      entry,
      word: fc.constantFrom("ok", "error", "tests", "conflict", "unapproved", "nonsense"),
    }),
    fc.record({
      kind: fc.constant("children" as const),
      entry,
      word: fc.constantFrom("ok" as const, "error" as const),
    }),
    fc.record({ kind: fc.constant("limit" as const), word: fc.constantFrom("time" as const, "cost" as const), entry }),
  );
}

const asked = position.chain((at) => requests(at.workflow, at.world.task).map((request) => ({ ...at, request })));
const documents = fc.dictionary(
  fc.constantFrom("Plan", "Handoff", "Review", "Notes"),
  fc.constantFrom("", "DONE: it", "APPROACH: it", "Verdict: PASS", "Verdict: FAIL", "FAIL", "nonsense"),
);

test("the same inputs give the same decision, and the given task is not mutated", () => {
  fc.assert(
    fc.property(asked, documents, ({ workflow, world, request }, sections) => {
      const before = JSON.stringify(world.task);
      const facts = factsOf({ ...world, sections }, {});
      const first = JSON.stringify(decide(workflow, world.task, request, facts));
      const second = JSON.stringify(decide(workflow, structuredClone(world.task), structuredClone(request), facts));
      expect(second).toBe(first);
      expect(JSON.stringify(world.task)).toBe(before);
    }),
    { numRuns: 1_000 },
  );
});

test("a refused request says why and what to do; every change of a granted one is in the events", () => {
  fc.assert(
    fc.property(asked, documents, ({ workflow, world, request }, sections) => {
      const decision = decide(workflow, world.task, request, factsOf({ ...world, sections }, {}));
      if (decision.kind === "rejected") {
        expect(decision.reasons.length).toBeGreaterThan(0);
        for (const reason of decision.reasons) expect(reason.text).toMatch(/[.:]$|:/);
        return;
      }
      if (decision.kind === "ignored") return;
      expect(decision.events.length).toBeGreaterThan(0);
      expect(decision.events.reduce(apply, world.task)).toEqual(decision.task);
      expect(decision.kind === "moved").toBe(decision.events.some((event) => event.type === "task.moved"));
      // A decision must survive a round trip through JSON, as in the store.
      expect(JSON.parse(JSON.stringify(decision.effects))).toEqual(decision.effects);
    }),
    { numRuns: 1_000 },
  );
});

test("an event can change every field of a task, and changes only those it names", () => {
  const { task } = drive(builtIn("default"));
  for (const key of Object.keys(task) as (keyof Task)[]) {
    const other = {
      ...task,
      [key]: key === "held" ? { reason: "", word: "", again: "wait" } : ["other"],
    } as unknown as Task;
    expect(apply(task, { type: "task.settled", by: "engine", data: {}, set: { [key]: other[key] } })).toEqual(other);
  }
  expect(
    apply(
      { ...task, held: { reason: "", word: "", again: "do" } },
      { type: "task.settled", by: "engine", data: {}, set: { held: undefined } },
    ),
  ).toEqual(task);
});

test("replaying all events of a life gives its last task", () => {
  fc.assert(
    fc.property(fc.nat(workflows.length - 1), fc.nat(), (index, seed) => {
      const workflow = workflows[index] as Workflow;
      simulate(workflow, {
        runs: 5,
        seed,
        onLife: (life) => {
          const events = life.steps.flatMap((step) => step.events);
          const first = createWorlds(workflow, life.last.task.preset, life.last.task.settings).map(({ world }) =>
            events.reduce(apply, world.task),
          );
          expect(first.map((task) => JSON.stringify(task))).toContain(JSON.stringify(life.last.task));
        },
      });
    }),
    { numRuns: 60 },
  );
});

test("a thousand lives of default are the same for the same seed, break no invariant, and take every way", () => {
  const life = () => simulate(builtIn("default"), { runs: 1_000, seed: 7 });
  const first = life();
  expect(life()).toEqual(first);
  expect(first).toMatchObject({ wedged: 0, cut: 0, violations: [] });
  expect(first.coverage.filter((way) => way.times === 0)).toEqual([]);
});

/** How many lives reach nearly every way of workflows in which some are taken by one life in thousands. */
const livesWithRareWays: Readonly<Record<string, number>> = { crew: 4_000, team: 4_000, "team-subtask": 8_000 };

for (const workflow of workflows) {
  const rareLives = livesWithRareWays[workflow.name];
  const hasRareWays = rareLives !== undefined;
  const [runs, maxMissed] = hasRareWays ? [rareLives, 2] : [1_000, 0];
  test(`${workflow.name}: ${runs} lives end, break no invariant, and take ${hasRareWays ? "nearly " : ""}every way`, () => {
    const result = simulate(workflow, { runs, seed: 11 });
    expect(result).toMatchObject({ wedged: 0, cut: 0, violations: [] });
    const missed = result.coverage.filter((way) => way.times === 0).map((way) => `${way.from} → ${way.to}`);
    expect(missed.length, missed.join(", ")).toBeLessThanOrEqual(maxMissed);
  });
}
