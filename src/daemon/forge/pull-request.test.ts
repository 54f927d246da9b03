import { expect, test } from "vitest";
import { renderPullRequestBody } from "./pull-request.ts";

const task = { id: "k2m4p", project: "coffee", number: 12, summary: "Brew better", workflow: "default" };
const nothing = { task, text: "", artifacts: [], effects: [], usage: [], parts: [] };
const usage = { run: "worker#1", inputTokens: 900, outputTokens: 100 };
const ran = (state: "done" | "failed" | "owed", word?: string) => ({
  effect: { action: "run_tests", params: {} },
  state,
  failure: word === undefined ? undefined : { word, reason: "" },
});

test("the body names the task, the evidence for each gate, the tests and the cost", () => {
  const artifacts = [
    { section: "Handoff", role: "worker", commit: "a".repeat(40) },
    { section: "Review", role: "reviewer", commit: "a".repeat(40) },
    { section: "Handoff", role: "worker", commit: "b".repeat(40) },
    { section: "Odd|name", role: "", commit: "" },
  ];
  const body = renderPullRequestBody({
    ...nothing,
    artifacts,
    effects: [ran("done")],
    usage: [{ ...usage, cost: 0.5 }],
  });
  expect(body).toBe(`Brew better

Task coffee#12 (\`k2m4p\`), workflow \`default\`.

| evidence | by | for commit |
| --- | --- | --- |
| Handoff | worker | \`bbbbbbbbbbbb\` |
| Review | reviewer | \`aaaaaaaaaaaa\` |
| Odd\\|name | unknown | – |

**Tests:** passed.
**Cost:** $0.50 (1000 tokens in 1 run).
`);
});

test("the body lists the parts of a plan: done, failed and skipped, with reasons", () => {
  const part = (title: string, outcome: "done" | "failed" | "cancelled" | undefined, reason = "") => ({
    ...{ title, outcome, task: { reason } },
  });
  const parts = [
    part("Cups", "done", "The tests failed once."),
    part("Milk | foam", "failed", "The tests fail:\nfoam.test.js"),
    part("Art", "cancelled", 'Skipped: "Milk" was not done.'),
    part("Sugar", undefined),
  ];
  expect(renderPullRequestBody({ ...nothing, parts })).toContain(`
| part | result | reason |
| --- | --- | --- |
| Cups | done |  |
| Milk \\| foam | failed | The tests fail: foam.test.js |
| Art | skipped | Skipped: "Milk" was not done. |
| Sugar | not finished |  |

**Tests:**`);
});

test("a given text replaces the summary, and the rest stays", () => {
  const body = renderPullRequestBody({ ...nothing, text: " Read this first. \n" });
  expect(body).toMatch(/^Read this first\.\n\nTask coffee#12/);
  expect(body).not.toContain("Brew better");
  expect(body).toContain("No gate has been passed yet.");
});

test.each([
  ["not run by Signalbox.", []],
  ["passed.", [ran("failed", "tests"), ran("done")]],
  ["failed.", [ran("done"), ran("failed", "tests")]],
  ["none were found.", [ran("failed", "untested")]],
  ["did not run to their end.", [ran("failed", "error")]],
  ["not run yet.", [ran("owed")]],
])("tests: %s", (text, effects) => {
  expect(renderPullRequestBody({ ...nothing, effects })).toContain(`**Tests:** ${text}\n`);
});

test.each([
  ["unknown.", []],
  ["unknown (1000 tokens in 1 run).", [{ ...usage, cost: undefined }]],
  [
    "at least $0.50, the rest is unknown (2000 tokens in 1 run).",
    [
      { ...usage, cost: 0.5 },
      { ...usage, cost: undefined },
    ],
  ],
  ["$0.00 (1000 tokens in 1 run).", [{ ...usage, cost: 0 }]],
])("cost: %s", (text, used) => {
  expect(renderPullRequestBody({ ...nothing, usage: used })).toContain(`**Cost:** ${text}\n`);
});
