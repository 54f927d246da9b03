import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { follow, simulate } from "../../src/engine/simulate/simulate.ts";
import { check, edit, faults } from "./workflow-texts.ts";

// Edits that are harmless for the question whether every task ends, and a disaster for a team.

const folder = join(import.meta.dirname, "broken-promises");
const read = (name: string) => readFileSync(join(folder, `${name}.yaml`), "utf8");
const twins = ["sessions", "turns"];
const edited = readdirSync(folder)
  .map((file) => file.replace(/\.yaml$/, ""))
  .filter((name) => !twins.includes(name));

const done = "{ to: done, after: { merged: true } }";
const judged = (to: string) => `{ to: ${to}, after: { gate: "## Review", verdict: PASS, by: [reviewer, human] } }`;

const broken: Readonly<Record<string, readonly string[]>> = {
  "agent-cancels": ["{ to: cancelled, never_by: [worker, reviewer] }"],
  "coder-judges-itself": [
    "{ to: merging, after: { result: { good: true }, by: critic } }",
    "{ to: done, after: { result: { good: true }, by: critic } }",
    "{ role: critic, never_same_run_as: coder }",
    "{ to: merging, after: { tests: passed } }",
  ],
  "crashed-reviewer-passes": [judged("reviewing")],
  "done-without-merge": [done],
  "red-tests-merge": ["{ to: merging, after: { tests: passed } }"],
  "worker-straight-to-done": [done, "{ to: done, never_by: [worker, reviewer] }", judged("done")],
};

test("every edited file is listed", () => {
  expect(edited.sort()).toEqual(Object.keys(broken).sort());
});

test.each(twins)("%s keeps its promises, and no random life breaks one", (name) => {
  const { workflow, verification } = check(read(name), `${name}.yaml`);
  expect(faults(verification)).toEqual([]);
  expect(new Set(verification.promises.map(({ result }) => result))).toEqual(new Set(["proved"]));
  expect(verification.proved).toBe(true);
  expect(simulate(workflow, { runs: 300, seed: 7 }).violations).toEqual([]);
});

describe("an edit that breaks promises is found, with a life that can be followed", () => {
  test.each(edited)("%s", (name) => {
    const { workflow, verification } = check(read(name), `${name}.yaml`);
    const found = verification.promises.flatMap(({ promise, result }) => (result === "broken" ? [promise] : []));
    expect(found.sort()).toEqual([...(broken[name] ?? [])].sort());
    expect(verification.proved).toBe(false);
    for (const { code, message, example } of verification.findings) {
      expect(code === "promise" || code === "held").toBe(true);
      if (code !== "promise" || example === undefined) continue;
      const { problem, breaks = "" } = follow(workflow, example);
      expect(problem).toBeUndefined();
      expect(found).toContain(example.promise);
      expect(breaks.startsWith(`${example.promise}: `)).toBe(true);
      expect(message).toContain("does not hold");
    }
  });
});

describe("a task that is created in the middle of the workflow", () => {
  const file = (initial: string, judge: string) => `version: 1
${initial}roles: { coder: { mode: turn, prompt: p }, critic: { mode: turn, permissions: reduced, prompt: p, result: r } }
states:
  todo: { waits_for: slot, do: [acquire_workspace], next: build }
  build: { agent: { role: coder }, next: judge }
  judge: { agent: { role: critic }, outcomes: [${judge}] }
  merge: { do: [merge, release_workspace], next: done }
  done: { terminal: true }
schemas: { r: { type: object, required: [good], properties: { good: { type: boolean } } } }
promises: [{ to: done, after: { result: { good: true }, by: critic } }]
prompts: { p: x }
`;
  const good = "{ result: { good: true }, then: merge }";
  const findingOf = (text: string) => {
    const { workflow, verification } = check(text);
    const [found] = verification.findings.filter(({ code }) => code === "promise");
    if (found?.example !== undefined) expect(follow(workflow, found.example).problem).toBeUndefined();
    return found;
  };

  test("breaks a promise in a life of its own, which can be followed, and the fix names `initial`", () => {
    expect(findingOf(file("initial: todo\n", good))).toBeUndefined();
    for (const initial of ["", "initial: [todo, merge]\n"]) {
      const found = findingOf(file(initial, good));
      expect(found?.example).toMatchObject({ created: "merge", route: ["merge", "done"] });
      expect(found?.fix).toContain(
        'This task is created in "merge": if tasks start in "todo" only, say initial: todo.',
      );
    }
  });

  test("does not hide how an ordinary task breaks it", () => {
    const found = findingOf(file("", `${good}, { on: failed, then: merge }`));
    expect(found?.example).toMatchObject({ created: "todo", route: ["todo", "build", "judge", "merge", "done"] });
    expect(found?.fix).not.toContain("initial");
  });
});

test("a file is not proved while one of its promises is not", () => {
  const { verification } = check(
    edit(read("sessions"), "{ within: 3, of: agent-review }", "{ within: 1000000, of: agent-review }"),
  );
  const { promises, proved, findings } = verification;
  expect(promises.at(-1)?.result).toBe("unproved");
  expect(proved).toBe(false);
  const [finding] = findings.filter(({ code }) => code === "unexplored");
  expect(finding?.message).toContain("{ within: 1000000, of: agent-review }");
});

