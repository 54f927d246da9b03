import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerSchema, answerProblems } from "./read-answer.ts";

const plan: AnswerSchema = {
  type: "object",
  required: ["subtasks"],
  properties: {
    subtasks: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: {
        type: "object",
        required: ["title"],
        additionalProperties: false,
        properties: { title: { type: "string", maxLength: 10 }, size: { type: "integer", minimum: 1, maximum: 5 } },
      },
    },
    verdict: { enum: ["pass", "fail", null] },
    version: { const: 1 },
  },
};

test("an answer that fits has no problems", () => {
  const answer = {
    subtasks: [{ title: "Boil", size: 1 }, { title: "Pour" }],
    verdict: null,
    version: 1,
    more: "welcome",
  };
  expect(answerProblems(plan, answer)).toEqual([]);
});

test.each<[unknown, string]>([
  [[], "The answer must be an object, but is a list."],
  [null, "The answer must be an object, but is null."],
  [undefined, "The answer must be an object, but is nothing JSON knows."],
  [{}, "subtasks is missing."],
  [{ subtasks: {} }, "subtasks must be a list, but is an object."],
  [{ subtasks: [] }, "subtasks must have at least 1 item, but has 0."],
  [{ subtasks: Array(4).fill({ title: "x" }) }, "subtasks must have at most 3 items, but has 4."],
  [{ subtasks: [{ title: "x" }, { title: "x" }, { title: 7 }] }, "subtasks[2].title must be text, but is 7."],
  [{ subtasks: [{ title: "far too long" }] }, "subtasks[0].title must have at most 10 characters, but has 12."],
  [{ subtasks: [{ title: "x", size: 1.5 }] }, "subtasks[0].size must be a whole number, but is 1.5."],
  [{ subtasks: [{ title: "x", size: 0 }] }, "subtasks[0].size must be at least 1, but is 0."],
  [{ subtasks: [{ title: "x", size: 6 }] }, "subtasks[0].size must be at most 5, but is 6."],
  [{ subtasks: [{ title: "x", sise: 6 }] }, "subtasks[0].sise must not be there; known are: title, size."],
  [{ subtasks: [{ title: "x", "a b": 6 }] }, 'subtasks[0]["a b"] must not be there; known are: title, size.'],
  [{ subtasks: [{ title: "x" }], verdict: "maybe" }, 'verdict must be "pass", "fail" or null, but is "maybe".'],
  [{ subtasks: [{ title: "x" }], version: "1" }, 'version must be 1, but is "1".'],
])("%j: %s", (answer, problem) => {
  expect(answerProblems(plan, answer)).toEqual([problem]);
});

test("every mismatch is reported, not only the first", () => {
  expect(answerProblems(plan, { subtasks: [{ size: "big" }, 3], verdict: 1 })).toEqual([
    "subtasks[0].title is missing.",
    'subtasks[0].size must be a whole number, but is "big".',
    "subtasks[1] must be an object, but is 3.",
    'verdict must be "pass", "fail" or null, but is 1.',
  ]);
});

test("a value needs only one of several kinds", () => {
  const schema: AnswerSchema = { type: ["integer", "boolean", "null"] };
  for (const answer of [3, true, null]) expect(answerProblems(schema, answer)).toEqual([]);
  expect(answerProblems(schema, 0.5)).toEqual([
    "The answer must be a whole number, true or false or null, but is 0.5.",
  ]);
});

test("a keyword does not apply to values of another kind", () => {
  expect(answerProblems({ minLength: 5, minimum: 5, minItems: 5, required: ["a"] }, true)).toEqual([]);
});

test("a surrogate pair is one character", () => {
  expect(answerProblems({ type: "string", maxLength: 2 }, "🚂🚂")).toEqual([]);
});

test("long texts and long names are shortened in the message", () => {
  const [wrongText] = answerProblems({ type: "number" }, "x".repeat(1_000_000));
  const [wrongName] = answerProblems({ type: "object", additionalProperties: false }, { ["x".repeat(1_000_000)]: 1 });
  expect(wrongText?.length).toBeLessThan(150);
  expect(wrongName?.length).toBeLessThan(150);
});

test("at most twenty problems are reported, however long the list", () => {
  const answer = Array.from({ length: 100_000 }, () => 1);
  expect(answerProblems({ type: "array", items: { type: "string" } }, answer)).toHaveLength(20);
});

test("an answer may be nested deeper than the machine can recurse", () => {
  const answer: unknown = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
  expect(answerProblems({ type: "object" }, answer)).toEqual(["The answer must be an object, but is a list."]);
  expect(answerProblems({ type: "array", items: { type: "array" } }, answer)).toEqual([]);
});

test("names from the prototype are properties like others", () => {
  const hostile: unknown = JSON.parse('{"__proto__": {"good": true}, "constructor": 1}');
  expect(answerProblems({ type: "object", required: ["good"] }, hostile)).toEqual(["good is missing."]);
  expect(answerProblems({ required: ["toString"] }, {})).toEqual(["toString is missing."]);
  const schema = JSON.parse(
    '{"additionalProperties": false, "properties": {"__proto__": {"type": "number"}}}',
  ) as AnswerSchema;
  expect(answerProblems(schema, hostile)).toEqual([
    "__proto__ must be a number, but is an object.",
    "constructor must not be there; known are: __proto__.",
  ]);
  expect(Object.prototype).not.toHaveProperty("good");
});

test("no answer makes answerProblems throw, and the kinds of JSON are distinguished", () => {
  const kinds = ["object", "array", "string", "number", "boolean", "null"] as const;
  fc.assert(
    fc.property(fc.jsonValue(), (answer) => {
      expect(kinds.filter((type) => answerProblems({ type }, answer).length === 0)).toHaveLength(1);
    }),
  );
  fc.assert(fc.property(fc.anything({ withBigInt: true }), (answer) => answerProblems(plan, answer).length <= 20));
});
