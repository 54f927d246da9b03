import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readYamlList, readYamlScalar, yamlScalar } from "./frontmatter.ts";

/** Any text, with a bias towards text that YAML could misread. */
const tricky = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom(..."abeEnoxy0123456789.:-+_ #,[]{}&*!|>'\"%@`~?=<\\/\n\r\t\u0085\u2028\ufeffé—😀"), {
      maxLength: 8,
    })
    .map((all) => all.join("")),
  fc.constantFrom(
    "null",
    "Null",
    "~",
    "true",
    "Yes",
    "off",
    "n",
    "1e3",
    "0x1F",
    "0o17",
    "0b1",
    "1_000",
    "12:30:45",
    ".inf",
    "-1",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "a: b",
    "a #b",
    "a:",
    "- a",
    "? a",
    "---",
    "...",
  ),
);

test("safe text is written without quotes", () => {
  for (const text of ["feature/login", "7f3a", "coffee#12", "Fix the login, it's broken", "über 3 – ok", "a:b"]) {
    expect(yamlScalar(text)).toBe(text);
  }
});

test("text that YAML would read as another type is quoted", () => {
  for (const text of [
    "",
    " a",
    "a ",
    "a: b",
    "a:",
    "a #b",
    "null",
    "YES",
    "12",
    "1e3",
    "2026-01-01T00:00:00Z",
    "- a",
    "a\nb",
  ]) {
    expect(yamlScalar(text)).toBe(JSON.stringify(text));
  }
  expect(yamlScalar("a,b", "list")).toBe('"a,b"');
});

test("every parser, ours included, reads back exactly the written text", () => {
  fc.assert(
    fc.property(tricky, (text) => {
      const line = `key: ${yamlScalar(text)}\nnext: 1\n`;
      expect(parse(line)).toEqual({ key: text, next: 1 });
      expect(parse(line, { version: "1.1" })).toEqual({ key: text, next: 1 });
      expect(readYamlScalar(yamlScalar(text))).toBe(text);
    }),
    { numRuns: 3000 },
  );
});

test("every parser, ours included, reads back lists", () => {
  fc.assert(
    fc.property(fc.array(tricky, { maxLength: 5 }), (items) => {
      const list = `[${items.map((item) => yamlScalar(item, "list")).join(", ")}]`;
      expect(parse(`key: ${list}`)).toEqual({ key: items });
      expect(parse(`key: ${list}`, { version: "1.1" })).toEqual({ key: items });
      expect(readYamlList(list)).toEqual(items);
    }),
    { numRuns: 1000 },
  );
});

test("values as people write them are read: quotes, comments, nothing, block lists", () => {
  expect(readYamlScalar("'it''s'")).toBe("it's");
  expect(readYamlScalar('"a\\tb\\x41\\u00e9" # why')).toBe("a\tbAé");
  expect(readYamlScalar("0    # reset on success")).toBe("0");
  expect(readYamlScalar("# nothing")).toBe("");
  expect(readYamlScalar("null")).toBe("");
  expect(readYamlScalar("one\ntwo")).toBe("one two");
  expect(readYamlList("- a\n- 'b c'")).toEqual(["a", "b c"]);
  expect(readYamlList("[a, 'b, c', d")).toEqual(["a", "b, c", "d"]);
  expect(readYamlList("[ ]")).toEqual([]);
  expect(readYamlList("")).toEqual([]);
  expect(readYamlList("bug")).toEqual(["bug"]);
});

test("any text is read without failing", () => {
  fc.assert(
    fc.property(tricky, (text) => {
      expect(typeof readYamlScalar(text)).toBe("string");
      expect(Array.isArray(readYamlList(`[${text}`))).toBe(true);
      expect(Array.isArray(readYamlList(text))).toBe(true);
    }),
  );
});
