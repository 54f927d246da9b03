import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { builtIn, fixture, load, problemsOf, seedDocuments } from "./workflow-texts.ts";

const [ofDefault = "", ofMinimal = "", ...more] = seedDocuments();

test("the fixture is the seed, byte for byte", () => {
  const hash = createHash("sha256").update(fixture("seed-001.md")).digest("hex");
  expect(hash).toBe("5e3d00e3d9916dfce68b8f3debc646108a31d1e70ba240d3a4f8590af5e03811");
});

test("the seed prints two workflows", () => {
  expect([ofDefault, ofMinimal].map((text) => text.split("\n")[0])).toEqual(["name: default", "name: minimal"]);
  expect(more).toEqual([]);
});

test("its default.yml loads unchanged, without a problem", () => {
  expect(problemsOf(ofDefault)).toEqual([]);
  const workflow = load(ofDefault);
  expect(Object.keys(workflow.states)).toEqual([
    "pending",
    "clarification",
    "working",
    "agent-review",
    "reviewing",
    "stuck",
    "done",
    "cancelled",
  ]);
  expect(workflow.ways.filter((way) => way.implied === undefined)).toHaveLength(18);
  expect(workflow.pollInterval).toBe(30);
  expect(Object.keys(workflow.prompts)).toHaveLength(6);
});

test("its minimal.yml loads unchanged; the only problem is a warning about a missing state", () => {
  const problems = problemsOf(ofMinimal, "minimal.yml");
  expect(problems.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'warning: There is no state "stuck", so the task is held in its state instead.',
  ]);
  const line = ofMinimal.split("\n").findIndex((each) => each.includes("stuck_after")) + 1;
  expect(problems[0]).toMatchObject({ file: "minimal.yml", line, column: 7 });
  expect(Object.keys(load(ofMinimal).states)).toEqual(["pending", "working", "reviewing", "done", "cancelled"]);
});

test("the built-in classic and minimal are these documents, byte for byte", () => {
  expect(builtIn("classic")).toBe(ofDefault);
  expect(builtIn("minimal")).toBe(ofMinimal);
});
