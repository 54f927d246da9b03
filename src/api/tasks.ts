import { type NeedReason, needReasons } from "../engine/needs.ts";
import { route } from "./client.ts";
import {
  any,
  boolean,
  integer,
  list,
  map,
  nullable,
  number,
  oneOf,
  record,
  shortText,
  type TypeOf,
  text,
} from "./wire.ts";

const heldWire = record({ reason: text, word: text, again: oneOf("wait", "do", "effects") });

/** One reason why a task needs a person. */
const needWire = record({
  reason: oneOf(...(Object.keys(needReasons) as [NeedReason, ...NeedReason[]])),
  text,
  /** The same on one line, without the command. */
  brief: text,
  /** Empty if no command helps. */
  command: text,
  since: text,
});

/** Which part of its parent's plan a task is; `slot` is null until its parent lets it start. */
const planPartWire = record({
  ...{ item: text, try: integer(1), slot: nullable(integer(1)), title: text, files: list(text) },
  size: oneOf("S", "M", "L"),
});

/** A part of a task's plan: the newest try of one item. */
const partWire = record({
  /** The part's own task, and its number. */
  ...{ id: text, number: integer(0), item: text, title: text, try: integer(1), status: text },
  /** One that has started is `waiting` too while it has no workspace, or its agent no seat. */
  state: oneOf("waiting", "running", "done", "failed", "skipped"),
  needsPerson: boolean,
  /**
   * What it waits for, why it needs a person, or why it was not done; of a done one, that small findings are noted. Empty if it
   * works, or is done without any.
   */
  why: text,
  /** The tasks of its earlier tries. */
  earlier: list(text),
});
export type PartView = TypeOf<typeof partWire>;

/**
 * How far the parts of a task's plan are, in the order of the plan. `checkpoint`: the state of the least advanced one that
 * runs; without one, the task's own state.
 */
const childrenWire = record({
  ...{ checkpoint: text, waiting: integer(0), running: integer(0), done: integer(0), failed: integer(0) },
  ...{ skipped: integer(0), needPerson: list(text), parts: list(partWire) },
});
export type ChildrenView = TypeOf<typeof childrenWire>;

/**
 * A budget of a task and its tree of children, in US dollars or in tokens. `reserved`: for runs that have not ended.
 * `unknown`: the runs whose use is not known, and for which nothing was reserved.
 */
export const budgetFields = {
  /** The task that has the budget, such as coffee#1. */
  ...{ of: text, kind: oneOf("cost", "tokens"), limit: number, spent: number, reserved: number, left: number },
  unknown: integer(0),
};
const budgetWire = record(budgetFields);

/** The fields of a task. Times are ISO texts. */
export const taskFields = {
  id: text,
  project: text,
  number: integer(0),
  branch: text,
  /** The branch that its work starts from and is merged into; empty for the project's default branch. */
  base: text,
  summary: text,
  workflow: text,
  workflowHash: text,
  status: text,
  previousStatus: text,
  phase: oneOf("entering", "waiting", "doing", "over"),
  /** How the task ended; null while it is open. */
  outcome: nullable(oneOf("done", "failed", "cancelled")),
  /** Whether it is done, but its merge was undone since. */
  undone: boolean,
  /** Whether the task needs a person. */
  needsPerson: boolean,
  /** Why it needs a person, the most urgent reason first; empty unless `needsPerson`. */
  needs: list(needWire),
  held: nullable(heldWire),
  /** Why the task failed; empty unless it did. */
  reason: text,
  /** The commit that the last verdict, or a person's approval, is about, and whose it is; null until there is one. */
  judged: nullable(record({ commit: text, role: text })),
  /** The commit that the engine's own tests ran on last, and how they ended; null until they have run. */
  tested: nullable(record({ commit: text, word: text })),
  /** The session of its agent: none was started, alive, dead, or unknown. */
  session: oneOf("none", "alive", "dead", "unknown"),
  /** Why an agent of the task waits for a seat, and its place in the queue; empty if none waits. */
  waiting: text,
  /** That its project, or everything, is paused, and how to resume; empty if not paused, or if the task has ended. */
  paused: text,
  harness: text,
  reviewHarness: text,
  model: text,
  workspace: text,
  prUrl: text,
  /** The ticket that it was created from; empty if there is none. */
  ticket: text,
  /** What of the things that decide about work its work has changed; a person must see it before it is merged. */
  protectedChanges: list(text),
  parent: text,
  part: nullable(planPartWire),
  /** Null if its workflow makes no parts. */
  children: nullable(childrenWire),
  /** TASK, TASK:state=STATE or TASK:section=NAME, with the ids of tasks. */
  dependsOn: list(text),
  handDown: list(text),
  /** Every budget that covers the task: its own, then those of its parents. */
  budgets: list(budgetWire),
  labels: list(text),
  priority: integer(Number.MIN_SAFE_INTEGER),
  autostart: boolean,
  counters: map(integer(Number.MIN_SAFE_INTEGER)),
  crashCount: integer(0),
  runs: list(record({ role: text, key: text, mode: text })),
  revision: integer(1),
  createdAt: text,
  updatedAt: text,
  /** Whether it has changed since the person marked it as seen, or was marked as unread since. */
  unread: boolean,
  /** Until when the person wants it out of inboxes; null unless that is in the future. */
  snoozedUntil: nullable(text),
};

