import type { Budget } from "../engine/budget.ts";
import type { NeedReason } from "../engine/needs.ts";
import type { AgentState } from "../engine/reconcile.ts";
import type { RunEnd } from "../engine/request.ts";
import type { Mode } from "../engine/workflow.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { TailPosition } from "./tail.ts";

/** A record that is stored beside tasks. Every record belongs to a project, and most to a task. */
export interface Kept {
  /** Unique among records of its kind. */
  readonly id: string;
  readonly project: string;
  /** Empty if it belongs to no task. */
  readonly task: string;
  /** When it was created. Milliseconds since 1970, as all times here. */
  readonly at: number;
}

/** What signs a browser in: a link that is used once, or the session that comes of it. Only hashes of secrets are stored. */
export interface WebKey {
  /** The hash of its secret. */
  readonly id: string;
  readonly kind: "link" | "session";
  readonly at: number;
  readonly expiresAt: number;
  /** Only of a session: the hash of its page key, the address that it was opened at, and what the browser calls itself. */
  readonly pageKey?: string;
  readonly address?: string;
  readonly browser?: string;
}

/** A named slot that performs runs. */
export interface Agent extends Kept {
  readonly role: string;
  readonly harness: string;
  readonly model: string;
  readonly state: AgentState;
  /** Why it is stuck. */
  readonly reason: string;
  /** The ids of all tasks that were assigned to it; missing in old records. */
  readonly had?: readonly string[];
  /** The ticket from which a task is being created for it; missing or empty if there is none. */
  readonly taking?: string;
}

/** A folder with a checkout, bound to at most one task. */
export interface Workspace extends Kept {
  readonly path: string;
  readonly kind: "worktree" | "clone" | "folder";
  /** A port that no other bound workspace has; missing if it has none. */
  readonly port?: number;
  /** The task for which files were copied and the setup was run; missing or empty until that is done. */
  readonly readyFor?: string;
  /** The user's branches when the task got the workspace; missing until then, and in old records. */
  readonly branches?: readonly string[];
  /**
   * Only of a judge's checkout: the run that it was made for, which may have ended since; empty if it is free. It contains
   * no work of the task's, and does not count as one of the project's pool.
   */
  readonly run?: string;
  /** Only of a judge's checkout: the commit that the run was given. */
  readonly commit?: string;
  /** The installed programs that run the tests, by path, with a hash of each after the setup; missing without a setup. */
  readonly runners?: Readonly<Record<string, string>>;
  /** Only of a folder that was set aside, because its contents could not be saved, or it cannot be emptied. No task gets it. */
  readonly unsaved?: UnsavedFolder;
}

export interface UnsavedFolder {
  /** The task whose workspace it was; empty if it was free. */
  readonly task: string;
  /** What is wrong with it, as a sentence; empty if that is unknown. */
  readonly reason: string;
  /** Whether its contents are saved: then it was set aside because it cannot be emptied. */
  readonly isSaved?: boolean;
  /** Whether the task's history has it, and whether a person was called for it. */
  readonly isNoted?: boolean;
  readonly isTold?: boolean;
}

/** Whether a workspace is a judge's checkout. */
export function isCheckout({ run }: Workspace): boolean {
  return run !== undefined;
}

/** The merge of a task's work into a branch. Its id is the task's: a task is merged at most once. */
export interface Merge extends Kept {
  /** The branch that the work goes into. */
  readonly target: string;
  /** The task whose branch that is; missing for a branch of the user's. */
  readonly parent?: string;
  readonly strategy: "merge" | "ff";
  /** The state that the task moves to when it is merged; empty if no move was asked for. */
  readonly to: string;
  readonly by: string;
  /** The stay in which the merge was requested; in a later stay it is no longer wanted. */
  readonly entry?: number;
  /** Uncommitted changes are left out of the merge; missing if they prevent it. */
  readonly leaves?: boolean;
  /**
   * The commit of the task's work at the request, or the one that a person approved: only that is merged. Missing in
   * old records.
   */
  readonly only?: string;
  /** A conflict is returned to the task's agent; missing if a person resolves it. */
  readonly givesBack?: boolean;
  /** The state that the task moved to for that, and the run that is told or started with it. */
  readonly givenBack?: GivenBack;
  /** lined-up: it is in the queue. waits: something of the user's is in the way. merged: the branch contains it. */
  readonly state: "lined-up" | "waits" | "merged" | "conflict" | "tests" | "refused" | "undone";
  /** The remote's branch has the merge, and the user's branch does not yet. It is published, and can only be undone. */
  readonly onRemote?: boolean;
  /** A person stopped the merge before it was published. */
  readonly stopped?: boolean;
  /** The merge was refused for something outside of the task, which a person mends; missing if it was about the work. */
  readonly isOutside?: true;
  /** A sentence for people. */
  readonly reason: string;
  /** The command that merges the other branch in the task's workspace, for its agent; missing where none is prepared. */
  readonly command?: string;
  /** The files that conflict or are in the way. */
  readonly files: readonly string[];
  /** The commit of the task's work, and the branch's commits before and after; empty until it is merged. */
  readonly commit: string;
  readonly before: string;
  readonly after: string;
  /** Missing if nothing was pushed. */
  readonly pushed?: Pushed;
  /** No command that runs tests was found, so the merged result was not tested. */
  readonly untested?: true;
  readonly endedAt: number | undefined;
  /** The branch's commits before and after the revert of the merge; missing if Signalbox did not revert it. */
  readonly undo?: { readonly before: string; readonly after: string };
}

