import { readDuration } from "../engine/duration.ts";
import { createReporter, formatProblem } from "../engine/language/problem.ts";
import { readShape } from "../engine/language/shape.ts";
import { readTree } from "../engine/language/tree.ts";
import { Fault } from "../fault.ts";
import {
  bareSteps,
  type Choice,
  type Script,
  type ScriptTurn,
  type Step,
  type StepKind,
  type StepValues,
  scriptShape,
  thinking,
  type When,
} from "./script.ts";

/** The values that conditions are compared with. */
export interface Circumstances {
  readonly role: string;
  readonly mode: "session" | "turn";
  readonly permissions: "full" | "reduced";
  readonly prompt: string;
  readonly turn: number;
  readonly run: number;
  /** The task file's frontmatter. */
  readonly task: Readonly<Record<string, string>>;
  counter(name: string): number;
}

interface Chosen {
  /** Identifies the turn in its role, so that its plays can be counted. */
  readonly key: string;
  readonly turn: ScriptTurn;
}

/** The first turn whose conditions hold and that has plays left. `played` counts the plays of each turn. */
export function chooseTurn(
  { roles }: Script,
  circumstances: Circumstances,
  played: Readonly<Record<string, number>>,
): Chosen | undefined {
  const names = circumstances.role === "any" ? ["any"] : [circumstances.role, "any"];
  const all = names.flatMap((role) =>
    (Object.hasOwn(roles, role) ? (roles[role] ?? []) : []).map((turn, index) => ({ key: `${role}/${index}`, turn })),
  );
  return all.find(({ key, turn }) => (played[key] ?? 0) < turn.times && holds(turn.when, circumstances));
}

export function holds(when: When, at: Circumstances): boolean {
  const isOneOf = (wanted: readonly string[] | undefined, value: string) => wanted?.includes(value) ?? true;
  return (
    isOneOf(when.status, at.task.status ?? "") &&
    isOneOf(when.role, at.role) &&
    isOneOf(when.mode, at.mode) &&
    isOneOf(when.permissions, at.permissions) &&
    (when.prompt?.some((part) => at.prompt.includes(part)) ?? true) &&
    (when.turn === undefined || when.turn === at.turn) &&
    (when.run === undefined || when.run === at.run) &&
    Object.entries(when.counter ?? {}).every(([name, value]) => at.counter(name) === value) &&
    Object.entries(when.task ?? {}).every(([name, value]) => at.task[name] === value)
  );
}

/** Reads a script. `file` is the name that problems are reported with. */
export function readScript(text: string, file: string): Script {
  const { tree, problems } = readTree(text, file);
  if (tree === undefined) throw wrong(file, problems.map(formatProblem));
  const reporter = createReporter(tree, text, file);
  const read = readShape(scriptShape, tree, [], (path, message, fix, atKey) =>
    reporter.error(path, message, fix, { key: atKey ?? false }),
  );
  if (reporter.problems.length > 0) throw wrong(file, reporter.problems.map(formatProblem));
  const source = read as Source;
  try {
    return {
      trust: source.trust ?? false,
      pasteBurst: source.paste_burst ?? 30,
      roles: Object.fromEntries(Object.entries(source.roles).map(([role, turns]) => [role, turns.map(turnOf)])),
    };
  } catch (error) {
    if (error instanceof Fault) throw wrong(file, [error.message]);
    throw error;
  }
}

interface Source {
  readonly trust?: boolean;
  readonly paste_burst?: number;
  readonly roles: Readonly<Record<string, readonly SourceTurn[]>>;
}

interface SourceTurn {
  readonly when?: SourceWhen;
  readonly times?: number;
  readonly steps: readonly SourceStep[];
}

type Texts = string | readonly string[];

type SourceWhen = Omit<When, "status" | "prompt" | "role" | "mode" | "permissions"> & {
  readonly [Name in "status" | "prompt" | "role" | "mode" | "permissions"]?: Texts;
};

