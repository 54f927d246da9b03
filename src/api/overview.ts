import { route } from "./client.ts";
import { boolean, integer, list, nullable, number, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

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
  /** Why it was not merged, or that there was nothing to merge; empty if it was merged. */
  reason: text,
  files: list(text),
  /** The commit of the work, and the branch's commits before and after; `after` is empty where nothing was merged. */
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
  /** What these checks are about, and the command that checks the rest, as sentences. */
  covers: text,
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

const stretchWire = record({
  /** me: it waited for a person. queued: for the machine, such as for a seat or in a merge queue. idle: nothing happened. */
  kind: oneOf("me", "queued", "working", "idle"),
  state: text,
  from: text,
  /** The time of the answer while it goes on. */
  until: text,
  /** The runs that worked in it. */
  runs: list(text),
  /** The part of their cost that falls into it, by its length; null if no cost is known. `unknown`: how many have none. */
  dollars: nullable(number),
  unknown: integer(0),
});
export type StretchView = TypeOf<typeof stretchWire>;

const timelineTaskWire = record({
  ...{ id: text, project: text, number: integer(0), summary: text, status: text, createdAt: text },
  needsPerson: boolean,
  outcome: nullable(oneOf("done", "failed", "cancelled")),
  /** From its creation to its end, or until now; without those that ended before the window. */
  stretches: list(stretchWire),
});
export type TimelineTask = TypeOf<typeof timelineTaskWire>;

const configWire = record({
  /** The files that settings are read from; empty if there is none. */
  files: record({ user: text, repository: text }),
  /** What is wrong with them. */
  problems: list(text),
  /** What has no effect until a person trusts it, with the command. */
  notes: list(record({ text, fix: text })),
  settings: list(
    record({
      key: text,
      /** As in a file; empty if it is hidden. */
      value: text,
      /** It is set, and may have a secret in it. */
      hidden: boolean,
      source: oneOf("repository", "project", "user", "default"),
      /** project: a repository's file may set it too. */
      level: oneOf("user", "project"),
      description: text,
      /** How its value is written. */
      form: text,
    }),
  ),
});
export type ConfigView = TypeOf<typeof configWire>;

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
  listTimeline: route({
    name: "listTimeline",
    method: "GET",
    path: "/v1/timeline",
    summary: "Show when tasks worked, and when they waited for a person or for the machine; with costs",
    access: "person",
    /** `since`: the beginning of the window, a day ago without it. Open tasks are shown whenever they have changed. */
    query: record({}, { project: name, since: shortText(40), limit: shortText(20) }),
    /** The task that has changed last comes first. `more`: how many are left out. */
    answer: record({ since: text, until: text, tasks: list(timelineTaskWire), more: integer(0) }),
  }),
  showConfig: route({
    name: "showConfig",
    method: "GET",
    path: "/v1/config",
    summary:
      "Show every setting, and where its value comes from; with project= also those of a project and its repository",
    access: "person",
    query: record({}, { project: name }),
    answer: configWire,
  }),
} as const;
