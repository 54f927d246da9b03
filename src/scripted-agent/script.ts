import { definedErrors } from "../engine/harness-definition.ts";
import type { Key, Shape } from "../engine/language/shape.ts";
import { defaultNames } from "../engine/run-spec.ts";
import type { HarnessError } from "../ports/harness.ts";

/**
 * The script that is played if none is given. In a session it does the work of the built-in workflow `default`, and of
 * others as far as their statuses are the same. In turns it does the work of `pipeline` and `team`; in others, such as `crew`, it
 * changes something, commits and answers.
 */
export const defaultScript = `
roles:
  worker:
    - when: { mode: session, status: planning }
      steps:
        - think: 1s
        - section:
            heading: "## Plan"
            text: |
              APPROACH: write down what was asked for, in one note.
              TOUCHING: notes/{id}.md
        - cli: [task, update, --status, working]
        - think: 1s
        - write: { file: "notes/{id}.md", text: "# {summary}\\n\\nWritten by the scripted agent.\\n" }
        - commit: "Note: {summary}"
        - section:
            heading: "## Handoff"
            text: |
              DONE: notes/{id}.md is written and committed.
              REMAINING: nothing.
        - cli: [task, update, --status, agent-review]
        - usage: { input: 1200, output: 300, cost: 0.01 }
        - say: The work is handed over for review.
    - when: { mode: session, status: working }
      steps:
        - think: 1s
        - append: { file: "notes/{id}.md", text: "\\nChanged in message {turn} of session {run}.\\n" }
        - commit: "Note: {summary}, once more"
        - section:
            heading: "## Handoff"
            text: |
              DONE: the note is changed as the review asked, in message {turn} of session {run}.
              REMAINING: nothing.
        - choose:
            - when: { prompt: task update --status reviewing }
              steps: [{ cli: [task, update, --status, reviewing] }]
            - steps: [{ cli: [task, update, --status, agent-review] }]
        - usage: { input: 800, output: 200, cost: 0.01 }
        - say: The points of the review are mended.
    - when: { mode: session, status: clarification }
      steps:
        - section: { heading: "## Questions", text: "1. What is to be done, in one sentence?" }
        - say: The questions stand in the task file.
  reviewer:
    - when: { mode: session, status: agent-review }
      steps:
        - think: 1s
        - run: [git, log, --oneline, -5]
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nThe note says what was asked for. This is review {run}." }
        - cli: [task, update, --status, reviewing]
        - usage: { input: 900, output: 100, cost: 0.01 }
        - say: The review is written.
  any:
    - when: { mode: turn, status: [CONTEXT_PACK, SPEC] }
      steps:
        - tool:
            name: stage_message
            input: { to: all, message: "{status}: the note notes/{id}.md is all that there is to know." }
        - usage: { input: 500, output: 100, cost: 0.01 }
        - tool:
            name: work_complete
            input:
              summary: The document is handed over.
              documents:
                - type: note
                  title: "{status} of {summary}"
                  text: "# {summary}\\n\\nWrite down what was asked for, in the one note notes/{id}.md.\\n"
    - when: { status: CLARIFYING }
      steps:
        - usage: { input: 500, output: 100, cost: 0.01 }
        - answer: { status: ready, message: "A scripted agent has no questions, and builds what you asked for: {summary}" }
    - when: { status: PLANNING }
      steps:
        - usage: { input: 500, output: 100, cost: 0.01 }
        - answer:
            subtasks:
              - { id: note, title: "Note: {summary}", description: "Write down what was asked for, in one note.", size: S }
    - when: { mode: turn, status: [TESTING, DOC_REVIEW] }
      steps:
        - usage: { input: 500, output: 100, cost: 0.01 }
        - say: Nothing needs to be changed.
        - marker
    - when: { mode: turn, permissions: full }
      steps:
        - try:
            - append: { file: "notes/{id}.md", text: "Message {turn} of session {run} of the {role}.\\n" }
            - commit: "Note: {summary}"
        - usage: { input: 500, output: 100, cost: 0.01 }
        - say: Everything that was asked for is done.
        - marker
    - steps:
        - usage: { input: 500, output: 100, cost: 0.01 }
        - say: Everything that was asked for is done.
        - marker
`;

/** Steps that may be written without a value, with their default values. */
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
  file: needed(text, "The file, relative to the workspace"),
  text: needed(text, "The text to write"),
});

const when: Shape = record("a map of conditions", {
  status: key(texts, "The status in the task file"),
  prompt: key(texts, "Text in the message"),
  role: key(texts, "The role"),
  mode: key(texts, "session or turn"),
  permissions: key(texts, "full or reduced"),
  turn: key(first, "The number of the message in the session"),
  run: key(first, "The number of the role's session for the task"),
  counter: key({ kind: "map", of: count, what: "counters" }, "The values of the counters"),
  task: key({ kind: "map", of: text, what: "fields of the frontmatter" }, "Fields of the task file's frontmatter"),
});

const errorKinds = [...definedErrors, "other"];

// Steps contain steps, so the list resolves its items lazily.
const steps: Shape = {
  kind: "list",
  get of(): Shape {
    return step;
  },
};

