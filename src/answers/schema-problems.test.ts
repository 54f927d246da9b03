import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerSchema, schemaProblems } from "./read-answer.ts";

test("a valid schema has no problems", () => {
  const findings: AnswerSchema = {
    title: "Findings",
    description: "What the scouts found",
    type: "object",
    required: ["findings"],
    additionalProperties: false,
    properties: {
      findings: {
        type: "array",
        minItems: 0,
        maxItems: 50,
        items: {
          type: "object",
          required: ["title", "severity"],
          properties: {
            title: { type: "string", minLength: 1, maxLength: 200 },
            severity: { enum: ["low", "high"] },
            line: { type: ["integer", "null"], minimum: 1 },
            version: { const: 1 },
            score: { type: "number", minimum: 0, maximum: 1 },
          },
        },
      },
    },
  };
  expect(schemaProblems(findings)).toEqual([]);
});

test("an unknown keyword is named together with the known ones", () => {
  expect(schemaProblems({ properties: { mail: { type: "string", pattern: ".*@.*" } } })).toEqual([
    {
      path: ["properties", "mail", "pattern"],
      message:
        'No keyword "pattern". Supported are type, required, properties, additionalProperties, items, enum, const, minimum, maximum, minItems, maxItems, minLength, maxLength, title, description.',
    },
  ]);
});

test.each<[unknown, readonly (string | number)[], string]>([
  ["string", [], 'A schema must be a mapping such as { type: string }, but this is "string".'],
  [null, [], "A schema must be a mapping such as { type: string }, but this is null."],
  [{ items: true }, ["items"], "A schema must be a mapping such as { type: string }, but this is true."],
  [
    { properties: { a: [] } },
    ["properties", "a"],
    "A schema must be a mapping such as { type: string }, but this is a list.",
  ],
  [{ properties: [] }, ["properties"], '"properties" must be a mapping from names to schemas, but is a list.'],
  [
    { type: "text" },
    ["type"],
    '"type" must be object, array, string, number, integer, boolean or null, or a list of some of them, but is "text".',
  ],
  [
    { type: [] },
    ["type"],
    '"type" must be object, array, string, number, integer, boolean or null, or a list of some of them, but is a list.',
  ],
  [
    { type: ["null", "null"] },
    ["type"],
    '"type" must be object, array, string, number, integer, boolean or null, or a list of some of them, but is a list.',
  ],
  [{ required: "a" }, ["required"], '"required" must be a list of different names, but is "a".'],
  [
    { additionalProperties: {} },
    ["additionalProperties"],
    '"additionalProperties" must be true or false, but is an object.',
  ],
  [
    { enum: [] },
    ["enum"],
    '"enum" must be a list of different texts, numbers, true, false or null, at least one, but is a list.',
  ],
  [{ const: {} }, ["const"], '"const" must be text, a number, true, false or null, but is an object.'],
  [{ minimum: "1" }, ["minimum"], '"minimum" must be a number, but is "1".'],
  [{ maximum: Number.NaN }, ["maximum"], '"maximum" must be a number, but is NaN.'],
  [{ minItems: -1 }, ["minItems"], '"minItems" must be a whole number from 0 to 10000, but is -1.'],
  [{ minLength: 1e9 }, ["minLength"], '"minLength" must be a whole number from 0 to 10000, but is 1000000000.'],
  [{ maxLength: 1.5 }, ["maxLength"], '"maxLength" must be a whole number from 0 on, but is 1.5.'],
  [{ title: 7 }, ["title"], '"title" must be text, but is 7.'],
  [{ required: ["a", "b"], properties: { a: {} } }, ["required", 1], '"b" is required, but not among the properties.'],
  [{ required: ["constructor"] }, ["required", 0], '"constructor" is required, but not among the properties.'],
  [{ minimum: 2, maximum: 1 }, ["minimum"], '"minimum" is 2, which is more than "maximum", 1.'],
  [{ type: "integer", minimum: 0.2, maximum: 0.8 }, ["minimum"], "There is no whole number between 0.2 and 0.8."],
  [{ type: "string", enum: ["a", 1] }, ["enum", 1], "1 can never be: The answer must be text, but is 1."],
  [{ enum: ["a"], const: "b" }, ["const"], '"b" can never be: The answer must be "a", but is "b".'],
  [{ type: "integer", minLength: 3 }, ["minLength"], '"minLength" says nothing about a whole number.'],
  [{ type: ["string", "null"], items: {} }, ["items"], '"items" says nothing about text or null.'],
])("the schema %j is invalid at %j", (schema, path, message) => {
  expect(schemaProblems(schema)).toEqual([{ path, message }]);
});

test("problems of every level are reported", () => {
  const schema = { type: "objekt", properties: { a: { typ: "string" }, b: { items: { const: [] } } } };
  expect(schemaProblems(schema).map(({ path }) => path.join("."))).toEqual([
    "type",
    "properties.a.typ",
    "properties.b.items.const",
  ]);
});

test("twelve levels are allowed, thirteen are not", () => {
  const nested = (levels: number): unknown => (levels === 1 ? { type: "string" } : { items: nested(levels - 1) });
  expect(schemaProblems(nested(12))).toEqual([]);
  expect(schemaProblems(nested(13))).toEqual([
    { path: Array(12).fill("items"), message: "A schema may be nested 12 levels deep, and this is level 13." },
  ]);
});

test("a schema that contains itself is too deep, not endless", () => {
  const schema: { items?: unknown } = {};
  schema.items = schema;
  expect(schemaProblems(schema)).toHaveLength(1);
});

test("a keyword with the name of an inherited property is unknown", () => {
  const schema: unknown = JSON.parse('{"__proto__": {}, "constructor": 1}');
  expect(schemaProblems(schema).map(({ path }) => path)).toEqual([["__proto__"], ["constructor"]]);
});

test("no value makes schemaProblems throw", () => {
  const keys = fc.constantFrom("type", "enum", "const", "items", "properties", "required", "minimum", "maxItems", "x");
  const { schema } = fc.letrec((tie) => ({
    schema: fc.dictionary(keys, fc.oneof({ maxDepth: 4 }, fc.anything(), tie("schema")), { maxKeys: 4 }),
  }));
  fc.assert(fc.property(fc.oneof(fc.anything(), schema), (value) => Array.isArray(schemaProblems(value))));
});
