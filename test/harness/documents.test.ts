import { expect, test } from "vitest";
import { readEventLine } from "../../src/adapters/harness/event-line.ts";
import { type HarnessDefinition, harnessesProblem, harnessesShape } from "../../src/engine/harness-definition.ts";
import { readShape } from "../../src/engine/language/shape.ts";
import { readTree } from "../../src/engine/language/tree.ts";
import { readScript } from "../../src/scripted-agent/read-script.ts";
import { stepNames } from "../../src/scripted-agent/script.ts";
import { fenced, read } from "../documents.ts";

const scripts = read("docs/scripted-agent.md");
const programs = read("docs/command-harness.md");

test("every script in the scripted agent's document is valid", () => {
  const blocks = fenced(scripts, "yaml");
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) expect(() => readScript(block, "docs/scripted-agent.md")).not.toThrow();
});

test("verdicts in the examples name their run: the same words again would be refused as spent", () => {
  const verdicts = fenced(scripts, "yaml").flatMap((block) => block.match(/"Verdict: .*"/g) ?? []);
  expect(verdicts.length).toBeGreaterThan(0);
  for (const verdict of verdicts) expect(verdict).toContain("{run}");
});

test("every step has a row, and every row is a step", () => {
  const [, table = ""] = scripts.split("| step | what it does |");
  const rows = [...table.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);
  expect(rows.slice(0, stepNames.length).sort()).toEqual([...stepNames].sort());
});

test("every definition in the document about programs is valid", () => {
  for (const block of fenced(programs, "yaml")) {
    const { tree } = readTree(block, "config.yml");
    const complaints: string[] = [];
    const shape = {
      kind: "record",
      what: "a configuration",
      keys: { harnesses: { shape: harnessesShape, description: "" } },
    } as const;
    const config = tree && readShape(shape, tree, [], (_, message) => complaints.push(message));
    const { harnesses } = config as { harnesses: Readonly<Record<string, HarnessDefinition>> };
    expect([...complaints, harnessesProblem(harnesses)]).toEqual([undefined]);
    expect(Object.keys(harnesses).length).toBeGreaterThan(1);
  }
});

test("every event in the document is valid", () => {
  const lines = [...programs.matchAll(/^\| `(\{.*?\})` \|/gm)].map(([, line = ""]) => line);
  expect(lines.map((line) => readEventLine(line)?.kind)).toEqual([
    "session",
    "prompted",
    "busy",
    "tool",
    "said",
    "idle",
    "asks",
    "usage",
    "failed",
    "over",
  ]);
});
