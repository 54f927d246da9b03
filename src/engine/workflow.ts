import type { AnswerSchema } from "../answers/read-answer.ts";

/** A workflow file after loading: every default filled in, every reference resolved, every way spelled out. */
export interface Workflow {
  /** The label in the file. A workflow is identified by its file's name, and a task is pinned to `hash`. */
  readonly name: string;
  readonly description: string;
  /** SHA-256 of the file's text. A task keeps the one it was created with until it is migrated. */
  readonly hash: string;
  /** Where a task may be created; the first is the default. */
  readonly initial: readonly string[];
  /** Whether the file has `initial`. Otherwise tasks may be created in every state. */
  readonly listsInitial: boolean;
  /** Where a task without a summary starts. */
  readonly unclear: string;
  /** named: each run is done by a named agent of the project, which does one run at a time. */
  readonly agents: "anonymous" | "named";
  readonly settings: Readonly<Record<string, Setting>>;
  readonly presets: Readonly<Record<string, Settings>>;
  readonly roles: Readonly<Record<string, RunSpec>>;
  /** Limits on the task's whole life. */
  readonly limits: Limits;
  /** In the order of the file, which is the order of the dashboards. */
  readonly states: Readonly<Record<string, State>>;
  /** Every way, including those that rules imply, in the order of the file. */
  readonly ways: readonly Way[];
  /** Seconds between two checks of a run, where the file says so; at least 0.1. */
  readonly pollInterval: number | undefined;
  readonly prompts: Readonly<Record<string, string>>;
  readonly schemas: Readonly<Record<string, AnswerSchema>>;
  /** Numbers that hooks of this file change. */
  readonly counters: readonly string[];
  /** Sections that some gate or rule reads. */
  readonly sections: readonly string[];
  /** The roles whose text counts, for each of these sections. */
  readonly owners: Readonly<Record<string, readonly string[]>>;
  /** The roles that judge the work of others, each in a checkout of its own. */
  readonly judges: readonly string[];
  /** What must hold of every life of a task, in the order of the file. */
  readonly promises: readonly AuthorsPromise[];
}

/** What the author promises about every task. `written` is the promise as one line of YAML. */
export type AuthorsPromise =
  /** Before a task moves to `to`, `evidence` has been given, and the work has not moved since. */
  | { readonly kind: "after"; readonly written: string; readonly to: string; readonly evidence: PromisedEvidence }
  /** None of these roles asks for `to`. */
  | { readonly kind: "never_by"; readonly written: string; readonly to: string; readonly roles: readonly string[] }
  /** No verdict or answer that `role` is there to give comes from a run of `other`. */
  | { readonly kind: "never_same_run_as"; readonly written: string; readonly role: string; readonly other: string }
  /** A task enters `of` at most so often without a person. */
  | { readonly kind: "within"; readonly written: string; readonly visits: number; readonly of: string };

/** What must have happened; `key` is the same for the same evidence. `by`: the roles whose word counts; undefined for any. */
export type PromisedEvidence = { readonly key: string } & (
  | { readonly kind: "merged" }
  | { readonly kind: "tests" }
  | {
      readonly kind: "gate";
      readonly section: string;
      readonly verdict: Gate["verdict"];
      readonly by: readonly string[] | undefined;
    }
  | {
      readonly kind: "result";
      readonly fields: Readonly<Record<string, Scalar>>;
      readonly by: readonly string[] | undefined;
    }
);

export type Outcome = "done" | "failed" | "cancelled";

export interface State {
  readonly name: string;
  readonly terminal: boolean;
  /** How a task that ends here ended; undefined where the state is not terminal. */
  readonly outcome: Outcome | undefined;
  readonly wait: Wait;
  /** When all of these hold, the wait is skipped and counts as ok. */
  readonly unless: readonly Guard[];
  /** What the state's agent must have produced: all of these hold before `ok` reaches the rules. */
  readonly evidence: readonly Guard[];
  /** The engine's own work after the wait ended ok. */
  readonly do: readonly Action[];
  readonly rules: readonly Rule[];
  readonly limits: Limits;
  /** The run that replaces a dead agent in this state; undefined where there is none. */
  readonly respawn: RunSpec | undefined;
  /** What the person's `continue` does, in the author's words. */
  readonly ask: string | undefined;
  /** Some condition of the state reads how often it was entered. */
  readonly countsVisits: boolean;
  /** The ways out, by target. */
  readonly out: Readonly<Record<string, readonly Way[]>>;
}

export type Wait =
  /** Does not wait. */
  | { readonly kind: "none" }
  /** Has no wait of its own: the task stays until an actor asks, or until a run that a hook started ends, as in `classic`. */
  | { readonly kind: "open" }
  | { readonly kind: "agent"; readonly run: RunSpec }
  | { readonly kind: "panel"; readonly member: RunSpec; readonly judge: RunSpec }
  | FanOut
  /** A person continues; `run` is the agent that is at hand meanwhile. */
  | { readonly kind: "human"; readonly run: RunSpec | undefined }
  | { readonly kind: "slot" }
  | { readonly kind: "time"; readonly seconds: number };