/** A branch that was pushed together with a merge. */
export interface Pushed {
  readonly remote: string;
  /** How many commits of the user's own the remote's branch lacked; missing if the remote had no such branch. */
  readonly commits?: number;
}

export interface GivenBack {
  readonly to: string;
  /** Empty if no agent continues now. */
  readonly run: string;
  readonly how: "message" | "start" | "";
}

/** A task's pull request, as of the last check. Its id is the task's. */
export interface PullRequestRecord extends Kept {
  readonly number: number;
  /** Empty if there is no forge. */
  readonly url: string;
  readonly head: string;
  /** Its head commit; empty while unknown. */
  readonly headCommit: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  readonly state: "open" | "merged" | "closed";
  /** The merge's commit on the base; empty until it is merged. */
  readonly mergedCommit: string;
  /** The sums of the reviews and the checks, in the forge's words. */
  readonly review: "approved" | "changes-requested" | "none" | "required";
  readonly checks: "passing" | "failing" | "unfinished" | "none";
  /** Signalbox's comments for it by key, saved before they are posted. Without a forge they are only here. */
  readonly comments: Readonly<Record<string, string>>;
  /** When the forge was last polled. */
  readonly seenAt: number;
  /** What was already reported and must not be reported again: the position in its comments, failed checks, … */
  readonly told: Readonly<Record<string, string>>;
}

/** One execution of an agent for a task and a role. */
export interface Run extends Kept {
  /** `<role>#<n>`, as the task knows it. */
  readonly key: string;
  readonly role: string;
  readonly harness: string;
  readonly model: string;
  /** The harness's id of its session; empty while unknown. */
  readonly session: string;
  /** Its working folder; empty if it has none. */
  readonly folder: string;
  /** Its process; 0 while there is none. */
  readonly pid: number;
  readonly endedAt: number | undefined;
  /** How it ended, as its workflow counted it; `killed` if it was not wanted any more. */
  readonly word: string;
  /** The name of the named agent that does it; missing where an anonymous one does. */
  readonly agent?: string;
  /** Why its named agent is stuck since it ended; missing where it is not, or was cleared. */
  readonly stuck?: string;
  /** What it said when its work was complete; missing if it did not. */
  readonly report?: { readonly summary: string; readonly outcome: string };
  /** Why it ended, if it did not end well; missing if it did. */
  readonly error?: string;
  /** How the daemon started it, or is about to; missing if another program started it. */
  readonly started?: StartedRun;
}

export interface StartedRun {
  /** `[a-z0-9-]+`: the name of its pane, its process and its folder. */
  readonly name: string;
  readonly mode: Mode;
  /** The window's name; empty if it has none. */
  readonly window: string;
  readonly at: number;
  /** The stay of the task that it was started in. */
  readonly entry: number;
  /** How often it was asked again for its answer; each time is another process. */
  readonly part: number;
  /** It resumes the session of an earlier run. */
  readonly isResumed: boolean;
  /** It was started with its prompt, and accepts no messages before that has arrived; missing in old records. */
  readonly hasPrompt?: boolean;
  /** The path of the transcript, empty while unknown; and its length before this run began. */
  readonly transcript: string;
  readonly transcriptFrom: number;
  /** Why a person was called for it; empty if none was. */
  readonly raised: string;
  /** All its programs were started in a sandbox; missing in old records. */
  readonly isConfined?: boolean;
  /** The tier that its model stands for; missing where a model was named. */
  readonly tier?: string;
  /** When it asked for a seat, and when it had one, with its named agent; missing in old records. */
  readonly askedAt?: number;
  readonly seatedAt?: number;
  /** The tier or model that was wanted, where its named agent has another; missing where it has that. */
  readonly insteadOf?: string;
  /** Its conversation has begun, so that there is a session to resume; missing in old records. */
  readonly hasBegun?: boolean;
  /** When its session has worked, in order; missing until it rests for the first time, for other runs, and in old records. */
  readonly turns?: readonly Turn[];
  /** The identity of its process; missing until it runs, and in old records. */
  readonly process?: ProcessIdentity;
  /** Set while it is asleep: since when it is idle. Its program was ended to make room, and resumes when needed. */
  readonly asleepSince?: number;
  /** How often its program was started again after that; each time is another process with another name. */
  readonly wakes?: number;
  /**
   * What the budgets of its tree reserve for it until it ends, and what it counts as if its use stays unknown; missing
   * where there was no budget when it started.
   */
  readonly reserves?: Budget;
  /** Why it is being ended, recorded beforehand; missing while nothing ends it. */
  readonly ending?: { readonly word: RunEnd; readonly reason: string };
}

