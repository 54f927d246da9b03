import type { HarnessError } from "../../ports/harness.ts";

/** What a scripted agent does, turn by turn. */
export interface Script {
  /** Whether an interactive one asks at its start whether the folder is trusted. */
  readonly trust: boolean;
  /** Milliseconds behind typed text within which Enter is only a new line. 0: Enter always submits. */
  readonly pasteBurst: number;
  /** Turns by role; those of `any` come behind those of the role itself. */
  readonly roles: Readonly<Record<string, readonly ScriptTurn[]>>;
}

/** What is done with one message, if everything under `when` holds. */
export interface ScriptTurn {
  readonly when: When;
  /** How often it is played in one session. */
  readonly times: number;
  readonly steps: readonly Step[];
}

/** Everything that is named must hold; of a list one is enough. */
export interface When {
  readonly status?: readonly string[];
  /** What the message contains. */
  readonly prompt?: readonly string[];
  readonly role?: readonly string[];
  readonly mode?: readonly string[];
  readonly permissions?: readonly string[];
  /** Which message of its session it is, from 1. */
  readonly turn?: number;
  /** Which session of the role for the task it is, from 1. */
  readonly run?: number;
  /** What has been counted for the task so far. */
  readonly counter?: Readonly<Record<string, number>>;
  /** What the task file's frontmatter says. */
  readonly task?: Readonly<Record<string, string>>;
}

export interface Choice {
  readonly when: When;
  readonly steps: readonly Step[];
}

/** What an agent that is only busy shows. */
export const thinking = "Thinking";

/** The steps by name, with what each of them is told. */
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