type SourceStep = string | Readonly<Record<string, unknown>>;

function turnOf({ when, times, steps }: SourceTurn): ScriptTurn {
  return { when: whenOf(when), times: times ?? Number.POSITIVE_INFINITY, steps: steps.map(stepOf) };
}

function choiceOf({ when, steps }: SourceTurn): Choice {
  return { when: whenOf(when), steps: steps.map(stepOf) };
}

function whenOf(when: SourceWhen | undefined): When {
  const entries = Object.entries(when ?? {}).map(([key, value]) => [key, typeof value === "string" ? [value] : value]);
  return Object.fromEntries(entries) as When;
}

function stepOf(source: SourceStep): Step {
  if (typeof source === "string") return { kind: source, value: bareSteps[source] } as Step;
  const [entry, ...others] = Object.entries(source);
  if (entry === undefined || others.length > 0)
    throw new Fault("script", `A step has exactly one key, but one has ${Object.keys(source).join(", ") || "none"}.`);
  const [kind, value] = entry;
  const read = readers[kind as StepKind] as ((value: unknown) => unknown) | undefined;
  return { kind, value: read === undefined ? value : read(value) } as Step;
}

/** Converters for the steps whose value is not used as written. */
const readers: { readonly [Kind in StepKind]?: (value: never) => StepValues[Kind] } = {
  section: ({ heading, text }: { heading: string; text: string }) => ({
    heading: heading.replace(/^##\s+/, ""),
    text,
  }),
  sleep: milliseconds,
  think: (value: string | number | { time: string | number; about: string }) =>
    typeof value === "object"
      ? { time: milliseconds(value.time), about: value.about }
      : { time: milliseconds(value), about: thinking },
  fork: milliseconds,
  flood: bytesOf,
  binary: bytesOf,
  fill: ({ file, bytes }: { file: string; bytes: string | number }) => ({ file, bytes: bytesOf(bytes) }),
  ask: (value: string | { about: string; yes?: readonly SourceStep[]; no?: readonly SourceStep[] }) =>
    typeof value === "string"
      ? { about: value, yes: [], no: [] }
      : { about: value.about, yes: (value.yes ?? []).map(stepOf), no: (value.no ?? []).map(stepOf) },
  usage: (value: { input?: number; output?: number; cached?: number; cost?: number }) => ({
    input: value.input ?? 0,
    output: value.output ?? 0,
    cached: value.cached ?? 0,
    cost: value.cost,
  }),
  error: (value: { kind: StepValues["error"]["kind"]; message?: string; reset?: string | number }) => ({
    kind: value.kind,
    message: value.message ?? `The script ends this turn with the error ${value.kind}.`,
    reset: value.reset === undefined ? undefined : milliseconds(value.reset),
  }),
  try: (steps: readonly SourceStep[]) => steps.map(stepOf),
  choose: (choices: readonly SourceTurn[]) => choices.map(choiceOf),
  repeat: ({ times, steps }: { times: number; steps: readonly SourceStep[] }) => ({ times, steps: steps.map(stepOf) }),
};

function milliseconds(text: string | number): number {
  const seconds = readDuration(text);
  if (seconds === undefined)
    throw new Fault("script", `"${text}" is not a duration. Write it as 500ms, 5s, 2m or a number of seconds.`);
  return seconds * 1000;
}

const units = { "": 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

function bytesOf(text: string | number): number {
  const [, amount, unit = ""] = /^(\d+)\s*(KB|MB|GB)?$/.exec(String(text)) ?? [];
  if (amount === undefined)
    throw new Fault("script", `"${text}" is not a size. Write it as 500, 64 KB, 10 MB or 1 GB.`);
  return Number(amount) * units[unit as keyof typeof units];
}

function wrong(file: string, problems: readonly string[]): Fault {
  return new Fault("script", [`The script ${file} is wrong:`, ...problems.map((each) => `  ${each}`)].join("\n"), {
    hint: "docs/scripted-agent.md describes the format.",
  });
}
