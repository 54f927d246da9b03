import fc from "fast-check";
import { expect, test } from "vitest";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { formatProblem } from "../../src/engine/language/problem.ts";
import { marked, problemsOf } from "./workflow-texts.ts";

/** The text, with a mark where the problem must be reported; the message and its fix. */
type Slip = readonly [what: string, text: string, told: string];

const slips: readonly Slip[] = [
  [
    "a brace that is never closed",
    "states:\n  a: ¦{ waits_for: human, next: b\n  b: { terminal: true }\n",
    "This { is never closed. Add }, probably at the end of line 2.",
  ],
  [
    "a bracket over several lines that is never closed",
    "initial: ¦[a,\n  b\nstates: {}\n",
    "This [ is never closed. Add ], probably at the end of line 2.",
  ],
  [
    "the inner of two braces is closed, the outer is not",
    "states: ¦{ a: { next: b }\nversion: 1\n",
    "This { is never closed. Add }, probably at the end of line 1.",
  ],
  [
    "a bracket that a brace closes",
    "states:\n  a: { next: [b, c ¦}\n  b: {}\n",
    "This } comes before the [ is closed. Write ] in front of it.",
  ],
  [
    "a brace too many",
    "states:\n  a: { next: b }¦}\n  b: {}\n",
    "This } closes nothing. Remove it, or add the { that it closes.",
  ],
  [
    "a missing comma",
    "states:\n  a: { waits_for: human ¦next: b }\n",
    'A comma is missing in front of "next". Write human, next: …',
  ],
  [
    "a semicolon for a comma",
    "states:\n  a: { waits_for: human; ¦next: b }\n",
    'A comma is missing in front of "next". Write human, next: …',
  ],
  ["a comma too many", "states: { a: {},¦, b: {} }\n", "This comma separates nothing. Remove it."],
  [
    "a double quote that is never closed",
    'name: ¦"b\nversion: 1\n',
    'The text that begins with " here has no " at its end. Add " where the text ends, probably in line 1.',
  ],
  [
    "a quote in a map that is never closed",
    "states:\n  a: { ask: ¦'Really?, next: b }\n  b: {}\n",
    "The text that begins with ' here has no ' at its end. Add ' where the text ends, probably in line 2.",
  ],
  [
    "an apostrophe in single quotes",
    "prompts:\n  a: 'it'¦s'\n",
    "The text in ' ends before \"s'\". For an apostrophe in it write '', or use double quotes.",
  ],
  [
    "a quote in double quotes",
    'prompts:\n  a: "say "¦yes" now"\n',
    'The text in " ends before "yes" now"". For a quote in it write \\", or use single quotes.',
  ],
  [
    "a prompt that begins with a variable",
    "prompts:\n  a: {summary} ¦is it\n",
    'A value that begins with { is a map, and this one ends before "is it". If it is text, put all of it in quotes.',
  ],
  [
    "a colon in a text",
    "prompts:\n  a: ¦Say: yes\n",
    'This text has a ":" in it, which would begin a second key. Put it in quotes: "…".',
  ],
  [
    "a line that is indented below a value",
    "states:\n  a: ¦x\n    b: {}\n",
    "Line 3 is indented as if it belonged below this value. Indent it like the key of this value, or move the value down beside it.",
  ],
  [
    "a line that begins in another column",
    "states:\n  a: {}\n¦ b: {}\n",
    "This line begins in another column than its neighbours. Indent it like them.",
  ],
  ["a tab", "states:\n¦\ta: {}\n", "This line is indented with a tab. Indent it with spaces."],
  [
    "a key without its colon",
    "version: 1\n¦states\n",
    'There is no ":" behind "states". Write a colon and a space behind a key; indent what belongs to the text above further than its key.',
  ],
  ["a colon without its space", "version: 1\n¦name:b\n", 'A space is missing behind the ":" of "name". Write name: b'],
  [
    "a reserved sign",
    "prompts:\n  a: ¦@reviewer\n",
    'A value cannot begin with "@". If it is text, put it in quotes: "…".',
  ],
  [
    "a key twice",
    "version: 1\n¦version: 1\n",
    'The key "version" is already used above. Merge the two, or remove one.',
  ],
  [
    "a tag that nobody knows",
    "name: ¦!label b\n",
    "!label is a tag, and tags have no meaning here. Remove it, or put the value in quotes if it is text that begins so.",
  ],
  [
    "a tag of YAML's own",
    "name: !!str ¦b\n",
    "!!str is a tag, and tags have no meaning here. Remove it, or put the value in quotes if it is text that begins so.",
  ],
  [
    "an escape that means nothing",
    'prompts:\n  a: "¦\\q"\n',
    "\\q means nothing between double quotes. Write \\\\q, or use single quotes.",
  ],
  [
    "a dash behind a key",
    "initial: ¦- a\n",
    "A list with dashes begins on a line of its own. Write it below its key, or as [a, b].",
  ],
  [
    "a second document",
    "version: 1\n¦---\nversion: 1\n",
    'A second document begins here, behind "---". Make a file of each.',
  ],
];

