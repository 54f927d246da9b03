import { expect, test } from "vitest";
import { builtIn, drive, loadText } from "../../test/engine/drive.ts";
import { needsOf } from "./needs.ts";
import { plannedResult, whyFixed } from "./plan-edit.ts";
import { sharedFiles } from "./plan-order.ts";
import type { Request } from "./request.ts";

const team = builtIn("team");
const item = (id: string, needs: readonly string[] = []) => ({ id, title: `Build ${id}`, description: "", needs });
const edit = (items: unknown): Request => ({ kind: "plan", actor: { role: "human" }, items });

/** A task of `team` whose architect has planned, and which waits for a person's approval. */
function planned() {
  const life = drive(team, { settings: { skip_clarification: true, plan_approval: true } });
  life.continue("engine");
  while (life.task.phase === "doing") life.did("ok");
  life.ended("architect", "ok", { subtasks: [item("a"), item("b", ["a"])] });
  return life;
}

const idsOf = ({ task }: ReturnType<typeof planned>) =>
  (task.results.plan as { readonly subtasks: readonly { readonly id: string }[] }).subtasks.map(({ id }) => id);

test("a person changes the plan that waits for approval, and the history counts its items", () => {
  const life = planned();
  expect(life.task.status).toBe("PLANNED");
  expect(whyFixed(team, life.task)).toBeUndefined();
  life.request(edit([item("c"), item("d", ["c"]), item("e")]));
  expect(idsOf(life)).toEqual(["c", "d", "e"]);
  expect(life.events.at(-1)).toMatchObject({ type: "plan.edited", by: "human", data: { items: 3 } });
  expect(life.task.status).toBe("PLANNED");
});

test.each([
  ["an empty plan", [], /must have at least 1 item, but has 0/],
  ["no list", "all of it", /^The plan must be a list/],
  ["an item without a title", [item("a"), { id: "b", description: "" }], /^title of item 2 is missing\./],
  [
    "a misspelled field",
    [{ ...item("a"), need: ["b"] }, item("b")],
    /^Item 1 has a field "need", .* Did you mean "needs"\?$/,
  ],
  [
    "an unknown field",
    [item("b"), { ...item("a"), colour: "red" }],
    /^Item 2 has a field "colour", .* Known: id, title, /,
  ],
  ["a cycle", [item("a", ["b"]), item("b", ["a"])], /a needs b, b needs a\. Remove one of these needs/],
  ["an item that needs itself", [item("a", ["a"])], /a needs itself/],
  ["an unknown need", [item("a", ["z"])], /a needs z, which is not among the items/],
  ["two items with one id", [item("a"), item("a")], /Two items have the id a/],
  ["a file outside of the repository", [{ ...item("a"), files: ["../b"] }], /leads out of the repository/],
  ["a file outside of it in braces", [{ ...item("a"), files: ["{..,src}/b"] }], /leads out of the repository/],
  ["an absolute file", [{ ...item("a"), files: ["/etc/passwd"] }], /is absolute/],
  [
    "more than 500 items",
    Array.from({ length: 501 }, (_, n) => item(`i${n}`)),
    /has 501 items, but may have at most 500/,
  ],
])("%s is refused with one sentence, and the plan stays", (_, items, problem) => {
  const life = planned();
  const before = life.task;
  const decision = life.request(edit(items));
  expect(decision).toMatchObject({
    kind: "rejected",
    reasons: [{ code: "bad-value", fix: expect.stringMatching(/\S/) }],
  });
  expect(decision.kind === "rejected" ? decision.reasons[0]?.text : "").toMatch(problem);
  expect(life.task).toEqual(before);
});

test("an agent's plan with a misspelled field goes back to the agent, and its other fields are ignored", () => {
  const plan = (more: object) => {
    const life = drive(team, { settings: { skip_clarification: true, plan_approval: true } });
    life.continue("engine");
    while (life.task.phase === "doing") life.did("ok");
    life.ended("architect", "ok", { subtasks: [item("a"), { ...item("b"), ...more }] });
    return life.task;
  };
  expect(plan({ estimate: 3 }).status).toBe("PLANNED");
  expect(plan({ need: ["a"] })).toMatchObject({
    ...{ status: "PLANNING", reason: expect.stringMatching(/subtasks\[1\] has a field "need".*"needs"/) },
  });
  expect(plan({ depends_on: ["a"] }).status).toBe("PLANNING");
  // Every object of JavaScript has this.
  expect(plan({ constructor: "b" }).status).toBe("PLANNED");
});

test("a plan that needs no approval cannot be changed while the task passes that state", () => {
  const { task } = planned();
  expect(whyFixed(team, { ...task, wait: { ...task.wait, skipped: true } })?.code).toBe("not-waiting");
});

test("a person who is asked to approve a plan is shown the command that shows it", () => {
  const { task } = planned();
  const facts = { task, workflow: team, changedAt: 0, now: 0, runs: [], messages: [], known: new Map(), questions: "" };
  const [need] = needsOf(facts as never);
  expect(need).toMatchObject({
    command: `signalbox task plan ${task.id}`,
    fix: expect.stringContaining(`signalbox task plan ${task.id} --approve`),
  });
});

test("items that share a file are named if they may be built at the same time", () => {
  const named = (id: string, files: readonly string[], needs: readonly string[] = []) => ({
    ...{ ...item(id, needs), files, size: "M" as const },
  });
  const plan = [
    named("a", ["src/app.ts"]),
    named("b", ["src/**"]),
    named("c", ["src/app.ts"], ["b"]),
    named("d", ["docs/x.md"], ["c"]),
    named("e", ["src/app.ts"], ["d", "a"]),
    // Written before what it needs.
    named("f", ["docs/x.md"], ["g"]),
    named("g", ["docs/x.md"], ["d"]),
  ];
  expect(sharedFiles(plan)).toEqual([
    { one: "a", other: "b", file: "src/app.ts" },
    { one: "a", other: "c", file: "src/app.ts" },
  ]);
});

test("of two plans, the one whose parts are still to come can be changed", () => {
  const workflow = loadText(`
version: 1
states:
  first: { agent: { role: planner, mode: turn, prompt: plan, result: one }, next: building }
  building: { fan_out: { from: one.parts, workflow: team-subtask }, next: second }
  second: { agent: { role: planner, mode: turn, prompt: plan, result: two }, next: asking }
  asking: { waits_for: human, next: extending }
  extending: { fan_out: { from: two.parts, workflow: team-subtask }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
prompts: { plan: Plan }
schemas: { one: { type: object, properties: { parts: { type: array } } }, two: { type: object, properties: { parts: { type: array } } } }
`);
  const { task } = drive(workflow);
  const results = { one: { parts: [item("a")] }, two: { parts: [item("b")] } };
  expect(plannedResult(workflow, { ...task, status: "asking", results })).toMatchObject({
    ...{ state: "extending", result: results.two },
  });
  expect(plannedResult(workflow, { ...task, status: "first", results })?.state).toBe("building");
  expect(plannedResult(workflow, { ...task, status: "done", results })?.state).toBe("building");
});
