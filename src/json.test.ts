import fc from "fast-check";
import { expect, test } from "vitest";
import {
  countAt,
  fieldOf,
  isJsonObject,
  jsonAt,
  listOf,
  numberAt,
  numberOf,
  objectOf,
  parseJson,
  parseObject,
  textAt,
  textOf,
} from "./json.ts";

test("only a JSON object is parsed as an object", () => {
  expect(parseObject(' \n{"a":1}')).toEqual({ a: 1 });
  for (const text of ["", "talk", "[1]", "1", "null", '"{}"', "{broken", '{"a":1} and more'])
    expect(parseObject(text)).toBeUndefined();
});

test("JSON that is nested too deep for a recursive walk is not parsed", () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
  expect(parseObject(nested(100))).toBeDefined();
  expect(parseObject(nested(102))).toBeUndefined();
  expect(() => parseJson(nested(400_000))).toThrow("nested more than 100 levels deep");
});

test("lists and null are not objects", () => {
  expect([{}, [], null, "x", undefined].map(isJsonObject)).toEqual([true, false, false, false, false]);
});

test("a path goes through objects and lists, along own keys only", () => {
  const json = { a: [{ b: "x" }], none: null, count: 3 };
  expect(fieldOf(json, "a", "0", "b")).toBe("x");
  expect(fieldOf(json)).toBe(json);
  expect([fieldOf(json, "none"), jsonAt(json, "none")]).toEqual([null, undefined]);
  for (const path of [["b"], ["a", "1"], ["none", "x"], ["count", "toFixed"], ["constructor"], ["__proto__"]])
    expect(fieldOf(json, ...path)).toBeUndefined();
});

test("a value of another type counts as missing", () => {
  const json = { text: "x", number: 1.6, list: [{ a: 1 }, "y"] };
  expect([textAt(json, "text"), textAt(json, "number"), textOf(undefined)]).toEqual(["x", "", ""]);
  expect([numberAt(json, "number"), numberAt(json, "text"), numberOf("1")]).toEqual([1.6, undefined, 0]);
  expect([objectOf(json), objectOf([]), objectOf(null)]).toEqual([json, {}, {}]);
  expect([listOf(json.list), listOf(json)]).toEqual([[{ a: 1 }, {}], []]);
});

test("a count is a whole number from zero, whatever the value", () => {
  expect([1.6, -1, "2", null, Number.POSITIVE_INFINITY, 1e300].map((count) => countAt({ count }, "count"))).toEqual([
    2, 0, 0, 0, 0, 0,
  ]);
  expect([Number.POSITIVE_INFINITY, Number.NaN].map(numberOf)).toEqual([0, 0]);
});

test("no output of a program makes the readers throw", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), fc.array(fc.string()), (text, path) => {
      const json = parseObject(text);
      for (const read of [fieldOf, textAt, numberAt, countAt]) read(json, ...path);
    }),
  );
});