test.each(slips)("%s is reported at its place, with its likely fix", (_what, source, told) => {
  const { text, line, column } = marked(source);
  expect(problemsOf(text).map(formatProblem)).toEqual([`b.yml:${line}:${column} error: ${told}`]);
  expect(loadWorkflow(text, "b.yml").workflow).toBeUndefined();
});

test("mistakes in several lines are all reported, one for each line", () => {
  const text = "prompts:\n  a: Say: yes\n  b: @me\n  c: 'it's'\n";
  expect(problemsOf(text).map(({ line }) => line)).toEqual([2, 3, 4]);
});

test("after a quote that swallows the rest of the file, nothing else is reported", () => {
  expect(problemsOf('name: "b\nprompts:\n  a: Say: yes\n  b: @me\n')).toHaveLength(1);
});

test("of hundreds of mistakes only the first ten are reported", () => {
  const text = `prompts:\n${Array.from({ length: 300 }, (_, i) => `  p${i}: @reviewer\n`).join("")}`;
  expect(problemsOf(text)).toHaveLength(10);
});

test("names in a list without a comma get the comma offered", () => {
  const text =
    "version: 1\nstates: { a: { waits_for: human }, b: { terminal: true } }\n" +
    "transitions: [{ from: a, to: b, hooks: [kill_session release_workspace] }]\n";
  expect(problemsOf(text).map(({ fix }) => fix)).toEqual(["Put commas between them: kill_session, release_workspace."]);
});

test("in a file with any part cut out, every problem has a place and a message", () => {
  const whole = slips.map(([, source]) => source.replace("¦", "")).join("");
  fc.assert(
    fc.property(fc.nat(whole.length), fc.nat(60), (start, length) => {
      const text = whole.slice(start, start + length);
      const lines = text.split("\n").length;
      for (const { line, column, message } of problemsOf(text)) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(lines);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(message).not.toBe("");
      }
    }),
    { numRuns: 500 },
  );
});

/** The processor time that loading a file of 4,000 states takes, in milliseconds; each names another one. */
function load(named: (i: number) => string) {
  const states = Array.from({ length: 4_000 }, (_, i) => `  s${i}: { next: ${named(i)} }`);
  const source = `version: 1\nstates:\n${states.join("\n")}\n  stnumber_1: { terminal: true }\n`;
  const { user: began } = process.threadCpuUsage();
  const problems = problemsOf(source);
  return { problems, time: (process.threadCpuUsage().user - began) / 1_000 };
}

test("of thousands of misspelt names the first get a suggestion, and the file loads nearly as fast as a right one", () => {
  const right = load(() => "stnumber_1");
  const { problems, time } = load((i) => `stnumbre_${i}`);
  expect(right.problems).toEqual([]);
  expect(time).toBeLessThan(3 * right.time);
  expect(problems).toHaveLength(4_000);
  expect(problems.filter(({ fix }) => fix === 'Did you mean "stnumber_1"?').length).toBeGreaterThan(0);
  expect(problems.filter(({ fix }) => fix !== "")).toHaveLength(25);
});
