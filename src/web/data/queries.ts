import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { QueryOf } from "../../api/client.ts";
import { type Routes, routes } from "../../api/routes.ts";
import type { TaskRow } from "../../api/task-lists.ts";
import { call } from "./client.ts";
import type { TaskPart } from "./stale.ts";

/** A task as lists show it. */
export type Row = TaskRow;

export type ListQuery = NonNullable<QueryOf<Routes["listTasks"]>>;

const ofTask = (task: string) => ({ params: { task } });
const taskKey = (task: string, part: TaskPart | "view" | "events" | "screen", ...more: readonly string[]) =>
  ["task", task, part, ...more] as const;

const diffOptions = (task: string, sinceSeen: boolean) =>
  queryOptions({
    queryKey: taskKey(task, "diff", sinceSeen ? "since-seen" : "all"),
    queryFn: () =>
      call(routes.diffTask, { ...ofTask(task), query: { files: "true", ...(sinceSeen ? { from: "seen" } : {}) } }),
  });

/** Everything that the page reads, by its place in the cache. Events mark it stale; nothing is read again by time alone. */
export const queries = {
  status: queryOptions({ queryKey: ["status"], queryFn: () => call(routes.status) }),
  projects: queryOptions({ queryKey: ["projects"], queryFn: async () => (await call(routes.listProjects)).projects }),
  questions: queryOptions({
    queryKey: ["questions"],
    queryFn: async () => (await call(routes.listQuestions, { query: { limit: "500" } })).questions,
  }),
  counts: queryOptions({ queryKey: ["counts"], queryFn: () => call(routes.countTasks, { query: {} }) }),
  runs: queryOptions({ queryKey: ["runs"], queryFn: async () => (await call(routes.listRuns, { query: {} })).runs }),
  harnesses: queryOptions({
    queryKey: ["harnesses"],
    queryFn: async () => (await call(routes.listHarnesses, { query: {} })).harnesses,
  }),
  tasks: (query: ListQuery) =>
    queryOptions({ queryKey: ["tasks", query], queryFn: () => call(routes.listTasks, { query }) }),
  actions: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "actions"), queryFn: () => call(routes.listActions, ofTask(task)) }),
  view: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "view"), queryFn: () => call(routes.getTask, ofTask(task)) }),
  explain: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "explain"), queryFn: () => call(routes.explainTask, ofTask(task)) }),
  document: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "document"), queryFn: () => call(routes.getDocument, ofTask(task)) }),
  findings: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "findings"), queryFn: () => call(routes.listFindings, ofTask(task)) }),
  /** Which files differ since the task began: the same answer as the first one of `diff`, so that this is there at once. */
  changes: (task: string) => diffOptions(task, false),
  /** The files that differ since the task began, or since the work that the person has seen last. */
  diff: diffOptions,
  /** The patch of one file, two thousand lines at a time. `commit` makes another commit another patch. */
  filePatch: (
    task: string,
    wanted: { path: string; part: "committed" | "uncommitted"; from: string; commit: string },
  ) =>
    infiniteQueryOptions({
      queryKey: taskKey(task, "diff", "file", wanted.part, wanted.path, wanted.from, wanted.commit),
      queryFn: ({ pageParam }) => {
        const { path, part, from } = wanted;
        const next = pageParam === "" ? {} : { next: pageParam };
        const query = { path, part, ...(from === "" ? {} : { from }), ...next };
        return call(routes.diffTask, { ...ofTask(task), query });
      },
      initialPageParam: "",
      getNextPageParam: ({ file }) => file?.next ?? undefined,
    }),
  taskRuns: (task: string) =>
    queryOptions({
      queryKey: taskKey(task, "runs"),
      queryFn: async () => (await call(routes.listRuns, { query: { task, all: "true" } })).runs,
    }),
  events: (task: string) =>
    queryOptions({
      queryKey: taskKey(task, "events"),
      queryFn: async () => (await call(routes.listEvents, { query: { task, limit: "2000" } })).events,
    }),
} as const;

/** Reads everything about a task again that is on the screen. */
export function refreshTask(client: QueryClient, task: string): Promise<void> {
  return client.invalidateQueries({ queryKey: ["task", task] });
}
