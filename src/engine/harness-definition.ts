import type { Key, Shape } from "./language/shape.ts";
import { variablesOf } from "./template.ts";

/** How to use any program as a harness: the value under its name in `harnesses` of the configuration. */
export interface HarnessDefinition {
  /** Its name for people; the key in the configuration by default. */
  readonly title?: string;
  /** The command that prints its version. */
  readonly version?: readonly string[];
  readonly turn?: TurnDefinition;
  readonly session?: SessionDefinition;
  /** The command that starts it with the Agent Client Protocol; then turn and session are not needed. */
  readonly acp?: readonly string[];
  /** Appended to the arguments of a run with reduced permissions. Without it only the prompt asks for restraint. */
  readonly reduced?: Arguments;
  /** What it needs in a sandbox, besides its program: paths such as `~/.aider`, to read and to change. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** For each kind of error a regular expression that recognises it in the program's output. */
  readonly errors?: Readonly<Record<string, string>>;
}

/** A nested list is left out as a whole if a variable in it has no value. */
export type Arguments = readonly (string | readonly string[])[];

export interface TurnDefinition {
  readonly argv: Arguments;
  /** How a session is resumed; without it sessions cannot be resumed. */
  readonly resume?: Arguments;
  /** plain: the whole output is the answer. json: one JSON document. jsonl: one JSON value per line. */
  readonly output?: "plain" | "json" | "jsonl";
  /** Paths in the JSON: `result.text`, `items.0.id`. */
  readonly text?: string;
  readonly answer?: string;
  readonly session?: string;
  readonly error?: string;
  readonly usage?: UsagePaths;
}

interface UsagePaths {
  readonly model?: string;
  readonly input?: string;
  readonly output?: string;
  readonly cached?: string;
  readonly cost?: string;
}

interface SessionDefinition {
  readonly argv: Arguments;
  readonly resume?: Arguments;
  /** Regular expressions that recognise the program's activity from the end of its screen. */
  readonly ready?: string;
  readonly busy?: string;
  readonly asks?: string;
  /** It appends lines to the file that SIGNALBOX_EVENTS names. */
  readonly events?: boolean;
}

/** The variables that arguments can contain. */
const harnessVariables = [
  "prompt",
  "system",
  "model",
  "effort",
  "session",
  "schema",
  "schema_file",
  "task_file",
  "workspace",
  "cli",
] as const;
export type HarnessVariable = (typeof harnessVariables)[number];

/** The kinds of errors that a definition can recognise. */
export const definedErrors = [
  "session-in-use",
  "session-unknown",
  "authentication",
  "rate-limit",
  "overflow",
  "timeout",
  "refusal",
  "denied",
  "server",
  "budget",
] as const;

const text: Shape = { kind: "text" };
const argumentsShape: Shape = {
  kind: "list",
  notEmpty: true,
  of: {
    kind: "either",
    options: [{ kind: "list", of: text, notEmpty: true }, text],
    expected: "a text or a list of texts",
  },
};
/** Absolute paths, and paths in the user's home. */
export const pathsShape: Shape = {
  kind: "list",
  of: { kind: "text", pattern: /^(~\/|\/)[^/\0]/, expected: "a path such as ~/.gitconfig or /srv/data" },
};
const turnKeys: Readonly<Record<string, Key>> = {
  argv: { shape: argumentsShape, required: true, description: "The program and its arguments" },
  resume: { shape: argumentsShape, description: "The same for resuming a session" },
  output: {
    shape: { kind: "text", oneOf: ["plain", "json", "jsonl"] },
    description: "What it prints; plain if left out",
  },
  text: { shape: text, description: "Where the text of its answer is in the JSON" },
  answer: { shape: text, description: "Where its answer is as data" },
  session: { shape: text, description: "Where the id of its session is" },
  error: { shape: text, description: "Where an error is" },
  usage: {
    shape: {
      kind: "record",
      what: "a map of usage",
      keys: {
        model: { shape: text, description: "Where the model is" },
        input: { shape: text, description: "Where the number of input tokens is" },
        output: { shape: text, description: "Where the number of output tokens is" },
        cached: { shape: text, description: "Where the number of cached tokens is" },
        cost: { shape: text, description: "Where the cost is, in US dollars" },
      },
    },
    description: "Where the usage is",
  },
};
const sessionKeys: Readonly<Record<string, Key>> = {
  argv: { shape: argumentsShape, required: true, description: "The program and its arguments" },
  resume: { shape: argumentsShape, description: "The same for resuming a session" },
  ready: { shape: text, description: "A regular expression: it waits for a message" },
  busy: { shape: text, description: "A regular expression: it is at work" },
  asks: { shape: text, description: "A regular expression: a dialog waits for a person" },
  events: { shape: { kind: "boolean" }, description: "Whether it reports events in the file of SIGNALBOX_EVENTS" },
};

