import fc from "fast-check";
import { expect, test } from "vitest";
import { ownTime } from "../../test/scripted-ports.ts";
import { readAnswer } from "./read-answer.ts";

const fence = (text: string, tag = "json") => `\`\`\`${tag}\n${text}\n\`\`\``;
const good = { ok: true, value: { good: true } };

test.each<[string, string]>([
  ["the whole text", '{"good": true}'],
  ["the whole text with a byte order mark and space", '\uFEFF \n{"good": true}\r\n'],
  ["a fence", `I looked at it.\n\n${fence('{"good": true}')}\n\nThat is all.`],
  ["the last of several fences", `${fence('{"good": false}')}\nOn second thought:\n${fence('{"good": true}')}`],
  ["an indented fence with other letters", `- Answer:\n  \`\`\`JSON\r\n  {"good": true}\r\n  \`\`\`\r\n`],
  ["a fence that was not closed", `\`\`\`json\n{"good": true}`],
  ["a value in prose after a fence", `${fence('{"good": false}')}\nsays the file. Mine: {"good": true}.`],
  ["a fence after a value in prose", `At first {"good": false}, then:\n${fence('{"good": true}')}`],
  ["a value before a quote", '{"good": true}\n\n> {"good": false}'],
  ["a value after a quote", '> {"good": false}\n\n{"good": true}'],
  ["a value before a quoted fence", `{"good": true}\n${fence('{"good": false}').replaceAll(/^/gm, "> ")}`],
  ["a fence before a quote in a list", `${fence('{"good": true}')}\n- the log:\n  1. > {"good": false}`],
  ["a fence before a fence of another language", `${fence('{"good": true}')}\n${fence('x = {"good": false}', "ts")}`],
  ["a fence before a longer fence", `${fence('{"good": true}')}\n\`\`\`\`md\n${fence('{"good": false}')}\n\`\`\`\``],
  ["a fence before a fence of tildes", `${fence('{"good": true}')}\n~~~text\n${fence('{"good": false}')}\n~~~`],
  ["a fence between loose brackets", `In { I said:\n${fence('{"good": true}')}\nThen }.`],
  ["a fence with another tag", fence('{"good": true}', "")],
  ["a fence on one line", '```json {"good": true} ```'],
  ["prose around it", 'Yes. {"good": true}. Bye.'],
  ["the last of several values", 'First {"good": false}, then {"good": true}'],
  ["a trailing comma", '{"good": true,}'],
  ["a trailing comma in prose", 'Well: {"good": true,\n}'],
  ["placeholders after it", '{"good": true} answers {summary} and [the rest]'],
  ["placeholders before it", 'As {summary} in { return "x"; } and [0, 1) says: {"good": true}'],
  ["a footnote and a check box after it", '{"good": true} [1]\n- [ ] tea\n- [x] milk\nfn() {}'],
  ["an index after it", '{"good": true} because of config["verdict"]'],
  ["a fence that is only an example", `${fence('{"good": …}')}\nMine: {"good": true}`],
])("readAnswer finds %s", (_where, text) => {
  expect(readAnswer(text)).toEqual(good);
});

test("strings in the value may contain brackets, quotes, fences and commas before brackets", () => {
  const value = { why: 'a } b ] c { d [ "e" ,] ,} \\ ```json\n{"x": 1}\n```', list: ["]", "{", "\\"] };
  const text = JSON.stringify(value, undefined, 2);
  for (const said of [text, `So: ${text} Done.`, fence(text), `So: ${text.replace(/\n\}$/, ",\n}")}`]) {
    expect(readAnswer(said)).toEqual({ ok: true, value });
  }
});

test("lists and scalars are values too", () => {
  expect(readAnswer('Here: ["a", "b",]')).toEqual({ ok: true, value: ["a", "b"] });
  expect(readAnswer("Here: [[1, 2], [3, 4]].")).toEqual({
    ok: true,
    value: [
      [1, 2],
      [3, 4],
    ],
  });
  expect(readAnswer('Here: [1, {"a": null}].')).toEqual({ ok: true, value: [1, { a: null }] });
  expect(readAnswer("42")).toEqual({ ok: true, value: 42 });
  expect(readAnswer("null")).toEqual({ ok: true, value: null });
});

test.each([
  ["", "The answer is empty."],
  [" \n", "The answer is empty."],
  ["All good.", "There is no JSON value in the answer."],
  ["{'good': true}", "There is no JSON value in the answer."],
  ['Look:\n{"good": true', "The JSON value that starts on line 2 of the answer is never closed."],
])("%j: %s", (text, problem) => {
  expect(readAnswer(text)).toEqual({ ok: false, problem });
});

test.each([
  ["broken", 'Draft: {"good": false}. Final: {"good": true, "why": "he said "no""}'],
  ["cut off", 'Draft: {"good": false}. Final: {"good": true, "list": [{"good": true}, {"go'],
  ["only described", 'Draft: {"good": false}. As asked: {"good": true | false}'],
  ["part of something that is no JSON", 'Draft: {"good": false}. Final: {answer: {"good": true}, why: {"a": 1}}'],
  ["part of a list of drafts that is cut off", 'Draft: {"good": false}. ["x", {"good": true}, '],
])("an earlier value is not used when the last one is %s", (_how, text) => {
  expect(readAnswer(text).ok).toBe(false);
});