const choice: Shape = record("a choice", { when: key(when, "Its conditions"), steps: needed(steps, "Its steps") });

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
    record("a section", { heading: needed(text, "Its heading"), text: needed(text, "Its text") }),
    "Writes a section of the task file",
  ),
  run: key(argv, "Runs a program"),
  cli: key(argv, "Runs Signalbox's command line with these arguments"),
  tool: key(
    record("a call of a tool", {
      name: needed(text, "The tool of Signalbox's MCP server, such as work_complete"),
      input: key({ kind: "any" }, "Its input"),
    }),
    "Calls a tool of Signalbox's MCP server",
  ),
  sleep: key(text, "Does nothing for a time, without a sign of life"),
  think: key(
    {
      kind: "either",
      options: [
        text,
        record("a thought", { time: needed(text, "How long"), about: needed(text, "The text that it shows") }),
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
          about: needed(text, "The question"),
          yes: key(steps, "The steps if a person agrees"),
          no: key(steps, "The steps if not"),
        }),
      ],
      expected: "a text or a question",
    },
    "Shows a dialog and waits for a person",
  ),
  answer: key({ kind: "any" }, "The turn's answer as data"),
  marker: key(text, "Says this text on its own line"),
  usage: key(
    record("a map of usage", {
      input: key(count, "Tokens read"),
      output: key(count, "Tokens written"),
      cached: key(count, "Cached tokens"),
      cost: key(amount, "US dollars"),
    }),
    "Reports usage",
  ),
  error: key(
    record("an error", {
      kind: needed({ kind: "text", oneOf: errorKinds }, "The kind of error"),
      message: key(text, "A sentence for people"),
      reset: key(text, "How long the rate limit lasts"),
    }),
    "Ends the turn with an error",
  ),
  count: key(text, "Adds one to a counter of the task"),
  try: key(steps, "Plays these steps, and continues even if one fails"),
  choose: key({ kind: "list", of: choice, notEmpty: true }, "Plays the first choice whose conditions hold"),
  repeat: key(
    record("a repetition", { times: needed(first, "How often"), steps: needed(steps, "The steps") }),
    "Plays these steps several times",
  ),
  exit: key({ kind: "integer", min: 0, max: 255 }, "Ends the program with this code"),
  crash: key(
    { kind: "text", pattern: /^SIG[A-Z0-9]+$/, expected: "the name of a signal" },
    "Ends the program by a signal",
  ),
  hang: key(
    { kind: "text", oneOf: ["gently", "deaf"] },
    "Never continues; deaf: ignores every signal that can be ignored",
  ),
  flood: key(text, "Prints this many bytes of text"),
  binary: key(text, "Prints this many arbitrary bytes"),
  fork: key(text, "Leaves a process behind that lives this long"),
  delete_task_file: key(yes, "Deletes the task file"),
  delete_workspace: key(yes, "Deletes its workspace"),
  switch_branch: key(text, "Checks out another branch, and creates it if necessary"),
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
  paste_burst: key(count, "Milliseconds after typed text within which Enter is only a new line"),
  roles: needed(
    {
      kind: "map",
      what: "roles",
      of: {
        kind: "list",
        of: record("a turn", {
          when: key(when, "The conditions under which it is played"),
          times: key(first, "How often it is played in one session"),
          steps: needed(steps, "Its steps"),
        }),
      },
    },
    "Turns by role; any for turns of every role",
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

/** What a scripted agent does, turn by turn. */
export interface Script {
  /** Whether an interactive agent asks at its start whether the folder is trusted. */
  readonly trust: boolean;
  /** Milliseconds after typed text within which Enter is only a new line. 0: Enter always submits. */
  readonly pasteBurst: number;
  /** Turns by role; those of `any` come after those of the role itself. */
  readonly roles: Readonly<Record<string, readonly ScriptTurn[]>>;
}

/** The steps for one message, if all conditions under `when` hold. */
export interface ScriptTurn {
  readonly when: When;
  /** How often it is played in one session. */
  readonly times: number;
  readonly steps: readonly Step[];
}

/** All conditions must hold; of a list, one entry is enough. */
export interface When {
  readonly status?: readonly string[];
  /** Texts that the message may contain. */
  readonly prompt?: readonly string[];
  readonly role?: readonly string[];
  readonly mode?: readonly string[];
  readonly permissions?: readonly string[];
  /** Which message of its session it is, from 1. */
  readonly turn?: number;
  /** Which session of the role for the task it is, from 1. */
  readonly run?: number;
  /** The task's counters so far. */
  readonly counter?: Readonly<Record<string, number>>;
  /** Fields of the task file's frontmatter. */
  readonly task?: Readonly<Record<string, string>>;
}

export interface Choice {
  readonly when: When;
  readonly steps: readonly Step[];
}

/** The text that a busy agent shows by default. */
export const thinking = "Thinking";

/** The steps by name, with the type of each value. */
export interface StepValues {
  say: string;
  write: FileText;
  append: FileText;
  delete: string;
  fill: { readonly file: string; readonly bytes: number };
  commit: string;
  section: { readonly heading: string; readonly text: string };
  run: readonly string[];
  cli: readonly string[];
  tool: { readonly name: string; readonly input: unknown };
  sleep: number;
  think: { readonly time: number; readonly about: string };
  ask: { readonly about: string; readonly yes: readonly Step[]; readonly no: readonly Step[] };
  answer: unknown;
  marker: string;
  usage: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly cost: number | undefined;
  };
  error: { readonly kind: HarnessError["kind"]; readonly message: string; readonly reset: number | undefined };
  count: string;
  try: readonly Step[];
  choose: readonly Choice[];
  repeat: { readonly times: number; readonly steps: readonly Step[] };
  exit: number;
  crash: string;
  hang: "gently" | "deaf";
  flood: number;
  binary: number;
  fork: number;
  delete_task_file: true;
  delete_workspace: true;
  switch_branch: string;
}

interface FileText {
  readonly file: string;
  readonly text: string;
}

export type StepKind = keyof StepValues;
export type Step = { readonly [Kind in StepKind]: { readonly kind: Kind; readonly value: StepValues[Kind] } }[StepKind];
