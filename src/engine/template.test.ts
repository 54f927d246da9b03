import fc from "fast-check";
import { expect, test } from "vitest";
import { fill, variablesOf } from "./template.ts";

const values: Readonly<Record<string, string>> = { summary: "Tea", "review.feedback": "Too hot", reason: "" };
const filled = (text: string) => fill(text, (name) => values[name]);

test("variables and fields of variables are replaced by their values", () => {
  expect(filled("{summary}: {review.feedback}{reason}.")).toEqual({ ok: true, text: "Tea: Too hot." });
});

test("doubled braces print the variable instead of its value", () => {
  expect(filled("{{summary}} is {summary}, {{no.such}} is not")).toEqual({
    ok: true,
    text: "{summary} is Tea, {no.such} is not",
  });
});

test.each([
  '{"good": true, "why": "…"}',
  "{}",
  "{ summary }",
  "{Summary}",
  "{1}",
  "{_x}",
  "{summary.}",
  "{.summary}",
  "{a-b}",
  "{summary",
  "summary}",
  "{HOME}",
  "{{ summary }}",
  "function () { return {a: 1}; }",
])("%s is plain text", (text) => {
  expect(variablesOf(text)).toEqual([]);
  expect(fill(text, () => undefined)).toEqual({ ok: true, text });
});

test("an object in an example may end right after a variable", () => {
  expect(filled('{"title": {summary}}')).toEqual({ ok: true, text: '{"title": Tea}' });
});

test("every unknown variable is named once", () => {
  expect(filled("{sumary} {review.fedback} {sumary} {summary}")).toEqual({
    ok: false,
    unknown: ["sumary", "review.fedback"],
  });
});

test("every use of a variable is listed with its place", () => {
  expect(variablesOf("{a} {{b}} {c.d_1} {a}")).toEqual([
    { name: "a", index: 0 },
    { name: "c.d_1", index: 10 },
    { name: "a", index: 18 },
  ]);
});

test("a value is data: nothing in it is expanded or read as a replacement pattern", () => {
  for (const value of ["{summary}", "{{summary}}", "$&", "$1", "\\"]) {
    expect(fill("<{reason}>", () => value)).toEqual({ ok: true, text: `<${value}>` });
  }
});

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,5}(\.[a-z0-9_]{1,5}){0,2}$/);
const prose = fc.string().map((text) => text.replaceAll(/[{}]/g, ""));

test("any value is inserted unchanged", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(prose, name, fc.string())), prose, (parts, end) => {
      const template = parts.map(([text, variable]) => `${text}{${variable}}`).join("") + end;
      const lookUp = new Map(parts.map(([, variable, value]) => [variable, value]));
      const expected = parts.map(([text, variable]) => text + lookUp.get(variable)).join("") + end;
      expect(fill(template, (variable) => lookUp.get(variable))).toEqual({ ok: true, text: expected });
      expect(variablesOf(template).map((variable) => variable.name)).toEqual(parts.map(([, variable]) => variable));
    }),
  );
});

test("exactly the listed variables are filled", () => {
  const texts = fc
    .array(fc.oneof(fc.constantFrom("{", "}", "{{", "}}", "a", ".", "{a}", " "), name))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const asked: string[] = [];
      const result = fill(text, (variable) => {
        asked.push(variable);
        return undefined;
      });
      expect(asked).toEqual(variablesOf(text).map((variable) => variable.name));
      expect(result.ok).toBe(asked.length === 0);
      for (const variable of variablesOf(text))
        expect(text.startsWith(`{${variable.name}}`, variable.index)).toBe(true);
    }),
  );
});
