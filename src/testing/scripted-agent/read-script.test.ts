import { describe, expect, test } from "vitest";
import { defaultScript } from "./default-script.ts";
import { readScript } from "./read-script.ts";

const steps = (...lines: readonly string[]) =>
  readScript(`roles:\n  any:\n    - steps:\n${lines.map((line) => `        - ${line}\n`).join("")}`, "s.yml").roles
    .any?.[0]?.steps;

test("the script that is built in is right", () => {
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

test("what it thinks about is what it shows", () => {
  expect(steps('think: { time: 2s, about: "Reading {branch}" }')).toEqual([
    { kind: "think", value: { time: 2000, about: "Reading {branch}" } },
  ]);
  expect(() => steps("think: { time: 2s }")).toThrow(/about/);
});

test("steps without a value stand by themselves", () => {
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

test("steps inside of steps are read as well", () => {
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

describe("a mistake is told with what to do", () => {
  test.each([
    ["a step that is none", "- steps: [{ sey: hello }]", /s\.yml:\d+:\d+ error: A step has no key "sey"\. .*say/],
    ["two steps in one", "- steps: [{ say: a, commit: b }]", /exactly one key, but one has say, commit/],
    ["a condition that is none", "- { when: { state: a }, steps: [] }", /no key "state".*status/],
    ["a duration", "- steps: [{ sleep: soon }]", /"soon" is no duration.*500ms/],
    ["a size", "- steps: [{ flood: much }]", /"much" is no size.*64 KB/],
    ["an error that is none", "- steps: [{ error: { kind: rate_limit } }]", /cannot be "rate_limit".*rate-limit/],
    ["a signal", "- steps: [{ crash: 9 }]", /must be the name of a signal/],
    ["no steps", "- when: { turn: 1 }", /needs the key "steps"/],
  ])("%s", (_, turn, message) => {
    expect(() => readScript(`roles:\n  any:\n    ${turn}\n`, "s.yml")).toThrow(message);
  });
});
