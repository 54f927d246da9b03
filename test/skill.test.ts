import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { routes } from "../src/api/routes.ts";
import { blockLines, parseProblem, spanLines } from "./command-lines.ts";
import { documents, read } from "./documents.ts";

const skill = read("skills/signalbox/SKILL.md");
const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];

test("the skill has the frontmatter that every harness requires", () => {
  const { name, description, ...others } = parse(head) as Record<string, string>;
  // The folder must have the same name; longer descriptions are truncated or refused.
  expect(name).toBe("signalbox");
  expect(description?.length).toBeGreaterThan(100);
  expect(description?.length).toBeLessThanOrEqual(1024);
  expect(Object.keys(others)).toEqual(["license"]);
});

test("the description and the first step keep agents that work on a task away", () => {
  expect((parse(head) as { description: string }).description).toContain("SIGNALBOX_RUN");
  const [first = ""] = body.split(/^## /m).slice(1);
  expect(first).toContain("printenv SIGNALBOX_RUN");
});

test("a run that orchestrates nevertheless is refused: only people create tasks, answer and send work back", () => {
  const { createTask, answerTask, requestChanges } = routes;
  const used = [createTask, answerTask, requestChanges];
  expect(used.map(({ access }) => access)).toEqual(["person", "person", "person"]);
});

describe("the parser of command lines", () => {
  test.each([
    ["signalbox task crate x", /crate/],
    ["signalbox task create x --labels y", /labels/],
    ["signalbox task explain", /TASK/],
    ["signalbox task create x --priority high", /high/],
  ])("refuses %s", async (line, why) => expect(await parseProblem(line)).toMatch(why));
});

test("every command of the skill can be called as written", async () => {
  const lines = [...blockLines(skill), ...spanLines(skill)];
  expect(lines.length).toBeGreaterThan(20);
  expect(await problemsOf(lines)).toEqual([]);
});

const others = documents.map(({ file, text }) => ({ file, lines: blockLines(text) }));
test.each(others.filter(({ lines }) => lines.length > 0))("every command of $file can be called", async ({ lines }) => {
  expect(await problemsOf(lines)).toEqual([]);
});

async function problemsOf(lines: readonly string[]): Promise<readonly string[]> {
  const problems = await Promise.all(lines.map(async (line) => ({ line, problem: await parseProblem(line) })));
  return problems.flatMap(({ line, problem }) => (problem === "" ? [] : [`${line}\n${problem}`]));
}