/** A part of a session's time in which it worked; without an end it goes on. */
export interface Turn {
  readonly from: number;
  readonly until?: number;
}

/** A run's credential. Its id is the hash of the secret; the secret itself is stored nowhere. */
export interface Credential extends Kept {
  readonly role: string;
  readonly run: string;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
}

/** What of a task its person has seen. Its id is the task's: there is one person. */
export interface Seen extends Kept {
  /** The commit of its work that the person was last shown; empty if the person was shown none. */
  readonly commit: string;
  /** The fingerprint of the plan that the person was last shown; missing if the person was shown none. */
  readonly plan?: string;
  /** The revision of the task that the person has marked as seen; missing if the person has marked none. */
  readonly revision?: number;
  /** The person has marked the task as unread since; missing otherwise. */
  readonly isUnread?: true;
  /** The commit that the person has marked as seen; missing if the person has marked none. */
  readonly reviewed?: string;
  /** Until when the person wants to hear nothing of the task in lists; missing if never asked for. */
  readonly snoozedUntil?: number;
}

/** The size of a task's work when its commits were last collected. Its id is the task's. */
export interface WorkSize extends Kept {
  readonly commit: string;
  /** The commit that the work began from, or that was last merged into it. */
  readonly base: string;
  readonly commits: number;
  /** Lines. Binary files have none. */
  readonly added: number;
  readonly removed: number;
}

/**
 * One need for a person, and whether the person was called for it. Its id is the need's key; `at` is when the need
 * arose. It is kept until its task has ended, so that the person is not called twice for the same need.
 */
export interface CallRecord extends Kept {
  readonly reason: NeedReason;
  readonly text: string;
  readonly command: string;
  /** waits: the person was not called yet. calling: some channel must still be tried. called: nothing is left to do. */
  readonly state: "waits" | "calling" | "called";
  /** When the person may be called. */
  readonly dueAt: number;
  /** How often the need has ended and come back. */
  readonly episode: number;
  /** The key of the notification, shared by all needs in the same one. Empty until then. */
  readonly note: string;
  readonly calledAt?: number;
  /** When the need ended; missing while it exists. */
  readonly overAt?: number;
  /** By name. */
  readonly channels: Readonly<Record<string, ChannelState>>;
}

/**
 * A question that is sent to chats. Its id is the question's; `at` is when it was first seen. It is kept with its task, so
 * that a late reply to it is recognised.
 */
export interface ChatQuestion extends Kept {
  /** The key of the need that the question is. */
  readonly need: string;
  readonly isOpen: boolean;
  /** When `isOpen` last changed. */
  readonly changedAt: number;
  /** By the chat's id. A chat that has not received it is missing. */
  readonly sent: Readonly<Record<string, SentQuestion>>;
}

interface SentQuestion {
  /** The id of the message. */
  readonly message: number;
  /** The chat was told that the question is no longer open. */
  readonly isClosed: boolean;
}

export interface ChannelState {
  readonly state: "owed" | "told" | "failed";
  readonly tries: number;
  /** When it is next retried, or was last tried. */
  readonly at: number;
  /** Why it failed; empty if it did not. */
  readonly problem: string;
}

/** A message to an agent. */
export interface Message extends Kept {
  readonly from: string;
  /** The key of the run that it is for. */
  readonly to: string;
  readonly text: string;
  /** When it was last typed into the agent's input; missing until then. */
  readonly triedAt?: number;
  /** How many prompts the run had received before that. */
  readonly promptsBefore?: number;
  readonly deliveredAt: number | undefined;
  /** The evidence of delivery: the harness's own, or only that it was typed. */
  readonly evidence?: "seen" | "typed";
  /** Why it cannot be delivered; missing or empty while it still may be. */
  readonly problem?: string;
}

/** A dialogue between a role and a person. */
export interface Conversation extends Kept {
  readonly role: string;
  readonly entries: readonly { readonly from: "agent" | "human"; readonly text: string; readonly at: number }[];
}

/** The tokens and cost of a run. Its id is the run's. */
export interface Usage extends Kept {
  readonly run: string;
  /** The role of the run; missing in old records. */
  readonly role?: string;
  readonly harness?: string;
  /** The named agent that did the run; missing where an anonymous one did. */
  readonly agent?: string;
  /** Milliseconds for which it has worked until the last check: a session that waits for its next message does not. */
  readonly duration?: number;
  /** How far the source of these numbers was read. */
  readonly position?: TailPosition;
  /** The task of the run, if that was deleted: then `task` is its parent, whose tree has still used it. */
  readonly deleted?: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** In dollars. Undefined if not reported: unknown is not zero. */
  readonly cost: number | undefined;
}