export interface FanOut {
  readonly kind: "fan_out";
  /** The schema whose result holds the items, and the field in it. */
  readonly from: { readonly result: string; readonly field: string };
  readonly workflow: string;
  readonly parallel: Value<number>;
  readonly waves: Value<boolean>;
  readonly policy: Value<string>;
}

/** A literal, or the setting that holds the value. */
export type Value<T> = T | { readonly setting: string };

export type Mode = "session" | "turn" | "steps" | "dialogue";

/** How a run is made: `roles.any`, overridden by `roles.<role>`, overridden by the state or hook. */
export interface RunSpec {
  readonly role: string;
  readonly mode: Mode;
  /** `task` and `review` stand for the task's two harnesses; anything else names one. */
  readonly harness: string;
  readonly prompt: string | undefined;
  /** Of the members of a panel: one for each of these instead of `prompt`. */
  readonly prompts?: readonly string[];
  readonly model: string | undefined;
  readonly permissions: "full" | "reduced";
  /** Whether it runs in a sandbox; undefined for the user's setting. */
  readonly sandbox?: "auto" | "on" | "off" | undefined;
  /** Whether it reaches the network; `proxy`: only listed hosts. Undefined for `on`. */
  readonly network?: "on" | "off" | "proxy" | undefined;
  readonly tools: readonly string[] | undefined;
  /** The schema the answer must fit. */
  readonly result: string | undefined;
  readonly window: string | undefined;
  /** The run, or its session, outlives the state. */
  readonly keep: boolean;
  readonly stepPrompt: string | undefined;
  /** The line that ends a stepped run. */
  readonly marker: string;
  /** The answer that ends a dialogue. */
  readonly until: Readonly<Record<string, Scalar>> | undefined;
  /** A person must confirm the end of a dialogue. */
  readonly confirm: boolean;
  readonly limits: Limits;
}

export interface Limits {
  /** How often the engine tries before it takes a rule; 1 by default. */
  readonly attempts?: number;
  readonly steps?: Value<number>;
  readonly rounds?: Value<number>;
  /** Seconds without a sign of life. */
  readonly stall?: number;
  /** Seconds. */
  readonly time?: number;
  /** US dollars. */
  readonly cost?: number;
  readonly backoff?: Backoff;
}

/** All in seconds but `factor`. */
export interface Backoff {
  readonly first: number;
  readonly factor: number;
  readonly max: number | undefined;
}

export interface Way {
  readonly from: string;
  readonly to: string;
  /** The roles that may ask; undefined means every actor of the task. Rules may take any way. */
  readonly by: readonly string[] | undefined;
  readonly when: readonly Guard[];
  readonly gates: readonly Gate[];
  readonly hooks: readonly Action[];
  /** The origin of a way that no transition of the file names. */
  readonly implied: "rule" | "escalation" | undefined;
}

export type Op = "<" | ">" | "<=" | ">=" | "==" | "!=";

export interface Guard {
  readonly field: string;
  readonly source: "counter" | "crash_count" | "visits" | "fact" | "setting";
  readonly op: Op;
  readonly value: Value<number>;
  /** The value as its author wrote it: `2`, `true`, `{max_iterations}`. */
  readonly written: string;
}

export interface Gate {
  /** The heading without `## `. */
  readonly section: string;
  /** At least one of these keys must begin a line and have content after its colon. */
  readonly fields: readonly string[];
  readonly verdict: "PASS" | "FAIL" | undefined;
  /** The verdict is the first line that is not empty (`Verdict: PASS`); otherwise the first PASS or FAIL found. */
  readonly firstLine: boolean;
}

export interface Rule {
  /** How the wait or the work ended; undefined matches every ending. */
  readonly on: readonly string[] | undefined;
  /** Fields of the validated answer. */
  readonly result: Readonly<Record<string, Scalar>> | undefined;
  readonly when: readonly Guard[];
  /** `none`: none of the artifacts that sibling rules ask for exists. */
  readonly artifact: Gate | "none" | undefined;
  /** The author's explanation for people; empty where there is none. */
  readonly reason: string;
  readonly does:
    | { readonly kind: "then"; readonly to: string }
    | {
        readonly kind: "crash" | "mark_dead";
        /** From this many failures on, the task goes to `to` instead; undefined where that state does not exist. */
        readonly after: { readonly count: number; readonly to: string | undefined } | undefined;
      };
}

/** One hook, or one piece of a state's own work. */
export interface Action {
  readonly name: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  /** For the actions that start an agent. */
  readonly run: RunSpec | undefined;
}

export type Scalar = string | number | boolean;
export type ParamValue = Scalar | readonly string[];

export type SettingValue = Scalar | readonly string[] | Readonly<Record<string, string>>;
export type Settings = Readonly<Record<string, SettingValue>>;

export interface Setting {
  readonly default: SettingValue;
  readonly description: string;
  readonly oneOf: readonly Scalar[] | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}
