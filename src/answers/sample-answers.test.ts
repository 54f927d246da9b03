import fc from "fast-check";
import { expect, test } from "vitest";
import { isJsonObject } from "../json.ts";
import {
  type AnswerScalar,
  type AnswerSchema,
  answerProblems,
  fieldValues,
  sampleAnswers,
  schemaProblems,
} from "./read-answer.ts";

const review: AnswerSchema = {
  type: "object",
  required: ["verdict", "certain", "findings"],
  properties: {
    verdict: { enum: ["pass", "fail"] },
    certain: { type: "boolean" },
    findings: {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["line"], properties: { line: { type: "integer", minimum: 1 } } },
    },
    feedback: { type: "string" },
  },
};

test("there is one sample for each combination of the named fields", () => {
  const findings = [{ line: 1 }];
  expect(sampleAnswers(review, ["verdict", "certain"])).toEqual([
    { findings, verdict: "pass", certain: true },
    { findings, verdict: "pass", certain: false },
    { findings, verdict: "fail", certain: true },
    { findings, verdict: "fail", certain: false },
  ]);
});

test("without fields there is one sample, with only the required fields", () => {
  expect(sampleAnswers(review, [])).toEqual([{ verdict: "pass", certain: true, findings: [{ line: 1 }] }]);
});

test("an optional field is left out in some samples", () => {
  const schema: AnswerSchema = { properties: { done: { type: "boolean" }, note: { type: "string" } } };
  expect(sampleAnswers(schema, ["done"])).toEqual([{ done: true }, { done: false }, {}]);
  expect(sampleAnswers(schema, ["note", "note"])).toEqual([{ note: "text" }, {}]);
});

test("fields that the schema does not declare change nothing", () => {
  expect(sampleAnswers(review, ["constructor", "nothing"])).toHaveLength(1);
  expect(sampleAnswers({ type: "array" }, ["length"])).toEqual([[]]);
});

test("samples respect bounds", () => {
  const sampleOf = (schema: AnswerSchema) => sampleAnswers(schema, [])[0];
  expect(sampleOf({ type: "integer", minimum: 1.5 })).toBe(2);
  expect(sampleOf({ type: "integer", minimum: -0.5 })).toBe(0);
  expect(sampleOf({ type: "number", maximum: -1.5 })).toBe(-1.5);
  expect(sampleOf({ type: ["integer", "number"], minimum: 0.2, maximum: 0.8 })).toBe(0.2);
  expect(sampleOf({ type: "string", minLength: 6 })).toBe("textxx");
  expect(sampleOf({ type: "string", maxLength: 2 })).toBe("te");
  expect(sampleOf({ type: ["null", "string"] })).toBe(null);
});

test("with too many combinations each value still occurs", () => {
  const names = ["a", "b", "c", "d", "e"];
  const letters = Array.from({ length: 20 }, (_, index) => `v${index}`);
  const schema: AnswerSchema = {
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { enum: letters }])),
  };
  const samples = sampleAnswers(schema, names) as readonly Record<string, string>[];
  expect(samples).toHaveLength(5 * 19 + 1);
  for (const name of names) expect(new Set(samples.map((sample) => sample[name]))).toEqual(new Set(letters));
});

test("a field called __proto__ is a field", () => {
  const schema = JSON.parse(
    '{"required": ["__proto__"], "properties": {"__proto__": {"enum": [1, 2]}}}',
  ) as AnswerSchema;
  const samples = sampleAnswers(schema, ["__proto__"]);
  expect(samples.map((sample) => JSON.stringify(sample))).toEqual(['{"__proto__":1}', '{"__proto__":2}']);
});

test.each<[AnswerSchema, readonly AnswerScalar[] | undefined]>([
  [{ enum: ["a", 1] }, ["a", 1]],
  [{ const: null }, [null]],
  [{ type: "boolean" }, [true, false]],
  [{ type: ["boolean", "null"] }, [true, false, null]],
  [{ type: ["boolean", "string"] }, undefined],
  [{ type: "string" }, undefined],
  [{}, undefined],
])("a field %j can be %j", (field, values) => {
  expect(fieldValues({ properties: { field } }, "field")).toEqual(values);
});

test("an undeclared field has no list of values", () => {
  expect(fieldValues({}, "field")).toBeUndefined();
  expect(fieldValues({ properties: {} }, "constructor")).toBeUndefined();
});

const names = fc.constantFrom("a", "b", "c", "__proto__");
const bounds = (min: string, max: string, value: fc.Arbitrary<number>) =>
  fc.record({ [min]: value, [max]: value }, { requiredKeys: [] });
const count = fc.integer({ min: 0, max: 4 });
const scalar = fc.oneof(fc.constantFrom("x", "", 0, -3, 2.5), fc.boolean(), fc.constant(null));
const { schema: anySchema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constant({}),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }) }),
    fc.record({ const: scalar }),
    fc.record({ type: fc.constantFrom("boolean", "null") }),
    bounds("minLength", "maxLength", count).map((rest) => ({ type: "string", ...rest })),
    fc
      .tuple(
        fc.constantFrom("integer", "number", ["integer", "number"], ["null", "integer"]),
        bounds("minimum", "maximum", fc.double({ min: -5, max: 5, noNaN: true })),
      )
      .map(([type, rest]) => ({ type, ...rest })),
    fc
      .tuple(bounds("minItems", "maxItems", count), tie("schema"))
      .map(([rest, items]) => ({ type: "array", ...rest, items })),
    fc
      .record({
        properties: fc.uniqueArray(fc.tuple(names, tie("schema")), { selector: ([name]) => name }),
        required: fc.uniqueArray(names),
        closed: fc.boolean(),
        type: fc.constantFrom("object", ["string", "object"]),
      })
      .map(({ properties, required, closed, type }) => ({
        type,
        properties: Object.fromEntries(properties),
        required: required.filter((name) => properties.some(([declared]) => declared === name)),
        additionalProperties: !closed,
      })),
  ),
}));
const soundSchema = anySchema.filter((schema) => schemaProblems(schema).length === 0) as fc.Arbitrary<AnswerSchema>;

test("every sample of a valid schema fits it, and all samples differ", () => {
  fc.assert(
    fc.property(soundSchema, fc.uniqueArray(names), (schema, fields) => {
      const samples = sampleAnswers(schema, fields);
      expect(samples.length).toBeGreaterThan(0);
      for (const sample of samples) expect(answerProblems(schema, sample)).toEqual([]);
      expect(new Set(samples.map((sample) => JSON.stringify(sample))).size).toBe(samples.length);
    }),
    { numRuns: 500 },
  );
});

test("every listed value of a field occurs in a sample", () => {
  fc.assert(
    fc.property(soundSchema, names, (schema, field) => {
      const seen = sampleAnswers(schema, [field]).map((sample) => isJsonObject(sample) && sample[field]);
      for (const value of fieldValues(schema, field) ?? []) expect(seen).toContain(value);
    }),
  );
});