/** A task as the API shows it. */
export const taskWire = record(taskFields);
export type TaskView = TypeOf<typeof taskWire>;

export const changeFields = {
  kind: oneOf("moved", "stayed", "ignored"),
  /** The state before the request. */
  from: text,
  task: taskWire,
  /** Why it was ignored; empty otherwise. */
  why: text,
  /** The number of the task's present stay, as its effects name it, and the actions that the request added to it. */
  entry: integer(0),
  effects: list(text),
};

/** The result of a request. */
export const changeWire = record(changeFields);
export type ChangeView = TypeOf<typeof changeWire>;

/** A conflict that was returned to the task's agent. */
const givenBackWire = record({
  /** The state that the task moved to for this, or its state if it did not have to move. */
  to: text,
  /** The run that is told; empty if no agent continues now. */
  run: text,
  how: oneOf("message", "start", ""),
});

export type GivenBackView = TypeOf<typeof givenBackWire>;

/** A task's work on its way into a branch. */
export const mergeWire = record({
  /** waits: it continues by itself. lined-up: others are before it in the queue. */
  state: oneOf("lined-up", "waits", "merged", "conflict", "tests", "refused", "undone"),
  reason: text,
  /** The files that conflict or are in the way. */
  files: list(text),
  target: text,
  /** The commit of the task's work, and the branch's commits before and after the merge, or the undoing of it. */
  commit: text,
  before: text,
  after: text,
  givenBack: nullable(givenBackWire),
  /** The task's branch has no commit of its own, so nothing was or would be merged. */
  empty: boolean,
  /** Only in a dry run: how many commits would be merged, and which files would change. */
  commits: integer(0),
  changed: list(text),
  dryRun: boolean,
  /**
   * Why the merged result was not tested. off: test_merges is false, although there is a test command. no-command: no test
   * command was found. Null if it was tested, or if nothing asks for tests.
   */
  untested: nullable(oneOf("off", "no-command")),
  /**
   * The push that was made or would be made, and how many commits of the user's own it brought to the remote besides the
   * work: null if the remote did not have the branch or, in a dry run, if that is not known. Null if nothing is pushed.
   */
  pushed: nullable(record({ remote: text, commits: nullable(integer(0)) })),
  /** Problems of the work that do not prevent the merge, as sentences. */
  warnings: list(text),
  task: taskWire,
});
export type MergeView = TypeOf<typeof mergeWire>;

export const eventWire = record({
  /** Increases with every event; the position from which to resume the event feed. */
  position: integer(0),
  task: text,
  project: text,
  revision: integer(0),
  type: text,
  by: text,
  data: map(any),
  at: text,
});
export type EventView = TypeOf<typeof eventWire>;

export const effectWire = record({
  id: integer(0),
  /** The number of the stay that it belongs to. */
  entry: integer(0),
  action: text,
  state: oneOf("owed", "done", "failed", "dropped"),
  tries: integer(0),
  dueAt: text,
  failure: nullable(text),
});

/** A task's pull request, as of the last check. */
export const pullRequestWire = record({
  number: integer(1),
  /** Empty if there is no forge. */
  url: text,
  state: oneOf("open", "merged", "closed"),
  head: text,
  base: text,
  title: text,
  isDraft: boolean,
  review: oneOf("approved", "changes-requested", "none", "required"),
  checks: oneOf("passing", "failing", "unfinished", "none"),
  seenAt: text,
});
export type PullRequestView = TypeOf<typeof pullRequestWire>;

