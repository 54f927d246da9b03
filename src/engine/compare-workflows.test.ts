import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtIn, edit, load } from "../../test/language/workflow-texts.ts";
import { compareWorkflows, droppedPromises } from "./compare-workflows.ts";
import type { Workflow } from "./workflow.ts";

const folder = join(import.meta.dirname, "..", "..", "test", "language", "broken-promises");
const read = (name: string) => readFileSync(join(folder, `${name}.yaml`), "utf8");
const sessions = load(read("sessions"));
const none = { added: [], dropped: [] };
const nothing = { promises: none, states: none, work: none, ways: none, rules: none, settings: none };

test("another name and other prompts are no difference", () => {
  const other = edit(edit(read("sessions"), "name: sessions", "name: other"), "Build it.", "Build it well.");
  expect(compareWorkflows(sessions, load(other))).toEqual(nothing);
});

test("a way that is new, and one that asks for less, are told", () => {
  const straight = compareWorkflows(sessions, load(read("worker-straight-to-done")));
  expect(straight).toMatchObject({ promises: none, states: none, rules: none });
  expect(straight.ways).toEqual({ added: ["working → done by anyone (release_workspace)"], dropped: [] });
  expect(compareWorkflows(sessions, load(read("done-without-merge"))).ways).toEqual({
    added: ["reviewing → done by human (release_workspace)"],
    dropped: ["reviewing → done by human, merged == true (release_workspace)"],
  });
});

test("a rule that leads elsewhere is told", () => {
  const { rules } = compareWorkflows(sessions, load(read("crashed-reviewer-passes")));
  expect(rules).toEqual({
    added: ["agent-review ends with failed is held, after 1 failures → reviewing"],
    dropped: ["agent-review ends with failed → stuck"],
  });
});

const turns = read("turns").split("promises:")[0] ?? "";
test.each([
  ["do: [merge, release_workspace]", "do: [release_workspace]", "work", "merging does release_workspace"],
  ["todo: { waits_for: slot", "todo: { waits_for: human", "work", "todo waits for a person"],
  ["build: { agent", "build: { unless: merged == true, agent", "work", "build is skipped if merged == true"],
  ["build: { agent", "build: { evidence: new_commits > 0, agent", "work", "build demands new_commits > 0"],
  ["build: { agent", "build: { limits: { attempts: 9 }, agent", "work", "build limits attempts: 9"],
  [
    "agent: { role: critic }",
    "agent: { role: coder, result: verdict }",
    "work",
    "judge waits for coder (turn; full permissions; result: verdict)",
  ],
  [
    "permissions: reduced",
    "permissions: full",
    "work",
    "judge waits for critic (turn; full permissions; result: verdict)",
  ],
  [
    "mode: turn, prompt: build",
    "mode: turn, prompt: build, tools: [Bash, Read]",
    "work",
    "build waits for coder (turn; full permissions; tools: Bash, Read)",
  ],
  [
    "on: tests, when: visits < 3",
    "on: tests, when: visits < 9",
    "rules",
    "testing ends with tests if visits < 9 → build",
  ],
  ["done: { terminal: true }", "done: { terminal: true, outcome: failed }", "states", "done ends tasks as failed"],
  ["initial: todo", "initial: [todo, merging]", "settings", "tasks start in todo, merging"],
  [
    "required: [good]",
    "required: []",
    "settings",
    'schema verdict: {"type":"object","required":[],"properties":{"good":{"type":"boolean"}}}',
  ],
  ["schemas:", "limits: { cost: 5 }\nschemas:", "settings", "limits cost: 5"],
  ["schemas:", "settings: { rounds: { default: 2, max: 4 } }\nschemas:", "settings", "settings rounds max: 4"],
  [
    "hooks: [kill_session, release_workspace]",
    "hooks: [{ action: run_command, command: [curl, evil] }]",
    "ways",
    "todo → cancelled by human (run_command command=curl,evil)",
  ],
] as const)("%s, changed to %s, is told", (from, to, part, line) => {
  const found = compareWorkflows(load(turns), load(edit(turns, from, to)));
  expect(found[part].added).toContain(line);
  expect(found).toEqual({ ...nothing, [part]: found[part] });
});

test("a gate that asks for fewer fields, and a panel with fewer prompts, are told", () => {
  const gated = edit(read("sessions"), 'section: "## Handoff"', 'section: "## Handoff", fields: [Tests, Docs]');
  const { ways } = compareWorkflows(load(gated), load(edit(gated, "[Tests, Docs]", "[Docs]")));
  expect(ways.added).toEqual(["working → agent-review by worker, ## Handoff, with Docs"]);
  const panel = edit(
    edit(
      turns,
      "agent: { role: critic }",
      "panel: { prompts: [build, judge], members: { role: scout }, judge: { role: critic } }",
    ),
    "roles:\n",
    "roles:\n  scout: { mode: turn, permissions: reduced, result: verdict }\n",
  );
  const { work } = compareWorkflows(load(panel), load(edit(panel, "[build, judge]", "[build]")));
  expect(work.dropped).toEqual([
    "judge waits for a panel of scout (turn; reduced permissions; 2 prompts; result: verdict)",
  ]);
});

test("a promise that is no longer stated is dropped; where what it names is gone, it says why it cannot be stated", () => {
  const statable = (a: Workflow, b: Workflow) =>
    droppedPromises(a, b).flatMap(({ promise, why }) => (why === "" ? [promise] : []));
  const line = "  - { to: cancelled, never_by: [worker, reviewer] }\n";
  const silent = load(edit(read("sessions"), line, ""));
  expect(compareWorkflows(sessions, silent).promises.dropped).toEqual([line.trim().slice(2)]);
  expect(statable(sessions, silent).map(({ written }) => written)).toEqual([line.trim().slice(2)]);
  expect(statable(load(read("turns")), silent)).toEqual([]);
  expect(droppedPromises(load(read("turns")), silent).map(({ why }) => why)).toEqual([
    'There is no state "merging".',
    'There is no state "merging".',
    'There is no role "critic".',
    'There is no role "critic".',
    'There is no role "coder".',
    'There is no state "judge".',
  ]);
  const gate = droppedPromises(load(builtIn("default")), load(turns)).find(({ promise: { written } }) =>
    written.startsWith('{ to: done, after: { gate: "## Review"'),
  );
  expect(gate?.why).toBe('There is no role "reviewer".');
  const bound = "  - { within: 3, of: agent-review }\n";
  const unbound = load(edit(read("sessions"), bound, ""));
  expect(statable(sessions, unbound).map(({ kind }) => kind)).toEqual(["within"]);
});
