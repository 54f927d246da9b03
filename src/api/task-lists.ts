import { type NeedReason, needReasons } from "../engine/needs.ts";
import { taskGroups } from "../engine/task-group.ts";
import { route } from "./client.ts";
import { taskFields } from "./tasks.ts";
import { either, integer, list, nullable, number, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);
/** Numbers in a query are text. */
const numberText = shortText(20);

/** How lists can be sorted; `newest` without a word. */
export const taskSorts = ["newest", "updated", "waiting", "priority", "cost"] as const;
export type TaskSort = (typeof taskSorts)[number];

const groupWire = oneOf(...taskGroups);

/** A task in a list: the task, with what would otherwise need another request. */
const taskRowWire = record({
  ...taskFields,
  /** needs-me: it needs a person. queued: nothing of it is at work, because it waits for its turn. */
  group: groupWire,
  /** When it entered its state. */
  since: text,
  /** What a person is asked: the first of its needs, on one line; null if it needs nobody. `since`: when that began. */
  ask: nullable(
    record({
      reason: oneOf(...(Object.keys(needReasons) as [NeedReason, ...NeedReason[]])),
      ...{ text, command: text, since: text },
    }),
  ),
  /** What its agent does now, or why its agent waits, on one line; empty if nothing is known. */
  doing: text,
  /**
   * What its runs have used so far. `dollars` of the runs whose cost is known, null if no run's is. `unknown`: how many runs have
   * reported no cost.
   */
  cost: record({ dollars: nullable(number), tokens: integer(0), unknown: integer(0) }),
  /** The lines that its commits have added and removed, and how many commits; null until some were collected. */
  lines: nullable(record({ added: integer(0), removed: integer(0) })),
  commits: nullable(integer(0)),
  /** The checks of its pull request; null if it has none. */
  checks: nullable(oneOf("passing", "failing", "unfinished", "none")),
});
export type TaskRow = TypeOf<typeof taskRowWire>;

const countFields = { "needs-me": integer(0), running: integer(0), queued: integer(0), over: integer(0) };

/** The routes that list tasks, and count them. */
export const taskListRoutes = {
  listTasks: route({
    name: "listTasks",
    method: "GET",
    path: "/v1/tasks",
    summary: "List tasks, the newest first or sorted",
    access: "person",
    query: record(
      {},
      {
        project: name,
        status: name,
        parent: name,
        open: oneOf("true", "false"),
        /** Only tasks that need a person now. */
        needs: oneOf("true"),
        /** Only tasks of this group. */
        group: groupWire,
        /** Only tasks with this label. */
        label: name,
        /** Only tasks that have all these words in their number, id, branch, summary, labels or state, in any case. */
        q: shortText(500),
        /** Only those of these tasks that the other filters let pass: their ids, separated by commas. */
        ids: shortText(2_000),
        /** `updated`: changed last. `waiting`: need a person longest. `priority`: highest. `cost`: highest known. */
        sort: oneOf(...taskSorts),
        /** The `next` of the page before, with the same `sort`. */
        before: shortText(80),
        limit: numberText,
      },
    ),
    /** `next`: to be given as `before` for the next page; null if there is none. */
    answer: record({ tasks: list(taskRowWire), next: nullable(either(integer(0), text)) }),
  }),
  countTasks: route({
    name: "countTasks",
    method: "GET",
    path: "/v1/counts",
    summary: "Count the tasks of each group, in all and in each project",
    access: "person",
    query: record({}, { project: name }),
    answer: record({ all: record(countFields), projects: list(record({ project: text, ...countFields })) }),
  }),
} as const;
