import fc from "fast-check";
import { expect, test } from "vitest";
import { frontmatterBlock, frontmatterValues } from "./frontmatter.ts";

function values(text: string): Readonly<Record<string, string>> | undefined {
  const block = frontmatterBlock(text, 0);
  return block && { ...frontmatterValues(text.slice(block.start, block.end)) };
}

test("values are the raw text after the colons", () => {
  expect(values('---\nid: a1\nsummary: "a: b" # c\npr_url:\n---\nbody')).toEqual({
    id: "a1",
    summary: '"a: b" # c',
    pr_url: "",
  });
});

test("CRLF, blanks after the `---` and a missing last line break are accepted", () => {
  expect(values("---  \r\nid: a1 \r\n--- \r\n")).toEqual({ id: "a1" });
  expect(values("---\nid: a1\n---")).toEqual({ id: "a1" });
  expect(values("---\n---\n")).toEqual({});
});

test("lines that are not fields are skipped, and the last of two equal keys counts", () => {
  expect(values("---\n???\nid: a1\nno field\nurl:x\n# comment: no\n: no\nid: a2\n---\n")).toEqual({ id: "a2" });
});

test("indented lines and list items belong to the key above", () => {
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

test("lines without a closing `---`, or with a heading before it, are body, not frontmatter", () => {
  expect(frontmatterBlock("---\nid: a1\n", 0)).toBeUndefined();
  expect(frontmatterBlock("---\nid: a1\n## Plan\n\n---\n", 0)).toBeUndefined();
  expect(frontmatterBlock("\n---\nid: a1\n---\n", 0)).toBeUndefined();
});

test("a text between two horizontal lines is not frontmatter", () => {
  expect(frontmatterBlock("---\nSome text.\n---\n", 0)).toBeUndefined();
});

test("any text is read without failing", () => {
  const line = fc.oneof(fc.constantFrom("---", "a: b", "- x", " y", "", "## H", ":"), fc.string());
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = ["---", ...lines].join("\n");
      const block = frontmatterBlock(text, 0);
      if (block) frontmatterValues(text.slice(block.start, block.end));
    }),
  );
});