test("the problem of a broken value is reported with its line", () => {
  const answer = readAnswer('So:\n\n{"good": yes, "why": "…"}');
  expect(answer).toEqual({
    ok: false,
    problem: expect.stringMatching(/starts on line 3 of the answer is not valid: .*yes/),
  });
});

test("no other mistake is repaired", () => {
  for (const text of [
    '{"a": 1,, "b": 2}',
    '{"a": 1 "b": 2}',
    '{"a": 01}',
    '{"a": "x\ny"}',
    '{"a": 1 /* one */}',
    '{a: 1, "b": 2}',
  ]) {
    expect(readAnswer(text).ok).toBe(false);
  }
});

test("a value that is nested too deep to be written again is refused", () => {
  const nested = (depth: number) => `{"a": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
  expect(readAnswer(nested(99)).ok).toBe(true);
  expect(readAnswer(nested(100))).toEqual({
    ok: false,
    problem: "The JSON value that starts on line 1 of the answer is nested more than 100 levels deep.",
  });
  expect(readAnswer(nested(500_000)).ok).toBe(false);
});

test.each([
  "[",
  "{",
  '["',
  '{"',
  '"',
  '\\"',
  "[1 ",
  "[1,{",
  ",",
  ", ",
  "{}",
  "```json\n",
  "```json\n{\n",
  "[ \n",
  "{x",
  "}",
  "> ",
  '>\n{"\n',
  "- ",
  "`",
  "~",
  '{x{"a":1}',
  "```a\n```\n",
])("half a million characters of %j take no longer than one pass", (piece) => {
  const start = ownTime();
  readAnswer(piece.repeat(500_000 / piece.length));
  expect(ownTime() - start).toBeLessThan(2_000);
});

test("a name from the prototype does no harm", () => {
  const answer = readAnswer('{"__proto__": {"good": true}}');
  expect(answer.ok && Object.keys(answer.value as object)).toEqual(["__proto__"]);
  expect(({} as { good?: boolean }).good).toBeUndefined();
});

test("no text makes readAnswer throw", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    ",",
    ":",
    "1",
    "true",
    "a",
    " ",
    "\n",
    "```json\n",
    "```",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => typeof readAnswer(text).ok === "boolean"),
    { numRuns: 2_000 },
  );
});

/** Texts with a value in them that the agent does not state itself. */
const quotes: readonly ((value: string) => string)[] = [
  (value) => value.replaceAll(/^/gm, "> "),
  (value) => fence(value).replaceAll(/^/gm, "> "),
  (value) => fence(value).replaceAll(/^/gm, "  >> "),
  (value) => fence(value, "diff"),
  (value) => `\`\`\`\`markdown\n${fence(value)}\n\`\`\`\``,
  (value) => `The log has ${JSON.stringify(value)} in it.`,
  () => "Nothing else.",
];

test("the last of several answers counts, wherever it stands and whatever is quoted around it", () => {
  const answer = fc.record({ verdict: fc.constantFrom("pass", "fail"), why: fc.string() });
  const state = fc.constantFrom<(value: string) => string>(
    (value) => value,
    (value) => fence(value),
    (value) => fence(value, ""),
    (value) => `My answer: ${value}`,
  );
  const quoted = fc.tuple(fc.constantFrom(...quotes), answer, fc.constantFrom(undefined, 2));
  const told = fc.array(quoted, { maxLength: 3 }).map((all) => {
    return all.map(([write, value, indent]) => write(JSON.stringify(value, undefined, indent))).join("\n\n");
  });
  const stated = fc.tuple(state, answer, fc.constantFrom(undefined, 2));
  fc.assert(
    fc.property(fc.array(fc.tuple(told, stated), { minLength: 1, maxLength: 3 }), told, (all, after) => {
      const before = all.map(([said, [write, value, indent]]) => {
        return `${said}\n\n${write(JSON.stringify(value, undefined, indent))}`;
      });
      const last = all.at(-1)?.[1][1];
      expect(readAnswer(`${before.join("\n\n")}\n\n${after}`)).toEqual({ ok: true, value: last });
    }),
    { numRuns: 500 },
  );
});

test("a text that only quotes answers has none", () => {
  for (const quote of quotes) {
    const text = quote('{"good": true}');
    expect(readAnswer(text), text).toEqual({ ok: false, problem: "There is no JSON value in the answer." });
  }
});

test("a value inside a larger value, or inside one of its strings, is not taken out of it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.boolean(), (inner, key, isText) => {
      const value = { [`k${key}`]: isText ? JSON.stringify({ good: inner }) : { good: inner } };
      const text = JSON.stringify(value);
      expect(readAnswer(`So: ${text}.`)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      expect(readAnswer(`So: ${text.slice(0, -1)}`).ok).toBe(false);
    }),
  );
});

test("every JSON value is found whole, in a fence, and objects also in prose", () => {
  const prose = fc.string().map((text) => text.replaceAll(/[[\]{}"`~>]/g, ""));
  const spacing = fc.constantFrom(undefined, 2);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), prose, prose, spacing, (value, before, after, space) => {
      const text = JSON.stringify(value, undefined, space);
      const found = { ok: true, value: JSON.parse(text) as unknown };
      expect(readAnswer(text)).toEqual(found);
      expect(readAnswer(`${before}\n${fence(text)}\n${after}`)).toEqual(found);
      const wrapped = JSON.stringify({ value }, undefined, space);
      expect(readAnswer(`${before} ${wrapped} ${after}`)).toEqual({ ok: true, value: JSON.parse(wrapped) as unknown });
    }),
  );
});
