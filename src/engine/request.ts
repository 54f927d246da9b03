import type { TaskDocument } from "../documents/task-document.ts";
import type { GivenDocument } from "./handed.ts";
import type { GivenFinding } from "./person-findings.ts";
import type { Voice } from "./questions.ts";
import type { Priority, Report, TaskEdit } from "./task.ts";

/** Something that may change a task: an actor asks, or the daemon observed something. */
export type Request =
  /** An actor asks for a state. */
  | {
      readonly kind: "move";
      readonly to: string;
      readonly actor: Actor;
      readonly word?: PersonsWord;
      /** Why the engine moves it. */
      readonly reason?: string;
    }
  /** The wait is over: a person approved, a slot is free, time has passed. For a held task: try again. */
  | { readonly kind: "continue"; readonly actor: Actor; readonly word?: PersonsWord }
  /** A person answered or attached. In a dialogue the text is the reply. */
  | { readonly kind: "reply"; readonly actor: Actor; readonly text: string; readonly answers?: Answers }
  /** A person starts a dead agent again without moving the task. */
  | { readonly kind: "respawn"; readonly actor: Actor }
  /** A message for the state's agent: a live agent gets it, a dead one is started again with it. */
  | { readonly kind: "remind"; readonly actor: Actor; readonly word: PersonsWord }
  /** A person decides about findings of a review: all of them, or none. */
  | {
      readonly kind: "finding";
      readonly actor: Actor;
      readonly findings: readonly string[];
      readonly state: "approved" | "dismissed";
      readonly reason: string;
    }
  /** A person adds a finding of their own, which is approved with that. */
  | { readonly kind: "own_finding"; readonly actor: Actor; readonly finding: GivenFinding }
  /**
   * A person changes the plan before its children start. `items` is checked like an agent's answer. `replaces` is the
   * fingerprint of the plan that the person was shown; the request is refused where the plan is another one.
   */
  | { readonly kind: "plan"; readonly actor: Actor; readonly items: unknown; readonly replaces?: string }
  /** Changes fields of the task, such as its summary or harness, but not its state. */
  | { readonly kind: "edit"; readonly actor: Actor; readonly set: TaskEdit }
  /** A run says that its work is complete, and hands documents over. */
  | {
      readonly kind: "complete";
      readonly actor: Actor;
      readonly summary: string;
      readonly outcome: Report["outcome"];
      readonly reason: string;
      readonly documents: readonly GivenDocument[];
    }
  /** A run sends a message to another state, or to all. */
  | {
      readonly kind: "message";
      readonly actor: Actor;
      readonly to: string;
      readonly text: string;
      readonly priority: Priority;
    }
  /** A run ended. */
  | {
      readonly kind: "ended";
      readonly run: string;
      readonly word: RunEnd;
      readonly answer?: unknown;
      readonly reason?: string;
      /** No retry would help, as after a refusal of the model: the rules are tried at once, whatever attempts are left. */
      readonly isFinal?: true;
    }
  /** An interactive agent finished a turn and is quiet. */
  | {
      readonly kind: "idle";
      readonly run: string;
      /** The agent got a message recently: its result still counts, but it is not reminded yet. */
      readonly isPatient?: boolean;
    }
  /** Every effect of the entry has been carried out. */
  | { readonly kind: "settled"; readonly entry: number }
  /** An effect of the entry failed, and is not retried. */
  | Unsettled
  /** What an `unsettled` request with the same action held the task for works again. */
  | { readonly kind: "mended"; readonly entry: number; readonly action: string }
  /** The state's own work ended: `ok`, `error` or a word its action declares. */
  | { readonly kind: "did"; readonly entry: number; readonly word: string; readonly reason?: string }
  /** All children of a fan-out have ended. */
  | { readonly kind: "children"; readonly entry: number; readonly word: "ok" | "error"; readonly reason?: string }
  /** The ticket that the task was made from was closed elsewhere; `reason` says so. */
  | { readonly kind: "ticket"; readonly reason: string }
  /** A limit of the state (`entry` given) or of the whole task was reached. */
  | { readonly kind: "limit"; readonly word: "time" | "cost"; readonly entry?: number };

export interface Unsettled {
  readonly kind: "unsettled";
  readonly entry: number;
  readonly action: string;
  readonly reason: string;
  /** The task's agents are ended too. */
  readonly ends?: true;
}

/** What a person's request carries with it. It does not change where the task goes. */
export interface PersonsWord {
  /** A message for the agent that continues: a text with variables, as in a workflow. */
  readonly tell?: string;
  /** A message for a live agent that continues in another state, unless the workflow sends it one there. */
  readonly wake?: string;
  /** The approved commit; the request is refused where the branch is at another commit. */
  readonly approves?: string;
  /** The fingerprint of the plan that the person was shown; the request is refused where the plan is another one. */
  readonly plan?: string;
  /** The stay that the person saw; the request is refused in any other. */
  readonly entry?: number;
  /** Refuse this if it would end the task as done while it has commits that are not merged. */
  readonly merged?: true;
  /** Refuse this where an agent has open questions, or where findings are undecided: it would go on without an answer. */
  readonly answered?: true;
  /** The request is the person's answer to a question. */
  readonly answers?: Answers & { readonly text: string };
}

/** The question that a person answers. The request is refused where the task does not ask it any more. */
export interface Answers extends Voice {
  readonly question: string;
}

/** How a run can end. `lost` is not the run's fault: the machine or the terminal server went down. */
export type RunEnd = "ok" | "exit" | "error" | "invalid" | "stall" | "step" | "time" | "cost" | "login" | "lost";

export interface Actor {
  /** `human`, `engine` or a role of the task. */
  readonly role: string;
  /** The run whose credential the caller presented; absent for people and the engine. */
  readonly run?: string;
}

/** The state of the world outside of the task when the request is decided. */
export interface Facts {
  readonly document: TaskDocument;
  /** The commit the task's branch is at; empty where there is none. */
  readonly head: string;
  /** The author of a section, and the commit it is about, where known. */
  readonly artifacts: Readonly<Record<string, Artifact>>;
  /** The numbers guards can ask for; `true` is 1. */
  readonly numbers: Readonly<Partial<Record<FactName, number>>>;
  /** The branch contains the task file, which must stay out of git. */
  readonly taskFileTracked: boolean;
  /** The name of the task file in the workspace; `TASK.md` where it is missing. */
  readonly taskFile?: string;
  /** Why the task file, or the whole workspace, cannot be read now: then no evidence opens a gate. */
  readonly unreadable?: Unreadable;
  /** The project's pool has no free workspace. */
  readonly poolFull: boolean;
  /** Whether the task has a workspace after its owed effects; missing where they do not change that. */
  readonly willHaveWorkspace?: boolean;
  /** The files that differ between the branch and each commit for which a finding was closed; missing where not known. */
  readonly changedSince?: Readonly<Record<string, readonly string[]>>;
  /** Runs whose start is owed; it is dropped when the task leaves its state. */
  readonly unstarted?: readonly string[];
}

export interface Unreadable {
  /** As a sentence. */
  readonly reason: string;
  readonly fix: string;
  /** The branch that the workspace has checked out instead of the task's: then nothing is approved or merged. */
  readonly otherBranch?: string;
}

export interface Artifact {
  readonly role: string;
  readonly commit: string;
}

export const factNames = [
  "commits",
  "new_commits",
  "dirty",
  "workspace",
  "merged",
  "protected",
  "approved_findings",
  "open_findings",
  "noted_findings",
  "quiet_rounds",
  "children_done",
  "children_failed",
  "exit_code",
  "documents",
] as const;

export type FactName = (typeof factNames)[number];
