import { defaultNames } from "../../engine/default-names.ts";
import { definedErrors } from "../../engine/harness-definition.ts";
import type { Key, Shape } from "../../engine/language/shape.ts";
import type { StepKind, StepValues } from "./script.ts";

/** Steps that may stand without a value, with the one that they then have. */
export const bareSteps: Readonly<Record<string, StepValues[StepKind]>> = {
  marker: defaultNames.marker,
  hang: "gently",
  delete_task_file: true,
  delete_workspace: true,
};

const text: Shape = { kind: "text" };
const texts: Shape = {
  kind: "either",
  options: [{ kind: "list", of: text, notEmpty: true }, text],
  expected: "a text or a list of texts",
};
const count: Shape = { kind: "integer", min: 0 };
const first: Shape = { kind: "integer", min: 1 };
const amount: Shape = { kind: "number", min: 0 };
const yes: Shape = { kind: "boolean" };
const argv: Shape = { kind: "list", of: text, notEmpty: true };
const fileText: Shape = record("a file with its text", {
  file: needed(text, "The file, from the workspace"),
  text: needed(text, "What is written"),
});

const when: Shape = record("a map of conditions", {
  status: key(texts, "What the task file says the status is"),
  prompt: key(texts, "What the message contains"),
  role: key(texts, "The role"),
  mode: key(texts, "session or turn"),
  permissions: key(texts, "full or reduced"),
  turn: key(first, "Which message of the session it is"),
  run: key(first, "Which session of the role for the task it is"),
  counter: key({ kind: "map", of: count, what: "counters" }, "What the counters are at"),
  task: key({ kind: "map", of: text, what: "fields of the frontmatter" }, "What the task file's frontmatter says"),
});

const errorKinds = [...definedErrors, "other"];

// Steps contain steps: the list looks its items up only when it is read.
const steps: Shape = {
  kind: "list",
  get of(): Shape {
    return step;
  },
};

const choice: Shape = record("a choice", { when: key(when, "When it is taken"), steps: needed(steps, "What is done") });

const stepKeys: { readonly [Kind in StepKind]: Key } = {
  say: key(text, "Says something"),
  write: key(fileText, "Writes a file"),
  append: key(fileText, "Adds to the end of a file"),
  delete: key(text, "Deletes a file or a folder"),
  fill: key(
    record("a file with its size", { file: needed(text, "The file"), bytes: needed(text, "Its size") }),
    "Writes a file of a size",
  ),
  commit: key(text, "Commits everything with this message"),
  section: key(
    record("a section", { heading: needed(text, "Its heading"), text: needed(text, "What stands under it") }),
    "Writes a section of the task file",
  ),
  run: key(argv, "Runs a program"),
  cli: key(argv, "Runs our command line with these arguments"),
  sleep: key(text, "Does nothing for a time, without a sign of life"),
  think: key(
    {
      kind: "either",
      options: [
        text,
        record("a thought", { time: needed(text, "How long"), about: needed(text, "What it says it is doing") }),
      ],
      expected: "a time, or a time with what it is about",
    },
    "Is busy for a time, and shows it",
  ),
  ask: key(
    {
      kind: "either",
      options: [
        text,
        record("a question", {
          about: needed(text, "What it is about"),
          yes: key(steps, "What is done where a person agrees"),
          no: key(steps, "What is done where not"),
        }),
      ],
      expected: "a text or a question",
    },
    "Shows a dialog, and waits for a person",
  ),
  answer: key({ kind: "any" }, "The turn's answer as data"),
  marker: key(text, "Says this on a line of its own"),
  usage: key(
    record("a map of what was used up", {
      input: key(count, "Tokens read"),
      output: key(count, "Tokens written"),
      cached: key(count, "Tokens that came from a cache"),
      cost: key(amount, "US dollars"),
    }),
    "Tells what was used up",
  ),
  error: key(
    record("an error", {
      kind: needed({ kind: "text", oneOf: errorKinds }, "Which one"),
      message: key(text, "A sentence for people"),
      reset: key(text, "How long a rate limit still lasts"),
    }),
    "Ends the turn with an error",
  ),
  count: key(text, "Adds one to a counter of the task"),
  try: key(steps, "Does these, and goes on even if one fails"),
  choose: key({ kind: "list", of: choice, notEmpty: true }, "Does the first of these whose conditions hold"),
  repeat: key(
    record("a repetition", { times: needed(first, "How often"), steps: needed(steps, "What") }),
    "Does these several times",
  ),
  exit: key({ kind: "integer", min: 0, max: 255 }, "Ends the program with this code"),
  crash: key(
    { kind: "text", pattern: /^SIG[A-Z0-9]+$/, expected: "the name of a signal" },
    "Ends the program by a signal",
  ),
  hang: key(
    { kind: "text", oneOf: ["gently", "deaf"] },
    "Never goes on; deaf: not even for a signal that can be ignored",
  ),
  flood: key(text, "Prints this many bytes of text"),
  binary: key(text, "Prints this many bytes of everything"),
  fork: key(text, "Leaves a process behind that lives this long"),
  delete_task_file: key(yes, "Deletes the task file"),
  delete_workspace: key(yes, "Deletes the workspace it stands in"),
  switch_branch: key(text, "Goes to another branch, and makes it where there is none"),
};

export const stepNames: readonly string[] = Object.keys(stepKeys);

const step: Shape = {
  kind: "either",
  options: [
    { kind: "text", oneOf: Object.keys(bareSteps) },
    { kind: "record", what: "a step", keys: stepKeys },
  ],
  expected: `a step, or one of ${Object.keys(bareSteps).join(", ")}`,
};

export const scriptShape: Shape = record("a script", {
  trust: key(yes, "Whether it asks at its start whether the folder is trusted"),
  paste_burst: key(count, "Milliseconds behind typed text within which Enter is only a new line"),
  roles: needed(
    {
      kind: "map",
      what: "roles",
      of: {
        kind: "list",
        of: record("a turn", {
          when: key(when, "When it is played"),
          times: key(first, "How often it is played in one session"),
          steps: needed(steps, "What is done"),
        }),
      },
    },
    "Turns by role; any for those of every role",
  ),
});

function record(what: string, keys: Readonly<Record<string, Key>>): Shape {
  return { kind: "record", what, keys };
}

function key(shape: Shape, description: string): Key {
  return { shape, description };
}

function needed(shape: Shape, description: string): Key {
  return { shape, description, required: true };
}
