import { expect, test } from "vitest";
import { strictSchema, withoutNulls } from "./settings.ts";

const schema = {
  type: "object",
  required: ["good"],
  properties: {
    good: { type: "boolean" },
    why: { type: "string" },
    mood: { enum: ["glad", "sad"] },
    kind: { const: "a" },
    parts: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } },
  },
};

test("every object is closed, and optional properties may be null", () => {
  expect(strictSchema(schema)).toEqual({
    type: "object",
    required: ["good", "why", "mood", "kind", "parts"],
    additionalProperties: false,
    properties: {
      good: { type: "boolean" },
      why: { type: ["string", "null"] },
      mood: { enum: ["glad", "sad", null] },
      kind: { enum: ["a", null] },
      parts: {
        type: ["array", "null"],
        items: {
          type: "object",
          required: ["id"],
          additionalProperties: false,
          properties: { id: { type: ["string", "null"] } },
        },
      },
    },
  });
});

test.each([
  ["an object with any properties", { type: "object" }],
  ["a value of any kind", {}],
  ["a list of anything", { type: "array" }],
  ["no schema", undefined],
])("%s has no strict form", (_, given) => {
  expect(strictSchema(given)).toBeUndefined();
});

test("optional properties that are null are removed again", () => {
  const answer = { good: null, why: null, parts: [{ id: null }, { id: "x" }] };
  expect(withoutNulls(answer, schema)).toEqual({ good: null, parts: [{}, { id: "x" }] });
});
