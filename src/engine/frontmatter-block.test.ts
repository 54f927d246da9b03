import fc from "fast-check";
import { expect, test } from "vitest";
import { frontmatterBlock, frontmatterValues } from "./frontmatter-block.ts";

function values(text: string): Readonly<Record<string, string>> | undefined {
  const block = frontmatterBlock(text, 0);
  return block && { ...frontmatterValues(text.slice(block.start, block.end)) };
}

test("takes what stands behind the colons as it is written", () => {
  expect(values('---\nid: a1\nsummary: "a: b" # c\npr_url:\n---\nbody')).toEqual({
    id: "a1",
    summary: '"a: b" # c',
    pr_url: "",
  });
});

test("does not mind CRLF, blanks behind the rulers or a missing last line break", () => {
  expect(values("---  \r\nid: a1 \r\n--- \r\n")).toEqual({ id: "a1" });
  expect(values("---\nid: a1\n---")).toEqual({ id: "a1" });
  expect(values("---\n---\n")).toEqual({});
});

test("skips lines that are no fields, and of two equal keys takes the last", () => {
  expect(values("---\n???\nid: a1\nno field\nurl:x\n# comment: no\n: no\nid: a2\n---\n")).toEqual({ id: "a2" });
});

test("counts indented lines and list items to the key above", () => {
  expect(values("---\nlabels:\n  - a\n- b\nsummary: one\n  two\n---\n")).toEqual({
    labels: "- a\n- b",
    summary: "one\ntwo",
  });
});

test("a key named __proto__ is a key like any other", () => {
  const text = "---\n__proto__: x\nconstructor: y\n---\n";
  const block = frontmatterBlock(text, 0);
  const found = block && frontmatterValues(text.slice(block.start, block.end));
  expect(Object.keys(found ?? {})).toEqual(["__proto__", "constructor"]);
  expect(({} as { x?: string }).x).toBeUndefined();
});

test("without an end, or with a heading before it, there is none: those lines are body", () => {
  expect(frontmatterBlock("---\nid: a1\n", 0)).toBeUndefined();
  expect(frontmatterBlock("---\nid: a1\n## Plan\n\n---\n", 0)).toBeUndefined();
  expect(frontmatterBlock("\n---\nid: a1\n---\n", 0)).toBeUndefined();
});

test("a text between two horizontal lines is none either", () => {
  expect(frontmatterBlock("---\nSome text.\n---\n", 0)).toBeUndefined();
});

test("reads anything without failing", () => {
  const line = fc.oneof(fc.constantFrom("---", "a: b", "- x", " y", "", "## H", ":"), fc.string());
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = ["---", ...lines].join("\n");
      const block = frontmatterBlock(text, 0);
      if (block) frontmatterValues(text.slice(block.start, block.end));
    }),
  );
});
