import { expect, test } from "vitest";
import { parseTaskDocument } from "../documents/task-document.ts";
import { type FrontmatterTask, frontmatterLines, readFrontmatter, tamperedFields } from "./task-frontmatter.ts";

const task: FrontmatterTask = {
  model: "",
  autostart: true,
  id: "a1b2",
  project: "coffee",
  number: 12,
  branch: "feature/login",
  base: "",
  summary: "Add a login flow: with tests",
  workflow: "default",
  status: "brewing",
  harness: "claude",
  reviewHarness: "codex",
  workspace: "coffee-2",
  tmuxSession: "coffee/feature/login",
  prUrl: "",
  ticket: "",
  parent: "",
  dependsOn: ["c3d4", "e5f6"],
  labels: [],
  priority: 2,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-02T00:00:00Z",
  counters: { review_round: 1 },
  crashCount: 0,
};

const lines = [
  "id: a1b2",
  "project: coffee",
  "branch: feature/login",
  'summary: "Add a login flow: with tests"',
  "workflow: default",
  "status: brewing",
  "harness: claude",
  "review_harness: codex",
  "review_round: 1",
  "crash_count: 0",
  "workspace: coffee-2",
  "tmux_session: coffee/feature/login",
  'pr_url: ""',
  'parent: ""',
  "depends_on: [c3d4, e5f6]",
  "labels: []",
  "priority: 2",
  'created_at: "2026-01-01T00:00:00Z"',
  'updated_at: "2026-01-02T00:00:00Z"',
];

function documentOf(fields: readonly string[]) {
  return parseTaskDocument(`---\n${fields.join("\n")}\n---\n`);
}

test("frontmatter is written in a fixed order", () => {
  expect(frontmatterLines(task)).toEqual(lines);
  expect(frontmatterLines({ ...task, counters: {} })).toContain("review_round: 0");
});

test("frontmatter is read back as it was written", () => {
  const { counters, number, base, model, ticket, autostart, ...fields } = task;
  expect(readFrontmatter(documentOf(lines))).toEqual({ ...fields, reviewRound: counters.review_round });
});

test("missing, empty and unreadable fields take their defaults", () => {
  const empty = readFrontmatter(parseTaskDocument(""));
  expect(empty).toMatchObject({
    id: "",
    workflow: "default",
    crashCount: 0,
    reviewRound: 0,
    labels: [],
    dependsOn: [],
  });
  expect(readFrontmatter(documentOf(["crash_count: many", "workflow:", "priority: 1 # high"]))).toEqual({
    ...empty,
    priority: 1,
  });
});

test("frontmatter that the engine wrote has no tampered fields, in any style of quotes", () => {
  expect(tamperedFields(documentOf(lines), task)).toEqual([]);
  const restyled = lines.map((line) => (line.startsWith("status") ? "status: 'brewing'   # now" : line));
  expect(tamperedFields(documentOf(restyled), task)).toEqual([]);
});

test("changed, removed and added fields are named as tampered", () => {
  const edited = lines
    .filter((line) => !line.startsWith("parent"))
    .map((line) => (line.startsWith("status") ? "status: served" : line))
    .map((line) => (line.startsWith("review_round") ? "review_round: none" : line))
    .map((line) => (line.startsWith("labels") ? "labels: [urgent]" : line));
  expect(tamperedFields(documentOf([...edited, "mood: good", "__proto__: x"]), task)).toEqual([
    "status",
    "review_round",
    "parent",
    "labels",
    "mood",
    "__proto__",
  ]);
});

test("a document without frontmatter misses every field", () => {
  expect(tamperedFields(parseTaskDocument("## Plan\n"), task)).toEqual(lines.map((line) => line.split(":")[0]));
});
