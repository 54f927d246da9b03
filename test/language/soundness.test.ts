import { describe, expect, test } from "vitest";
import { createWorlds } from "../../src/engine/explore/graph.ts";
import { type Taken, takeStep, type World } from "../../src/engine/explore/world.ts";
import { follow, simulate } from "../../src/engine/simulate/simulate.ts";
import { play, started } from "./stage.ts";
import { check, faults, load } from "./workflow-texts.ts";

const roles = `roles:
  coder: { mode: turn, prompt: p, result: r }
  author: { mode: session, prompt: p }
schemas: { r: { type: object, required: [score], properties: { score: { type: integer }, kind: { type: string } } } }
prompts: { p: x }
`;
const ends = `
  done: { terminal: true }
  broken: { terminal: true, outcome: failed }
`;
const file = (states: string, more = "") => `version: 1\ninitial: a\n${more}${roles}states:${states}${ends}`;

describe("a file in which a task can get lost is not proved, and the example can be followed", () => {
  test.each([
    [
      "with a value that only a task sets",
      `${file("\n  a: { agent: { role: coder }, outcomes: [{ on: failed, then: done }, { on: ok, when: rounds > 0, then: done }, { on: ok, then: b }] }\n  b:", "settings: { rounds: { default: 2, min: 0 } }\n")}transitions: [{ from: b, to: done, by: human, when: rounds > 0 }]\n`,
      "error wedge b",
    ],
    [
      "beyond a constant above 3",
      `${file("\n  a: { waits_for: human, next: b }\n  b: { outcomes: [{ when: n >= 6, then: c }], next: a }\n  c:")}transitions: [{ from: a, to: done, by: human }, { from: b, to: a, hooks: [{ action: increment, field: n }] }, { from: c, to: done, by: human, when: n < 6 }]\n`,
      "error wedge c",
    ],
    [
      "behind a fact that cannot hold there",
      `${file("\n  a:")}transitions: [{ from: a, to: done, by: human, when: children_done > 0 }]\n`,
      "error wedge a",
    ],
    [
      "after an answer with a certain number",
      `${file("\n  a: { agent: { role: coder }, outcomes: [{ result: { score: 7 }, then: b }, { on: ok, when: visits > 0, then: done }, { on: failed, then: done }] }\n  b:")}`,
      "error wedge b",
    ],
    ["because every end is a failure", `${file("\n  a: { waits_for: human, next: broken }")}`, "error no-success a"],
  ])("%s", (_what, text, fault) => {
    const { workflow, verification } = check(text);
    expect(faults(verification)).toContain(fault);
    expect(verification.proved).toBe(false);
    for (const { example } of verification.findings)
      if (example !== undefined) expect(follow(workflow, example).problem).toBeUndefined();
  });
});

test("a session with work behind it is proved, and its gate is open after the work", () => {
  const text = `${file("\n  a: { agent: { role: author }, do: [harvest_uncommitted], next: done }")}transitions: [{ from: a, to: done, by: author, gate: { section: "## Handoff" } }]\n`;
  const { verification } = check(text);
  expect(faults(verification)).toEqual(["warning leak done", "warning unreachable broken"]);
  expect(verification.proved).toBe(true);
});

test("visits of a state count while the task is in another", () => {
  const text = file(
    "\n  a: { agent: { role: coder }, outcomes: [{ on: ok, when: visits < 3, then: b }, { on: ok, then: done }, { on: failed, then: broken }] }\n  b: { agent: { role: coder }, outcomes: [{ on: ok, then: a }, { on: failed, then: broken }] }",
  );
  expect(faults(check(text).verification)).toEqual(["warning leak done", "warning leak broken"]);
});

test("a judge that fails twice before the move to its panel has settled is not started again", () => {
  const text = `version: 1
initial: a
roles: { scout: { mode: turn, prompt: p, result: r }, judge: { mode: turn, prompt: p, result: r, limits: { attempts: 2 } } }
schemas: { r: { type: object, required: [good], properties: { good: { type: boolean } } } }
prompts: { p: x }
states:
  a: { panel: { members: { role: scout }, judge: { role: judge } }, outcomes: [{ on: ok, then: done }, { on: failed, then: broken }] }
  done: { terminal: true }
  broken: { terminal: true, outcome: failed }
`;
  const workflow = load(text);
  let world = createWorlds(workflow, "", {})[0]?.world as World;
  const end = (by: string, word: string, more = {}) => {
    world = (takeStep(workflow, world, { what: "ended", by, word, ...more }) as Taken).world;
    return world.task;
  };
  const [scout = ""] = Object.keys(world.task.runs);
  end(scout, "ok", { answer: { good: true } });
  expect(end("judge", "error")).toMatchObject({ status: "a", phase: "entering", crashCount: 1 });
  expect(end("judge", "error").status).toBe("broken");
});

test("more steps than a thousand end a stepped run", () => {
  const text = file(
    "\n  a: { agent: { role: author, mode: steps, prompt: p, limits: { steps: 5000 } }, outcomes: [{ on: [ok, steps], then: done }, { on: failed, then: broken }] }",
  );
  expect(faults(check(text).verification)).toEqual(["warning leak done", "warning leak broken"]);
});

test("an agent that a person starts during the work is ended before the state starts it again", () => {
  const text = `${file("\n  a: { agent: { role: coder }, evidence: commits > 0, do: [harvest_uncommitted], next: done, respawn_prompt: p }")}`;
  const stage = play(load(text));
  stage.end("coder", "ok", { answer: { score: 1 } });
  stage.take({ what: "respawn", by: "human" });
  stage.take({ what: "did", by: "engine", word: "ok" });
  expect(stage.effects.map(({ action }) => action)).toEqual(["kill_agent", "spawn_agent"]);
  expect(started(stage.effects)).toHaveLength(1);
});

test("a simulated life is wedged where steps are possible and none of them leads to an end", () => {
  const text = `version: 1
states: { todo: {}, limbo: {}, shipped: { terminal: true } }
transitions: [{ from: todo, to: limbo, by: human }, { from: todo, to: shipped, by: human }]
`;
  const { runs, ends, wedged, cut } = simulate(load(text), { runs: 20, seed: 7 });
  expect(cut).toBe(0);
  expect(wedged).toBeGreaterThan(5);
  expect(wedged + (ends.shipped ?? 0)).toBe(runs);
});
