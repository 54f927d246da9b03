import { describe, expect, test } from "vitest";
import { readScript } from "./read-script.ts";
import { defaultScript } from "./script.ts";

const steps = (...lines: readonly string[]) =>
  readScript(`roles:\n  any:\n    - steps:\n${lines.map((line) => `        - ${line}\n`).join("")}`, "s.yml").roles
    .any?.[0]?.steps;

test("the built-in script is valid", () => {
  expect(Object.keys(readScript(defaultScript, "built in").roles)).toEqual(["worker", "reviewer", "any"]);
});

test("durations and sizes become milliseconds and bytes", () => {
  expect(steps("sleep: 2s", "think: 500ms", "flood: 2 KB", "binary: 10", "fill: { file: a, bytes: 1 GB }")).toEqual([
    { kind: "sleep", value: 2000 },
    { kind: "think", value: { time: 500, about: "Thinking" } },
    { kind: "flood", value: 2048 },
    { kind: "binary", value: 10 },
    { kind: "fill", value: { file: "a", bytes: 1024 ** 3 } },
  ]);
});

test("the subject of a thought is shown", () => {
  expect(steps('think: { time: 2s, about: "Reading {branch}" }')).toEqual([
    { kind: "think", value: { time: 2000, about: "Reading {branch}" } },
  ]);
  expect(() => steps("think: { time: 2s }")).toThrow(/about/);
});

test("some steps can be written without a value", () => {
  expect(steps("marker", "hang", "hang: deaf", "delete_task_file")).toEqual([
    { kind: "marker", value: "DONE" },
    { kind: "hang", value: "gently" },
    { kind: "hang", value: "deaf" },
    { kind: "delete_task_file", value: true },
  ]);
});

test("a heading is the same with and without its marks", () => {
  expect(steps('section: { heading: "## Plan", text: a }')).toEqual(steps("section: { heading: Plan, text: a }"));
});

test("nested steps are read", () => {
  expect(
    steps("try: [{ choose: [{ when: { status: a }, steps: [{ repeat: { times: 2, steps: [marker] } }] }] }]"),
  ).toEqual([
    {
      kind: "try",
      value: [
        {
          kind: "choose",
          value: [
            {
              when: { status: ["a"] },
              steps: [{ kind: "repeat", value: { times: 2, steps: [{ kind: "marker", value: "DONE" }] } }],
            },
          ],
        },
      ],
    },
  ]);
});

describe("a mistake is reported with its correction", () => {
  test.each([
    ["an unknown step", "- steps: [{ sey: hello }]", /s\.yml:\d+:\d+ error: A step has no key "sey"\. .*say/],
    ["two steps in one", "- steps: [{ say: a, commit: b }]", /exactly one key, but one has say, commit/],
    ["an unknown condition", "- { when: { state: a }, steps: [] }", /no key "state".*status/],
    ["a duration", "- steps: [{ sleep: soon }]", /"soon" is not a duration.*500ms/],
    ["a size", "- steps: [{ flood: much }]", /"much" is not a size.*64 KB/],
    ["an unknown error", "- steps: [{ error: { kind: rate_limit } }]", /cannot be "rate_limit".*rate-limit/],
    ["a signal", "- steps: [{ crash: 9 }]", /must be the name of a signal/],
    ["no steps", "- when: { turn: 1 }", /needs the key "steps"/],
  ])("%s", (_, turn, message) => {
    expect(() => readScript(`roles:\n  any:\n    ${turn}\n`, "s.yml")).toThrow(message);
  });
});
