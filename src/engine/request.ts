import type { TaskEdit } from "./task.ts";
import type { TaskDocument } from "./task-document.ts";

/** Something that may change a task: somebody asks, or something was observed. */
export type Request =
  /** Somebody asks for a state. */
  | { readonly kind: "move"; readonly to: string; readonly actor: Actor; readonly word?: PersonsWord }
  /** The wait is over: a person's word, a free slot, time that has passed. Of a held task: try again. */
  | { readonly kind: "continue"; readonly actor: Actor; readonly word?: PersonsWord }
  /** A person answered or attached. In a dialogue the text is the reply. */
  | { readonly kind: "reply"; readonly actor: Actor; readonly text: string }
  /** A person brings a dead agent back without moving the task. */
  | { readonly kind: "respawn"; readonly actor: Actor }
  /** Somebody has something for the state's agent to know: a live one is told, a dead one is brought back. */
  | { readonly kind: "remind"; readonly actor: Actor; readonly word: PersonsWord }
  /** Somebody changes what the task is called or how it is made, not where it stands. */
  | { readonly kind: "edit"; readonly actor: Actor; readonly set: TaskEdit }
  /** A run ended. */
  | {
      readonly kind: "ended";
      readonly run: string;
      readonly word: RunEnd;
      readonly answer?: unknown;
      readonly reason?: string;
    }
  /** An interactive agent finished a turn and is quiet. */
  | {
      readonly kind: "idle";
      readonly run: string;
      /** It was told not long ago: it counts if it has produced what is waited for, and is not told again yet. */
      readonly isPatient?: boolean;
    }
  /** Every effect of the entry has been carried out. */
  | { readonly kind: "settled"; readonly entry: number }
  /** An effect of the entry failed for good. */
  | { readonly kind: "unsettled"; readonly entry: number; readonly action: string; readonly reason: string }
  /** The state's own work ended: `ok`, `error` or a word its action declares. */
  | { readonly kind: "did"; readonly entry: number; readonly word: string; readonly reason?: string }
  /** The children of a fan-out are all through. */
  | { readonly kind: "children"; readonly entry: number; readonly word: "ok" | "error"; readonly reason?: string }
  /** A limit of the state (`entry` given) or of the whole task was reached. */
  | { readonly kind: "limit"; readonly word: "time" | "cost"; readonly entry?: number };

/** What comes with a request of a person's. It changes nothing about where the task goes. */
export interface PersonsWord {
  /** What the agent that goes on has to know: a text with variables, as in a workflow. */
  readonly tell?: string;
  /** What a live agent hears that goes on in another state, and to which the workflow says nothing there. */
  readonly wake?: string;
  /** The commit that is approved; refused where the branch is elsewhere. */
  readonly approves?: string;
  /** The stay that it is meant for; refused in any other. */
  readonly entry?: number;
}

/** How a run can end. `lost` is no fault of its own: the machine or the terminal server went away. */
export type RunEnd = "ok" | "exit" | "error" | "invalid" | "stall" | "step" | "time" | "cost" | "lost";

export interface Actor {
  /** `human`, `engine` or a role of the task. */
  readonly role: string;
  /** The run whose credential was shown; absent for people and the engine. */
  readonly run?: string;
}

/** What is true outside at the moment of the request. */
export interface Facts {
  readonly document: TaskDocument;
  /** The commit the task's branch is at; empty where there is none. */
  readonly head: string;
  /** Who wrote a section, and for which commit, where that is known. */
  readonly artifacts: Readonly<Record<string, Artifact>>;
  /** The numbers guards can ask for; `true` is 1. */
  readonly numbers: Readonly<Partial<Record<FactName, number>>>;
  /** The branch contains the task file, which must stay out of git. */
  readonly taskFileTracked: boolean;
  /** Why a task file, or the whole workspace, cannot be read now: then no evidence opens a gate. */
  readonly unreadable?: Unreadable;
  /** The project has no workspace left to give. */
  readonly poolFull: boolean;
  /** Whether the task has a workspace once what it owes is carried out; missing where that is as it is now. */
  readonly willHaveWorkspace?: boolean;
  /** Runs whose start is owed and is dropped when the task leaves its state. */
  readonly unstarted?: readonly string[];
}

export interface Unreadable {
  /** As a sentence. */
  readonly reason: string;
  readonly fix: string;
  /** The branch that the workspace has checked out, where that is not the task's: then nothing is approved or merged. */
  readonly otherBranch?: string;
}

export interface Artifact {
  readonly role: string;
  readonly commit: string;
}

export const factNames = [
  "commits",
  "dirty",
  "workspace",
  "merged",
  "approved_findings",
  "open_findings",
  "children_done",
  "children_failed",
  "exit_code",
] as const;

export type FactName = (typeof factNames)[number];
