import type { Budget } from "./budget.ts";
import type { Ledger } from "./findings.ts";
import type { Mode, Settings } from "./workflow.ts";

/** One unit of work. Only `decide` writes its position. */
export interface Task extends TaskIdentity, TaskPosition {}

/** What identifies and describes the task: given at creation or edited; decisions about moves do not read it. */
export interface TaskIdentity {
  /** Short, unique in the home. */
  readonly id: string;
  readonly project: string;
  /** Per project: `coffee#12`. */
  readonly number: number;
  readonly branch: string;
  /** The branch that its work starts from and is merged into; empty for the project's default branch. */
  readonly base: string;
  readonly summary: string;
  readonly workflow: string;
  readonly harness: string;
  readonly reviewHarness: string;
  /** For runs whose workflow names no model; empty for the harness's own choice. */
  readonly model: string;
  readonly workspace: string;
  readonly tmuxSession: string;
  readonly prUrl: string;
  /** The ticket that it was made from; empty where there is none, missing in tasks that older versions stored. */
  readonly ticket: string;
  readonly parent: string;
  /** Which part of its parent's plan it is; missing where it was not made by a fan-out. */
  readonly part?: Part | undefined;
  /** What must have happened before it starts, each as `storedDependency` reads it. */
  readonly dependsOn: readonly string[];
  /** The sections that its dependencies hand down when it starts; missing where there are none. */
  readonly handDown?: readonly string[] | undefined;
  /** What the task and its tree of children may use; missing or empty where only the configuration limits it. */
  readonly budget?: Budget | undefined;
  readonly labels: readonly string[];
  readonly priority: number;
  /** The scheduler may start the task when a slot is free. */
  readonly autostart: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One try at one item of a plan. `stay`, `item` and `try` identify it: a parent has at most one child of each. */
export interface Part {
  /** The parent's `entry` in which the fan-out began. */
  readonly stay: number;
  /** The id of the item in the plan. */
  readonly item: string;
  /** 1, and 2 for the child that replaces a failed one. */
  readonly try: number;
  /** The place among the children that run at the same time, from 1; missing until the parent lets the child start. */
  readonly slot?: number;
  readonly title: string;
  readonly description: string;
  /** The files that the plan expects it to change. */
  readonly files: readonly string[];
  readonly size: "S" | "M" | "L";
  /** Why the try before it failed: `{reason}` in prompts until the child has a reason of its own. */
  readonly reason?: string;
}

/** What can be changed about a task without moving it. */
export type TaskEdit = Partial<
  Pick<
    TaskIdentity,
    | "summary"
    | "branch"
    | "harness"
    | "reviewHarness"
    | "model"
    | "labels"
    | "priority"
    | "dependsOn"
    | "handDown"
    | "budget"
    | "autostart"
    | "prUrl"
    | "workspace"
    | "tmuxSession"
    | "part"
    | "parent"
  > &
    Pick<TaskPosition, "preset" | "judged" | "protectedChanges" | "tested"> & { readonly settings: SettingsEdit }
>;

/** Settings that override the preset; null takes the task's own value back. */
export type SettingsEdit = Readonly<Record<string, Settings[string] | null>>;

/** The task's place in its workflow. */
export interface TaskPosition {
  /** The content hash of the workflow that governs the task. */
  readonly workflowHash: string;
  readonly preset: string;
  /** Settings of the project and the task, which override the preset and the file's defaults. */
  readonly settings: Settings;
  readonly status: string;
  readonly previousStatus: string;
  /** How many states the task has entered. It identifies the present stay, so that late reports are recognised. */
  readonly entry: number;
  readonly phase: Phase;
  readonly counters: Readonly<Record<string, number>>;
  /** Failures in a row in this state. */
  readonly crashCount: number;
  /** Entries of each state since a person last moved the task. */
  readonly visits: Readonly<Record<string, number>>;
  /** The live run of each role; panel members are `scout/1`, `scout/2`, … */
  readonly runs: Readonly<Record<string, LiveRun>>;
  /** Sessions that can be resumed, by role: the run that opened them. */
  readonly sessions: Readonly<Record<string, string>>;
  /** How many runs the task has started; numbers the next one. */
  readonly runCount: number;
  /** The sections and the branch when the task entered this state: evidence that is spent. */
  readonly spent: Spent;
  /** Validated answers, by schema name. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly wait: WaitProgress;
  /** A person answered or attached since the task entered this state. */
  readonly attended: boolean;
  /** Set while the task waits for a person because no rule covers what happened. */
  readonly held: Held | undefined;
  /** Why the last run or work ended as it did: `{reason}` in prompts. */
  readonly reason: string;
  /** The messages of a dialogue. */
  readonly log: readonly LogEntry[];
  /** What the last verdict, answer of a judge or approval of a person was about; undefined until there is one. */
  readonly judged: Judged | undefined;
  /**
   * What of the things that decide about work the task's own work has changed, in words for people. Missing or empty if
   * nothing: then no person has to see it.
   */
  readonly protectedChanges?: readonly string[] | undefined;
  /** What the engine's own last test run found, and for which commit; missing until there was one. */
  readonly tested?: Tested | undefined;
  /** The findings of its reviews; missing until a reviewer has answered with a list of them. */
  readonly ledger?: Ledger | undefined;
  /** The documents that its runs have handed over, the newest last; missing where there are none. The store has their texts. */
  readonly documents?: readonly HandedDocument[] | undefined;
  /** The messages that its runs have sent to states, the newest last; missing where there are none. */
  readonly stageMessages?: readonly StageMessage[] | undefined;
  /** What has happened of that which promises of the workflow ask for, by the key of the evidence; missing where nothing has. */
  readonly proofs?: Readonly<Record<string, Proof>> | undefined;
}

/** The last time that something happened which a promise asks for. */
export interface Proof {
  /** Who gave it: a role, `human` or `engine`. */
  readonly role: string;
  /** The commit that it is about; empty where none was known. */
  readonly commit: string;
}

/** A document that a run has handed over. Type and title identify it: a later one of the same replaces it. */
export interface HandedDocument {
  readonly type: string;
  readonly title: string;
  /** The name of its file in the folder of documents. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly role: string;
  readonly run: string;
  /** The branch's commit at that time; empty if there was none. */
  readonly commit: string;
  /** The state in which it was handed over, and the stay there. */
  readonly state: string;
  readonly entry: number;
}

export type Priority = "low" | "normal" | "high";

/** A message from a run in one state to another state. */
export interface StageMessage {
  /** The state that it was sent in, and the stay there. */
  readonly from: string;
  readonly entry: number;
  /** A state, or `all`. */
  readonly to: string;
  readonly priority: Priority;
  readonly text: string;
  readonly role: string;
  readonly run: string;
  /** The states that it is for and that the task has left since. */
  readonly read: readonly string[];
}

export interface Tested {
  readonly commit: string;
  /** `ok`, `tests` where they failed, `untested` where there was no command. */
  readonly word: string;
}

export interface Judged {
  readonly commit: string;
  /** The judge's, or `human`. */
  readonly role: string;
}

/**
 * entering: effects of the move are owed; waiting: the state's wait has begun; doing: the state's own work is under
 * way; over: the state is terminal and owes nothing.
 */
type Phase = "entering" | "waiting" | "doing" | "over";

export interface LiveRun {
  /** `<role>#<n>`, unique in the task. */
  readonly key: string;
  readonly mode: Mode;
  /**
   * Set where another role was at work when it started: then it has its own task file, even after the other run ends.
   */
  readonly beside?: true;
  /** Set once it has said that its work is complete: its answer, however it ends. */
  readonly report?: Report;
}

/** What a run says when its work is complete. */
export interface Report {
  readonly summary: string;
  readonly outcome: "done" | "revise";
  readonly reason: string;
  /** Of all that was said, with the documents: the same said again changes nothing. */
  readonly hash: string;
  /** How often the run has completed its work, each time with something new; missing for once. */
  readonly times?: number;
}

interface Spent {
  /** The fingerprints of all sections at that time. */
  readonly sections: readonly string[];
  readonly head: string;
}

/** The progress of the present state's wait. Everything is 0, empty or absent at its start. */
export interface WaitProgress {
  /** The state's `unless` held when the task entered. */
  readonly skipped: boolean;
  /** All children of a fan-out have ended. */
  readonly childrenOver: boolean;
  /** Steps taken, and the limit where a hook granted another one than the state. */
  readonly step: number;
  readonly stepLimit: number | undefined;
  readonly round: number;
  /** Whose turn it is in a dialogue. */
  readonly turn: "agent" | "reply" | "confirm" | undefined;
  /** Reminders sent to an agent that went idle without the artifact, or ended without the state's evidence. */
  readonly reminded: number;
  /** A run of this state failed before the effects of the move were done. Then `crashCount` counts this state only. */
  readonly hasFailed?: true;
  /** What the last run said at its end, as one line, in a state with `evidence`. */
  readonly said?: string;
  /** Why the last answer in this stay that was refused was refused, for the agent that is asked again. */
  readonly refused?: string;
  /** Panel members by run name. */
  readonly members: Readonly<Record<string, Member>>;
  /** The commit that judges were given when they were last started again in this stay. */
  readonly at?: string;
}

export interface Member {
  readonly state: "running" | "ok" | "failed";
  readonly tries: number;
  readonly answer: unknown;
}

export interface Held {
  readonly reason: string;
  /** How it ended. Where the word is temporary, the engine may check again. */
  readonly word: string;
  /** What `continue` starts again. */
  readonly again: "wait" | "do" | "effects";
}

export interface LogEntry {
  readonly from: "agent" | "human";
  readonly text: string;
}

/** The identity of a blank task. */
export const blankIdentity: TaskIdentity = {
  id: "",
  project: "",
  number: 0,
  branch: "",
  base: "",
  summary: "",
  workflow: "",
  harness: "",
  reviewHarness: "",
  model: "",
  workspace: "",
  tmuxSession: "",
  prUrl: "",
  ticket: "",
  parent: "",
  dependsOn: [],
  labels: [],
  priority: 0,
  autostart: true,
  createdAt: "",
  updatedAt: "",
};

export const noProgress: WaitProgress = {
  skipped: false,
  childrenOver: false,
  step: 0,
  stepLimit: undefined,
  round: 0,
  turn: undefined,
  reminded: 0,
  members: {},
};