describe("a verdict is about the work as it was", () => {
  const strict = edit(
    edit(read("sessions"), "ask: Review it yourself, next: reviewing", "ask: Say what is wrong, next: working"),
    "promises:\n",
    'promises:\n  - { to: done, after: { gate: "## Review", verdict: PASS, by: reviewer } }\n',
  );
  const resultOf = (text: string) => check(text).verification.promises[0];

  test("an agent that stays at work after the verdict may commit, and the verdict no longer counts", () => {
    expect(resultOf(strict)).toMatchObject({ result: "broken" });
  });

  test("where nobody is at work after the verdict, it counts", () => {
    expect(resultOf(edit(strict, "mode: session, keep: true", "mode: session"))).toMatchObject({ result: "proved" });
  });

  test("an action that commits after the verdict makes it old", () => {
    const harvested = edit(
      edit(strict, "mode: session, keep: true", "mode: session"),
      "ask: Merge, next: done",
      "ask: Merge, do: [harvest_uncommitted], next: done",
    );
    expect(resultOf(harvested)).toMatchObject({ result: "broken" });
  });

  test("parts that are merged into the work after the verdict make it old, and parts before it do not", () => {
    const fannedOut = (judge: string, parts: string) => `version: 1
initial: todo
roles:
  planner: { mode: turn, prompt: p, result: plan }
  critic: { mode: turn, permissions: reduced, prompt: p, result: r }
states:
  todo: { waits_for: slot, do: [acquire_workspace], next: plan }
  plan: { agent: { role: planner }, next: ${judge === "merge" ? "parts" : "judge"} }
  judge: { agent: { role: critic }, outcomes: [{ result: { good: true }, then: ${judge} }] }
  parts: { fan_out: { from: plan.parts, workflow: part }, next: ${parts} }
  merge: { do: [merge, release_workspace], next: done }
  done: { terminal: true }
schemas:
  plan: { type: object, required: [parts], properties: { parts: { type: array } } }
  r: { type: object, required: [good], properties: { good: { type: boolean } } }
promises: [{ to: done, after: { result: { good: true }, by: critic } }]
prompts: { p: x }
`;
    expect(resultOf(fannedOut("parts", "merge"))).toMatchObject({ result: "broken" });
    expect(resultOf(fannedOut("merge", "judge"))).toMatchObject({ result: "proved" });
  });

  test("a person's move counts where the promise names people, and nowhere else", () => {
    const person = edit(
      read("sessions"),
      "verdict: PASS, by: [reviewer, human] } }\n  - { to: reviewing",
      "verdict: PASS, by: reviewer } }\n  - { to: reviewing",
    );
    expect(check(person).verification.promises.map(({ result }) => result)).toEqual([
      ...["proved", "proved", "broken", "proved", "proved", "proved", "proved"],
    ]);
  });
});

test("answers that no rule compares are tried with the values that a promise names", () => {
  const text = edit(
    read("turns"),
    "outcomes: [{ result: { good: true }, then: merging }, { result: { good: false }, when: visits < 3, then: build }]",
    "outcomes: [{ on: ok, then: merging }]",
  );
  const broken = check(text).verification.promises.filter(({ result }) => result === "broken");
  expect(broken.map(({ promise }) => promise)).toEqual([
    // A run whose answer decides nothing is no judge, so it works in the task's workspace.
    "{ to: merging, after: { tests: passed } }",
    "{ to: merging, after: { result: { good: true }, by: critic } }",
    "{ to: done, after: { result: { good: true }, by: critic } }",
  ]);
});

test("a promise is not proved where not everything is explored", () => {
  const switches = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `is_${name}`);
  const text = `version: 1
settings: { ${switches.map((name) => `${name}: { default: false }`).join(", ")} }
states:
  a: { waits_for: human, outcomes: [{ when: [${switches.map((name) => `${name} == true`).join(", ")}], then: done }], next: done }
  done: { terminal: true }
promises: [{ to: done, never_by: engine }]
`;
  expect(check(text).verification.promises).toEqual([
    { promise: "{ to: done, never_by: engine }", result: "unproved" },
  ]);
});

describe("a file without a promise about its done tasks", () => {
  const silent = (name: string) => read(name).replace(/^promises:\n[\s\S]*$/m, "");

  test.each([
    [
      "sessions",
      ["{ to: done, after: { merged: true } }", judged("done"), "{ to: done, never_by: [worker, reviewer] }"],
    ],
    [
      "turns",
      [
        "{ to: done, after: { merged: true } }",
        "{ to: done, after: { tests: passed } }",
        "{ to: done, after: { result: { good: true }, by: critic } }",
        "{ to: done, never_by: [coder, critic] }",
      ],
    ],
    ["worker-straight-to-done", []],
    [
      "red-tests-merge",
      [
        "{ to: done, after: { merged: true } }",
        "{ to: done, after: { result: { good: true }, by: critic } }",
        "{ to: done, never_by: [coder, critic] }",
      ],
    ],
  ])("%s is told which promises hold today", (name, promises) => {
    const { verification } = check(silent(name));
    expect(verification.promises).toEqual([]);
    expect(verification.suggested).toEqual(promises.length === 0 ? [] : [{ to: "done", promises }]);
  });

  test("a file that has such a promise is told nothing", () => {
    expect(check(read("turns")).verification.suggested).toEqual([]);
  });
});
