import { type QueryClient, queryOptions } from "@tanstack/react-query";
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
  /** Which files differ, without their text. */
  changes: (task: string) =>
    queryOptions({
      queryKey: taskKey(task, "diff", "files"),
      queryFn: () => call(routes.diffTask, { ...ofTask(task), query: { text: "false" } }),
    }),
  diff: (task: string, sinceReview: boolean) =>
    queryOptions({
      queryKey: taskKey(task, "diff", sinceReview ? "since-review" : "all"),
      queryFn: () =>
        call(routes.diffTask, {
          ...ofTask(task),
          query: { text: "true", ...(sinceReview ? { sinceReview: "true" } : {}) },
        }),
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
