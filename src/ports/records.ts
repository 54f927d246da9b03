import type { AgentState } from "../engine/agent-state.ts";
import type { NeedReason } from "../engine/needs.ts";
import type { RunEnd } from "../engine/request.ts";
import type { Mode } from "../engine/workflow.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { TailPosition } from "./tail.ts";

/** What is kept beside tasks. Every record belongs to a project, and most to a task. */
export interface Kept {
  /** Unique among records of its kind. */
  readonly id: string;
  readonly project: string;
  /** Empty where it belongs to no task. */
  readonly task: string;
  /** When it was made. Milliseconds since 1970, as all times here. */
  readonly at: number;
}

/** A named slot that performs runs. */
export interface Agent extends Kept {
  readonly role: string;
  readonly harness: string;
  readonly model: string;
  readonly state: AgentState;
  /** Why it is stuck. */
  readonly reason: string;
  /** The ids of all tasks that it was given; missing in old records. */
  readonly had?: readonly string[];
  /** The ticket that a task is being made from for it; missing or empty where none is. */
  readonly taking?: string;
}

/** A folder with a checkout, bound to at most one task. */
export interface Workspace extends Kept {
  readonly path: string;
  readonly kind: "worktree" | "clone" | "folder";
  /** Its own among all workspaces that are bound; missing where it has none. */
  readonly port?: number;
  /** The task that files were copied and the setup was run for; missing or empty until that is over. */
  readonly readyFor?: string;
  /** The names of the branches that the user's repository had when the task got it; missing until then, and in old records. */
  readonly branches?: readonly string[];
}

/** A task's work on its way into a branch. Its id is the task's: a task is merged at most once. */
export interface Merge extends Kept {
  /** The branch that the work goes into. */
  readonly target: string;
  readonly strategy: "merge" | "ff";
  /** The state that the task moves to when it is merged; empty where that is not asked for. */
  readonly to: string;
  readonly by: string;
  /** The task's stay in its state in which it was asked for: in another it is not wanted any more. */
  readonly entry?: number;
  /** What is not committed stays where it is; missing where nothing is merged then. */
  readonly leaves?: boolean;
  /** The commit that a person has approved: nothing else is merged. Missing where any may be. */
  readonly only?: string;
  /** What conflicts is to be given back to the task's agent; missing where a person wants to see to it. */
  readonly givesBack?: boolean;
  /** Where the task went for that, and which run learns of it: told, or started with it. */
  readonly givenBack?: GivenBack;
  /** lined-up: its turn has not come. waits: something of the user's is in the way. merged: the branch contains it. */
  readonly state: "lined-up" | "waits" | "merged" | "conflict" | "tests" | "refused" | "undone";
  /** A sentence for people. */
  readonly reason: string;
  /** What conflicts, or is in the way. */
  readonly files: readonly string[];
  /** The task's work, and where the branch was before and after; empty until it is merged. */
  readonly commit: string;
  readonly before: string;
  readonly after: string;
  readonly endedAt: number | undefined;
  /** Where the branch was before and after the commit that took the merge back; missing where no commit of ours did. */
  readonly undo?: { readonly before: string; readonly after: string };
}

export interface GivenBack {
  readonly to: string;
  /** Empty where no agent goes on now. */
  readonly run: string;
  readonly how: "message" | "start" | "";
}

/** A task's pull request, as far as it was looked at. Its id is the task's. */
export interface PullRequestRecord extends Kept {
  readonly number: number;
  /** Empty where there is no forge. */
  readonly url: string;
  readonly head: string;
  /** The commit that it is at; empty while nobody knows. */
  readonly headCommit: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly state: "open" | "merged" | "closed";
  /** What the merge made on the base; empty until it is merged. */
  readonly mergedCommit: string;
  /** What the reviews and the checks came to, in the forge's words. */
  readonly review: "approved" | "changes-requested" | "none" | "required";
  readonly checks: "passing" | "failing" | "unfinished" | "none";
  /** What was to be said about it where there is no forge to say it on, by key. */
  readonly comments: Readonly<Record<string, string>>;
  /** When the forge was last asked. */
  readonly seenAt: number;
  /** What is to be told only once: the position in its comments, the checks that have failed, … */
  readonly told: Readonly<Record<string, string>>;
}

/** One execution of an agent for a task and a role. */
export interface Run extends Kept {
  /** `<role>#<n>`, as the task knows it. */
  readonly key: string;
  readonly role: string;
  readonly harness: string;
  readonly model: string;
  /** What the harness calls its session; empty while nobody knows. */
  readonly session: string;
  /** Where it works; empty where that is nowhere in particular. */
  readonly folder: string;
  /** Its process; 0 while there is none. */
  readonly pid: number;
  readonly endedAt: number | undefined;
  readonly word: string;
  /** How we started it, or are about to; missing where somebody else did. */
  readonly started?: StartedRun;
}

