import { type NeedReason, needReasons } from "../engine/needs.ts";
import { any, boolean, integer, list, map, nullable, oneOf, record, type TypeOf, text } from "./wire.ts";

export const heldWire = record({ reason: text, word: text, again: oneOf("wait", "do", "effects") });

/** One thing that a task needs a person for. */
export const needWire = record({
  reason: oneOf(...(Object.keys(needReasons) as [NeedReason, ...NeedReason[]])),
  text,
  /** The same on one line, without the command. */
  brief: text,
  /** Empty where none helps. */
  command: text,
  since: text,
});

/** A task as everybody outside sees it. Times are ISO texts. */
export const taskWire = record({
  id: text,
  project: text,
  number: integer(0),
  branch: text,
  /** The branch that its work starts from and goes into; empty for the project's default branch. */
  base: text,
  summary: text,
  workflow: text,
  workflowHash: text,
  status: text,
  previousStatus: text,
  phase: oneOf("entering", "waiting", "doing", "over"),
  /** How a task that is over ended. */
  outcome: nullable(oneOf("done", "failed", "cancelled")),
  /** A person should look at it. */
  needsPerson: boolean,
  /** What it needs a person for, the most pressing first: nothing unless `needsPerson`. */
  needs: list(needWire),
  held: nullable(heldWire),
  /** Whether an agent's session is there: none was started, alive, dead, or nobody can tell. */
  session: oneOf("none", "alive", "dead", "unknown"),
  /** Why an agent of it waits for a seat, and its place among those that do; empty where none waits. */
  waiting: text,
  /** That its project, or everything, is paused, and how it goes on; empty where it is not, or the task is over. */
  paused: text,
  harness: text,
  reviewHarness: text,
  model: text,
  workspace: text,
  prUrl: text,
  /** The ticket that it was made from; empty where there is none. */
  ticket: text,
  parent: text,
  dependsOn: list(text),
  labels: list(text),
  priority: integer(Number.MIN_SAFE_INTEGER),
  autostart: boolean,
  counters: map(integer(Number.MIN_SAFE_INTEGER)),
  crashCount: integer(0),
  runs: list(record({ role: text, key: text, mode: text })),
  revision: integer(1),
  createdAt: text,
  updatedAt: text,
});
export type TaskView = TypeOf<typeof taskWire>;

/** What a request did. */
export const changeWire = record({
  kind: oneOf("moved", "stayed", "ignored"),
  /** Where the task was before. */
  from: text,
  task: taskWire,
  /** Why it was ignored; empty otherwise. */
  why: text,
});
export type ChangeView = TypeOf<typeof changeWire>;

/** A conflict that was given back to the task's agent. */
export const givenBackWire = record({
  /** The state that the task went to for it; where it was already, if it did not have to move. */
  to: text,
  /** Who learns of it; empty where no agent goes on now. */
  run: text,
  how: oneOf("message", "start", ""),
});

export type GivenBackView = TypeOf<typeof givenBackWire>;

/** A task's work on its way into a branch. */
export const mergeWire = record({
  /** waits: it goes on by itself. lined-up: others come before it. */
  state: oneOf("lined-up", "waits", "merged", "conflict", "tests", "refused", "undone"),
  reason: text,
  /** What conflicts, or is in the way. */
  files: list(text),
  target: text,
  /** The task's work, and where the branch was before and after it. */
  commit: text,
  before: text,
  after: text,
  givenBack: nullable(givenBackWire),
  /** Only of a rehearsal: how many commits would come in, and which files would change. */
  commits: integer(0),
  changed: list(text),
  dryRun: boolean,
  /** What the merge made, or would make, was not tested although there is a command for the tests. */
  untested: boolean,
  /** What is wrong with the work and no reason not to merge it, as sentences. */
  warnings: list(text),
  task: taskWire,
});
export type MergeView = TypeOf<typeof mergeWire>;

export const eventWire = record({
  /** Grows; where the stream is taken up again. */
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
  action: text,
  state: oneOf("owed", "done", "failed", "dropped"),
  tries: integer(0),
  dueAt: text,
  failure: nullable(text),
});

/** A task's pull request, as it was when it was last looked at. */
export const pullRequestWire = record({
  number: integer(1),
  /** Empty where there is no forge. */
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

/** What `explain` tells. */
export const explanationWire = record({
  task: taskWire,
  /** One sentence each: where it is, and what it is doing there. */
  where: text,
  /** What stands in the way, the most important first. */
  blocked: list(record({ reason: text, fix: text })),
  /** Who can move it where, with the exact command. */
  moves: list(record({ to: text, by: list(text), open: boolean, command: text, missing: list(text) })),
  /** What happens by itself, and when. */
  next: list(record({ what: text, at: nullable(text) })),
  owed: list(effectWire),
  /** What is to be expected, though nothing is in the way yet. */
  warnings: list(text),
});
export type ExplanationView = TypeOf<typeof explanationWire>;

/** Something that a person can do with a task. */
export const actionWire = record({
  /** As the command line calls it; `move` for each way that a person may take by hand. */
  name: text,
  label: text,
  /** For dashboards; empty where another action has it now. */
  key: text,
  command: text,
  /** The state that it leads to; empty where the task stays, or nobody can tell. */
  to: text,
  allowed: boolean,
  /** Why it is not allowed, and what to do; empty where it is. */
  why: text,
});
export type ActionView = TypeOf<typeof actionWire>;
