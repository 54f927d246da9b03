import fc from "fast-check";
import { expect, test } from "vitest";
import { openFence, sectionStarts } from "./sections.ts";

function headings(...lines: readonly string[]): readonly string[] {
  const text = lines.join("\n");
  return sectionStarts(text).starts.map((start) => text.slice(start + 3).split("\n")[0] ?? "");
}

test("a section starts with ## and a space at the start of a line", () => {
  expect(headings("## A", "text ## no", " ## no", "##no", "### no", "# no", "## B")).toEqual(["A", "B"]);
});

test("a heading in a closed fence starts no section", () => {
  expect(headings("## A", "```", "## no", "```", "## B")).toEqual(["A", "B"]);
  expect(headings("## A", "~~~~ sh", "## no", "~~~~~", "## B")).toEqual(["A", "B"]);
  expect(headings("   ```", "## no", "  ```  ", "## B")).toEqual(["B"]);
});

test("a fence is closed only by the same mark, at least as long, with nothing after it", () => {
  expect(headings("````md", "```", "## no", "```", "````", "## B")).toEqual(["B"]);
  expect(headings("```", "~~~", "## no", "```", "## B")).toEqual(["B"]);
  expect(headings("````", "```", "## no", "````", "## B")).toEqual(["B"]);
});

test("four spaces, two marks, text in front or inline code make no fence", () => {
  expect(headings("    ```", "## A", "``", "## B", "x ```", "## C", "```code```", "## D")).toEqual([
    "A",
    "B",
    "C",
    "D",
  ]);
});

test("an unclosed fence ends with its section", () => {
  expect(headings("## A", "```", "code", "## B", "## C")).toEqual(["A", "B", "C"]);
});

test("an unclosed fence does not shift the pairs of the sections below", () => {
  const fenced = ["```", "code", "```"];
  expect(headings("## A", "```", "## B", ...fenced, "## C", ...fenced, ...fenced)).toEqual(["A", "B", "C"]);
  expect(headings("## A", "```", "## B", "```ts", "code", "```", "## C")).toEqual(["A", "B", "C"]);
  expect(headings("## A", ...fenced, "~~~", "## B", "~~~", "~~~", "## C", ...fenced)).toEqual(["A", "B", "C"]);
});

test("an unclosed fence does not reveal headings that a closed fence above it hides", () => {
  expect(headings("## A", "```", "## no", "```", "## B", "```", "## C")).toEqual(["A", "B", "C"]);
});

test.each([
  ["with", ["```ts", "````md", "~~~ sh"]],
  ["without", ["```", "````", "~~~"]],
])("one unclosed fence hides no section where code blocks are %s a language", (_, opening) => {
  const block = fc.constantFrom(...opening).map((open) => [open, "code", open.replace(/[^`~]/g, "")]);
  const section = fc.array(fc.oneof(block, fc.constant(["text"])), { maxLength: 4 });
  const forgotten = fc.constantFrom("```", "````", "~~~", "```ts");
  fc.assert(
    fc.property(fc.array(section, { minLength: 1, maxLength: 5 }), fc.nat(), forgotten, (sections, where, fence) => {
      const lines = sections.map((blocks, index) => [`## ${index}`, ...blocks.flat()]);
      lines[where % lines.length]?.push(fence);
      expect(headings(...lines.flat())).toEqual(sections.map((_, index) => String(index)));
    }),
  );
});

test("if all fences are closed, sections are found as in Markdown", () => {
  const line = fc.constantFrom("```", "````", "~~~", "## H", "text");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 14 }), (lines) => {
      fc.pre(openFence(lines.join("\n")) === undefined);
      expect(headings(...lines)).toEqual(markdownHeadings(lines));
    }),
    { numRuns: 1000 },
  );
});

test("openFence finds the fence that a text leaves open", () => {
  expect(openFence("```ts\ncode")).toBe("```");
  expect(openFence("~~~~\n```")).toBe("~~~~");
  expect(openFence("```\r\ncode\r\n```\r\n")).toBeUndefined();
  expect(openFence("text")).toBeUndefined();
});

test("texts made of fences take linear time", () => {
  for (const lines of [
    ["```a", "## x"],
    ["```", "## x", "~~~"],
    ["````a", "## x", "```", "~~~~"],
    ["~~~", "`````b", "## x"],
  ]) {
    const text = `${lines.join("\n")}\n`.repeat(20_000);
    expect(sectionStarts(text).starts.length).toBeGreaterThanOrEqual(0);
  }
  const shrinking = Array.from({ length: 600 }, (_, index) => `${"`".repeat(603 - index)}a\n## x\n`).join("");
  expect(sectionStarts(shrinking).starts).toHaveLength(600);
});

function markdownHeadings(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  let open: string | undefined;
  for (const line of lines) {
    if (line.startsWith("## ")) {
      if (open === undefined) found.push(line.slice(3));
    } else if (/^(?:`{3}|~{3})/.test(line)) {
      if (open === undefined) open = line;
      else if (line.startsWith(open)) open = undefined;
    }
  }
  return found;
}