export interface StartedRun {
  /** `[a-z0-9-]+`: what its pane, its process and its folder are called. */
  readonly name: string;
  readonly mode: Mode;
  /** The window's name; empty where it has none. */
  readonly window: string;
  readonly at: number;
  /** The stay of the task that it was started in. */
  readonly entry: number;
  /** How often it was asked for its answer again: each time is another process. */
  readonly part: number;
  /** It goes on in the session of an earlier run. */
  readonly isResumed: boolean;
  /** It was started with its prompt, and does not listen before that has arrived; missing in old records. */
  readonly hasPrompt?: boolean;
  /** Where the harness keeps the conversation; empty while nobody knows. How far it had come before this run began. */
  readonly transcript: string;
  readonly transcriptFrom: number;
  /** A person was told that it needs one; empty where not. */
  readonly raised: string;
  /** Something of its conversation was seen, so that there is a session to go on in; missing in old records. */
  readonly hasBegun?: boolean;
  /** Who its program is, as the system knows it; missing until it runs, and in old records. */
  readonly process?: ProcessIdentity;
  /** Since when it is idle, where its program was ended to make room: it goes on in its session when it is needed. */
  readonly asleepSince?: number;
  /** How often its program was started again after that: each time is another program with another name. */
  readonly wakes?: number;
  /** Why it is being ended, noted before it is; missing while nobody ends it. */
  readonly ending?: { readonly word: RunEnd; readonly reason: string };
}

/** What a run shows to be believed. Its id is the hash of the secret; the secret itself is kept nowhere. */
export interface Credential extends Kept {
  readonly role: string;
  readonly run: string;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
}

/** Something a reviewer found. */
export interface Finding extends Kept {
  readonly run: string;
  readonly title: string;
  readonly detail: string;
  readonly file: string;
  readonly line: number | undefined;
  readonly severity: string;
  readonly state: "open" | "approved" | "dismissed" | "fixed";
  readonly commit: string;
}

/**
 * One need of a person, and whether the person was called for it. Its id is the need's key; `at` is since when it is there.
 * It is kept until its task is over, so that nobody is called twice for the same.
 */
export interface CallRecord extends Kept {
  readonly reason: NeedReason;
  readonly text: string;
  readonly command: string;
  /** waits: the person was not called yet. calling: some channel has still to be tried. called: nothing is left to do. */
  readonly state: "waits" | "calling" | "called";
  /** When the person may be called. */
  readonly dueAt: number;
  /** How often the need has gone away and come back. */
  readonly episode: number;
  /** What was told together has this in common: the key that channels get. Empty until then. */
  readonly note: string;
  readonly calledAt?: number;
  /** When the need went away; missing while it is there. */
  readonly overAt?: number;
  /** By name. */
  readonly channels: Readonly<Record<string, ChannelState>>;
}

export interface ChannelState {
  readonly state: "owed" | "told" | "failed";
  readonly tries: number;
  /** When it is tried next, or was tried last. */
  readonly at: number;
  /** Why it failed; empty where it did not. */
  readonly problem: string;
}

/** Something to be delivered to an agent. */
export interface Message extends Kept {
  readonly from: string;
  /** The key of the run that it is for. */
  readonly to: string;
  readonly text: string;
  /** When it was last put into the agent's input; missing until then. */
  readonly triedAt?: number;
  /** How many prompts the run had been given before that. */
  readonly promptsBefore?: number;
  readonly deliveredAt: number | undefined;
  /** How it is known to have arrived: the harness's own evidence, or nothing but that it was typed. */
  readonly evidence?: "seen" | "typed";
  /** Why it cannot be delivered; missing or empty while there is hope. */
  readonly problem?: string;
}

/** A talk between a role and a person. */
export interface Conversation extends Kept {
  readonly role: string;
  readonly entries: readonly { readonly from: "agent" | "human"; readonly text: string; readonly at: number }[];
}

/** What a run used up. Its id is the run's. */
export interface Usage extends Kept {
  readonly run: string;
  /** Who used it; missing in old records. */
  readonly role?: string;
  readonly harness?: string;
  /** Milliseconds from its start to its end, or to the last look. */
  readonly duration?: number;
  /** How far the source that tells of it was read. */
  readonly position?: TailPosition;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** In dollars. Undefined where nobody told: unknown is not zero. */
  readonly cost: number | undefined;
}
