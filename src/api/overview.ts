import { route } from "./client.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const ofTask = { task: text, number: integer(0), summary: text };

const queuedWire = record({
  ...ofTask,
  /** landing: it is being merged. waits: it continues by itself once `reason` is over. paused: its project is paused. */
  state: oneOf("lined-up", "landing", "in-test", "waits", "paused"),
  /** Empty unless it waits. */
  reason: text,
  /** The files that are in the way. */
  files: list(text),
  /** Who asked for the merge. */
  by: oneOf("person", "workflow"),
  at: text,
});

const queueWire = record({
  project: text,
  /** The branch that the work goes into. */
  target: text,
  /** The task whose branch that is; empty for a branch of the user's. */
  parent: text,
  /** In the order in which they are merged. */
  entries: list(queuedWire),
});
export type MergeQueueView = TypeOf<typeof queueWire>;

const endedMergeWire = record({
  ...ofTask,
  project: text,
  target: text,
  parent: text,
  state: oneOf("merged", "conflict", "tests", "refused", "undone"),
  /** Why it was not merged; empty if it was. */
  reason: text,
  files: list(text),
  /** The commit of the work, and the branch's commits before and after. */
  commit: text,
  before: text,
  after: text,
  /** The remote's branch has it already, and the user's follows. */
  onRemote: boolean,
  by: oneOf("person", "workflow"),
  at: text,
  endedAt: text,
});
export type EndedMergeView = TypeOf<typeof endedMergeWire>;

const doctorWire = record({
  /** No error is among the findings. */
  ok: boolean,
  checks: list(
    record({
      /** What was checked; several findings may have the same. */
      name: text,
      level: oneOf("ok", "warning", "error"),
      found: text,
      /** The commands that mend it, one on each line; empty if there is nothing to do. */
      fix: text,
    }),
  ),
});
export type DoctorView = TypeOf<typeof doctorWire>;

const name = shortText(100);

/** Routes that show everything of one kind, for dashboards. */
export const overviewRoutes = {
  listMerges: route({
    name: "listMerges",
    method: "GET",
    path: "/v1/merges",
    summary: "Show the merge queue of every branch, and the merges that have ended, the last first",
    access: "person",
    query: record({}, { project: name, before: shortText(100), limit: shortText(20) }),
    /** `next`: to be given as `before`; null on the last page. */
    answer: record({ queues: list(queueWire), ended: list(endedMergeWire), next: nullable(text) }),
  }),
  doctor: route({
    name: "doctor",
    method: "GET",
    path: "/v1/doctor",
    summary: "Check the home, the store, tasks, projects, workflows and agents, and say how to mend what is wrong",
    access: "person",
    answer: doctorWire,
  }),
} as const;
