import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { edit, load } from "../../test/language/workflow-texts.ts";
import { compareWorkflows, droppedPromises } from "./compare-workflows.ts";

const folder = join(import.meta.dirname, "..", "..", "test", "language", "broken-promises");
const read = (name: string) => readFileSync(join(folder, `${name}.yaml`), "utf8");
const sessions = load(read("sessions"));
const none = { added: [], dropped: [] };

test("another name and other prompts are no difference", () => {
  const other = edit(edit(read("sessions"), "name: sessions", "name: other"), "Build it.", "Build it well.");
  expect(compareWorkflows(sessions, load(other))).toEqual({ promises: none, states: none, ways: none, rules: none });
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

test("a promise that is no longer stated is dropped, unless its state is gone", () => {
  const line = "  - { to: cancelled, never_by: [worker, reviewer] }\n";
  const silent = load(edit(read("sessions"), line, ""));
  expect(compareWorkflows(sessions, silent).promises.dropped).toEqual([line.trim().slice(2)]);
  expect(droppedPromises(sessions, silent).map(({ written }) => written)).toEqual([line.trim().slice(2)]);
  expect(droppedPromises(load(read("turns")), silent).map(({ kind }) => kind)).toEqual([
    ...["after", "never_same_run_as", "never_by"],
  ]);
});