/** A way out of a task's state. */
export const moveWire = record({ to: text, by: list(text), open: boolean, command: text, missing: list(text) });

/** The answer of `explain`. */
export const explanationWire = record({
  task: taskWire,
  /** One sentence each: where the task is, and what it is doing there. */
  where: text,
  /** What blocks the task, the most important reason first. */
  blocked: list(record({ reason: text, fix: text })),
  /** The possible moves, who may make each, and the exact command. */
  moves: list(moveWire),
  /** What happens by itself, and when. */
  next: list(record({ what: text, at: nullable(text) })),
  owed: list(effectWire),
  /** How the task stands to the promises of its workflow: by what each is kept, or what is still missing. */
  promises: list(record({ promise: text, state: oneOf("kept", "open"), evidence: text })),
  /** Problems that are likely later, although nothing blocks the task yet. */
  warnings: list(text),
});
export type ExplanationView = TypeOf<typeof explanationWire>;

/** An action that a person can take on a task. */
export const actionWire = record({
  /** The command's name; `move` for each way that a person may take. */
  name: text,
  label: text,
  /** The key in dashboards; empty if another action uses it now. */
  key: text,
  command: text,
  /** The state that it leads to; empty if the task stays, or if that is unknown. */
  to: text,
  /**
   * What follows that reaches beyond the task: its work is merged, its branch is pushed, or the task ends. A dashboard asks
   * the person first.
   */
  consequence: oneOf("none", "merge", "push", "end"),
  allowed: boolean,
  /** Why it is not allowed, and what to do; empty if it is allowed. */
  why: text,
});
export type ActionView = TypeOf<typeof actionWire>;

const nothing = record({});
const name = shortText(100);
const line = shortText(2_000);

/** The routes about merging and pull requests. */
export const mergeRoutes = {
  mergeTask: route({
    name: "mergeTask",
    method: "POST",
    path: "/v1/tasks/:task/merge",
    summary: "Merge a task's work, check that the branch contains it, and move the task to its done state",
    access: "person",
    query: record({}, { project: name }),
    body: record(
      {},
      { strategy: oneOf("merge", "ff"), local: boolean, dryRun: boolean, giveBack: boolean, unreviewed: boolean },
    ),
    answer: mergeWire,
  }),
  undoMerge: route({
    name: "undoMerge",
    method: "POST",
    path: "/v1/tasks/:task/merge/undo",
    summary: "Revert a task's merges, each with a new commit on the default branch",
    access: "person",
    query: record({}, { project: name }),
    body: record({}, { dryRun: boolean }),
    answer: mergeWire,
  }),
  cancelMerge: route({
    name: "cancelMerge",
    method: "POST",
    path: "/v1/tasks/:task/merge/cancel",
    summary: "Take a merge that a person asked for out of the queue, unless it is published already",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    body: nothing,
    answer: mergeWire,
  }),
  syncTask: route({
    name: "syncTask",
    method: "POST",
    path: "/v1/tasks/:task/sync",
    summary: "Merge the default branch into the task's branch",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    body: record({}, { from: name, giveBack: boolean }),
    answer: record({
      from: text,
      commit: text,
      commits: integer(0),
      /** The conflicting files; if there are any, the branch has not moved. */
      files: list(text),
      givenBack: nullable(givenBackWire),
      task: taskWire,
    }),
  }),
  openPullRequest: route({
    name: "openPullRequest",
    method: "POST",
    path: "/v1/tasks/:task/pull-request",
    summary: "Push the task's branch and open its pull request, or update the existing one",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    body: record({}, { title: line, body: text, draft: boolean }),
    answer: pullRequestWire,
  }),
} as const;

/** What a person may choose for a new task, and change later. */
export const taskEdit = {
  summary: line,
  branch: name,
  harness: name,
  reviewHarness: name,
  model: name,
  labels: list(name),
  priority: integer(-1_000, 1_000),
  /** TASK, TASK:state=STATE or TASK:section=NAME. */
  dependsOn: list(shortText(400)),
  /** Sections of these tasks that are copied into the task's document when it starts. */
  handDown: list(name),
  /** US dollars ("5"), tokens ("200k"), or one of each; ["none"] for no budget. */
  budget: list(name),
  autostart: boolean,
  preset: name,
  /** Values of the workflow's settings. Texts as on the command line count too: lists a,b and maps key:value,key:value. */
  settings: map(any),
};
