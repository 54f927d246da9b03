import { describe, expect, test } from "vitest";
import { type HarnessDefinition, harnessesProblem, harnessesShape } from "./harness-definition.ts";
import { fixText } from "./language/problem.ts";
import { readShape } from "./language/shape.ts";
import { readTree } from "./language/tree.ts";

/** Reads definitions as a configuration does: form first, then meaning. */
function read(text: string) {
  const { tree } = readTree(text, "config.yml");
  const complaints: string[] = [];
  if (tree === undefined) throw new Error("This is no YAML.");
  const value = readShape(harnessesShape, tree, [], (_, message, fix) =>
    complaints.push(`${message} ${fixText(fix)}`.trim()),
  );
  const harnesses = value as Readonly<Record<string, HarnessDefinition>>;
  const problem = complaints[0] ?? harnessesProblem(harnesses);
  return { harnesses, problem };
}

test("a definition with every key is valid", () => {
  const { harnesses, problem } = read(`
mine:
  title: My agent
  version: [mine, --version]
  turn:
    argv: [mine, --print, [--model, "{model}"], "--schema={schema_file}"]
    resume: [mine, --resume, "{session}", "{prompt}"]
    output: jsonl
    text: message.text
    answer: data
    session: session_id
    error: error.message
    usage: { model: model, input: usage.in, output: usage.out, cached: usage.cached, cost: cost }
  session:
    argv: [mine, --id, "{session}"]
    resume: [mine, --resume, "{session}"]
    ready: "^> $"
    busy: esc to interrupt
    asks: "\\\\(y/n\\\\)"
    events: true
  reduced: [--read-only]
  env: { MINE_QUIET: "1" }
  errors: { rate-limit: "429|too many", authentication: "401" }
`);
  expect(problem).toBeUndefined();
  expect(harnesses.mine?.turn?.argv[2]).toEqual(["--model", "{model}"]);
});

describe("a mistake in a definition is reported with the next step", () => {
  test.each([
    ["no way to run it", "mine: { title: Mine }", /"mine" is wrong: it has neither "turn" nor "session"/],
    ["a key that is none", "mine: { turns: { argv: [a] } }", /no key "turns".*turn/],
    ["no arguments", "mine: { turn: { output: json } }", /needs the key "argv"/],
    ["an empty list", "mine: { turn: { argv: [] } }", /must not be an empty list/],
    ["a shell line", "mine: { turn: { argv: mine --print } }", /"argv" must be a list/],
    ["a variable that is none", 'mine: { turn: { argv: [a, "{promt}"] } }', /uses \{promt\}, which does not exist/],
    ["a program from outside", 'mine: { turn: { argv: ["{prompt}"] } }', /must begin with the program/],
    ["a resume without session", "mine: { turn: { argv: [a], resume: [a] } }", /Put \{session\} into it/],
    ["paths without JSON", "mine: { turn: { argv: [a], text: b } }", /output is plain. Add output: json/],
    ["JSON without paths", "mine: { turn: { argv: [a], output: json } }", /nothing says where the answer is/],
    ["an expression", 'mine: { session: { argv: [a], ready: "(" } }', /"session.ready" is no regular expression/],
    ["an error that is none", "mine: { session: { argv: [a] }, errors: { limit: a } }", /no key "limit"/],
    ["a name", "Mine: { session: { argv: [a] } }", /"Mine" is not a valid name/],
  ])("%s", (_, text, message) => {
    expect(read(text).problem).toMatch(message);
  });
});
