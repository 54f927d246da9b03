import { expect, test } from "vitest";
import { type Circumstances, chooseTurn, holds, readScript } from "./read-script.ts";
import { defaultScript, type When } from "./script.ts";

const at: Circumstances = {
  role: "worker",
  mode: "turn",
  permissions: "full",
  prompt: "Read ## Review and mend it.",
  turn: 2,
  run: 1,
  task: { status: "working", review_round: "1" },
  counter: (name) => (name === "tries" ? 3 : 0),
};

test.each<[When, boolean]>([
  [{}, true],
  [{ status: ["planning", "working"] }, true],
  [{ status: ["planning"] }, false],
  [{ prompt: ["nothing", "## Review"] }, true],
  [{ prompt: ["## Plan"] }, false],
  [{ role: ["reviewer"] }, false],
  [{ mode: ["session"] }, false],
  [{ permissions: ["reduced"] }, false],
  [{ turn: 2, run: 1 }, true],
  [{ turn: 1 }, false],
  [{ run: 2 }, false],
  [{ counter: { tries: 3, other: 0 } }, true],
  [{ counter: { tries: 2 } }, false],
  [{ task: { review_round: "1" } }, true],
  [{ task: { review_round: "2" } }, false],
  [{ status: ["working"], turn: 1 }, false],
])("a turn with the condition %j fits: %s", (when, expected) => {
  expect(holds(when, at)).toBe(expected);
});

test("the first fitting turn is played up to its limit; turns for any role come last", () => {
  const script = readScript(
    "roles: { any: [{ steps: [] }], worker: [{ when: { turn: 9 }, steps: [] }, { times: 2, steps: [] }] }",
    "s.yml",
  );
  expect(chooseTurn(script, at, {})?.key).toBe("worker/1");
  expect(chooseTurn(script, at, { "worker/1": 1 })?.key).toBe("worker/1");
  expect(chooseTurn(script, at, { "worker/1": 2 })?.key).toBe("any/0");
  expect(chooseTurn(script, { ...at, role: "constructor" }, {})?.key).toBe("any/0");
});

test("without a script, a worker in turns takes no way that exists only for sessions", () => {
  const script = readScript(defaultScript, "built in");
  for (const status of ["planning", "working"]) {
    const here = { ...at, task: { status } };
    expect(chooseTurn(script, { ...here, mode: "session" }, {})?.key).toMatch(/^worker/);
    expect(chooseTurn(script, here, {})?.turn.steps.map(({ kind }) => kind)).toEqual(["try", "usage", "say", "marker"]);
  }
});

test("without a script, an agent in turns hands a document over where a stage of the pipeline needs one, and changes nothing in its last stages", () => {
  const script = readScript(defaultScript, "built in");
  const kindsIn = (status: string, permissions: "full" | "reduced") =>
    chooseTurn(script, { ...at, role: "writer", permissions, task: { status } }, {})?.turn.steps.map(
      ({ kind }) => kind,
    );
  expect(kindsIn("CONTEXT_PACK", "reduced")).toEqual(["tool", "usage", "tool"]);
  expect(kindsIn("SPEC", "full")).toEqual(["tool", "usage", "tool"]);
  expect(kindsIn("DOC_REVIEW", "full")).toEqual(["usage", "say", "marker"]);
  expect(kindsIn("IMPLEMENT", "full")).toContain("try");
});

test("without a script, the architect of a team says in its own words what is built, and plans one part of it", () => {
  const script = readScript(defaultScript, "built in");
  const answerIn = (status: string) =>
    chooseTurn(script, { ...at, role: "architect", permissions: "reduced", task: { status } }, {})?.turn.steps.find(
      ({ kind }) => kind === "answer",
    )?.value;
  expect(answerIn("CLARIFYING")).toMatchObject({ status: "ready", message: expect.stringContaining("{summary}") });
  expect(answerIn("PLANNING")).toMatchObject({ subtasks: [{ id: "note", title: "Note: {summary}" }] });
});