/** The shape of `harnesses` in a configuration. */
export const harnessesShape: Shape = {
  kind: "map",
  what: "harnesses",
  names: /^[a-z][a-z0-9-]*$/,
  of: {
    kind: "record",
    what: "a harness",
    keys: {
      title: { shape: text, description: "Its name for people" },
      version: {
        shape: { kind: "list", of: text, notEmpty: true },
        description: "The command that prints its version",
      },
      acp: {
        shape: { kind: "list", of: text, notEmpty: true },
        description: "The command that starts it with the Agent Client Protocol; instead of turn and session",
      },
      turn: {
        shape: { kind: "record", what: "a map of turns", keys: turnKeys },
        description: "How it answers without a terminal",
      },
      session: {
        shape: { kind: "record", what: "a map of sessions", keys: sessionKeys },
        description: "How it runs in a terminal",
      },
      reduced: { shape: argumentsShape, description: "Further arguments where permissions are reduced" },
      read: { shape: pathsShape, description: "Files and folders that it can read in a sandbox" },
      write: { shape: pathsShape, description: "Files and folders that it can change in a sandbox" },
      env: {
        shape: { kind: "map", of: text, what: "variables", names: /^[A-Za-z_]\w*$/ },
        description: "Further variables of its environment",
      },
      errors: {
        shape: {
          kind: "record",
          what: "a map of errors",
          keys: Object.fromEntries(
            definedErrors.map((kind) => [kind, { shape: text, description: `How it says ${kind}` }]),
          ),
        },
        description: "Regular expressions that recognise kinds of errors",
      },
    },
  },
};

/** The problem with well-formed definitions, as a sentence with the next step; undefined where there is none. */
export function harnessesProblem(harnesses: Readonly<Record<string, HarnessDefinition>>): string | undefined {
  for (const [name, definition] of Object.entries(harnesses)) {
    const problem = problemOf(definition);
    if (problem !== undefined) return `The harness "${name}" is wrong: ${problem}`;
  }
  return undefined;
}

function problemOf({ turn, session, acp, reduced, errors }: HarnessDefinition): string | undefined {
  if (acp !== undefined && (turn ?? session) !== undefined)
    return 'it has "acp" beside "turn" or "session". An agent that speaks the protocol needs neither; take them out.';
  if (acp !== undefined) return undefined;
  if (turn === undefined && session === undefined)
    return 'it has neither "turn" nor "session" nor "acp". Say how it is run, in at least one of them.';
  const given: readonly (readonly [string, Arguments | undefined])[] = [
    ["turn.argv", turn?.argv],
    ["turn.resume", turn?.resume],
    ["session.argv", session?.argv],
    ["session.resume", session?.resume],
    ["reduced", reduced],
  ];
  for (const [where, argv] of given) {
    const problem = argv === undefined ? undefined : argumentsProblem(where, argv);
    if (problem !== undefined) return problem;
  }
  const { output = "plain" } = turn ?? {};
  const paths = (["text", "answer", "session", "error", "usage"] as const).find((key) => turn?.[key] !== undefined);
  if (output === "plain" && paths !== undefined)
    return `"turn.${paths}" says where something is in JSON, but the output is plain. Add output: json or output: jsonl.`;
  if (output !== "plain" && turn?.text === undefined && turn?.answer === undefined)
    return `the output is ${output}, but nothing says where the answer is in it. Add "text" or "answer" to "turn".`;
  const expressions = [
    ...(["ready", "busy", "asks"] as const).map((key) => [`session.${key}`, session?.[key]] as const),
    ...Object.entries(errors ?? {}).map(([kind, each]) => [`errors.${kind}`, each] as const),
  ];
  for (const [where, expression] of expressions) {
    const problem = expression === undefined ? undefined : expressionProblem(where, expression);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function argumentsProblem(where: string, argv: Arguments): string | undefined {
  const used = variablesIn(argv);
  const unknown = used.find((name) => !(harnessVariables as readonly string[]).includes(name));
  if (unknown !== undefined)
    return `"${where}" uses {${unknown}}, which does not exist. There are ${harnessVariables.map((name) => `{${name}}`).join(", ")}; write {{${unknown}}} for the text itself.`;
  const [program] = argv;
  if (where.endsWith(".argv") && (typeof program !== "string" || program === "" || variablesIn([program]).length > 0))
    return `"${where}" must begin with the program, as plain text.`;
  if (where.endsWith(".resume") && !used.includes("session"))
    return `"${where}" does not say which session. Put {session} into it.`;
  return undefined;
}

export function variablesIn(argv: Arguments): readonly string[] {
  return argv.flat().flatMap((each) => variablesOf(each).map(({ name }) => name));
}

function expressionProblem(where: string, expression: string): string | undefined {
  try {
    new RegExp(expression, "mu");
    return undefined;
  } catch (error) {
    return `"${where}" is no regular expression (${error instanceof Error ? error.message : error}).`;
  }
}
