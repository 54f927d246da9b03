import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { QueryOf } from "../../api/client.ts";
import { type Routes, routes } from "../../api/routes.ts";
import type { TaskRow } from "../../api/task-lists.ts";
import type { EventView } from "../../api/tasks.ts";
import { call } from "./client.ts";
import type { TaskPart } from "./stale.ts";

/** A task as lists show it. */
export type Row = TaskRow;

export type ListQuery = NonNullable<QueryOf<Routes["listTasks"]>>;

const runsOnPage = "20";
const eventsOnPage = "200";

const ofTask = (task: string) => ({ params: { task } });
const taskKey = (task: string, part: TaskPart | "view" | "events" | "screen", ...more: readonly string[]) =>
  ["task", task, part, ...more] as const;

const diffOptions = (task: string, sinceSeen: boolean) =>
  queryOptions({
    queryKey: taskKey(task, "diff", sinceSeen ? "since-seen" : "all"),
    queryFn: () =>
      call(routes.diffTask, { ...ofTask(task), query: { files: "true", ...(sinceSeen ? { from: "seen" } : {}) } }),
  });

/** Milliseconds until a proof that runs is asked for again. */
const proofInterval = 1_000;

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
  agents: queryOptions({
    queryKey: ["agents"],
    queryFn: async () => (await call(routes.listAgents, { query: {} })).agents,
  }),
  timeline: (query: NonNullable<QueryOf<Routes["listTimeline"]>>, ago: number) =>
    queryOptions({
      queryKey: ["timeline", query, ago],
      queryFn: () =>
        call(routes.listTimeline, { query: { ...query, since: new Date(Date.now() - ago).toISOString() } }),
    }),
  usage: (query: NonNullable<QueryOf<Routes["listUsage"]>>) =>
    queryOptions({ queryKey: ["usage", query], queryFn: () => call(routes.listUsage, { query }) }),
  workflows: (project: string | undefined) =>
    queryOptions({
      queryKey: ["workflows", project],
      queryFn: async () =>
        (await call(routes.listWorkflows, { query: project === undefined ? {} : { project } })).workflows,
      // Files change without an event.
      staleTime: 0,
    }),
  workflow: (name: string, query: NonNullable<QueryOf<Routes["getWorkflow"]>>) =>
    queryOptions({
      queryKey: ["workflow", name, query],
      queryFn: () => call(routes.getWorkflow, { params: { workflow: name }, query }),
      staleTime: 0,
      refetchInterval: ({ state }) => (state.data?.proof.state === "running" ? proofInterval : false),
    }),
  config: (project: string | undefined) =>
    queryOptions({
      queryKey: ["config", project],
      queryFn: () => call(routes.showConfig, { query: project === undefined ? {} : { project } }),
      // A repository's file changes without an event.
      staleTime: 0,
    }),
  doctor: queryOptions({ queryKey: ["doctor"], queryFn: () => call(routes.doctor), staleTime: 0 }),
  webSessions: queryOptions({
    queryKey: ["web-sessions"],
    queryFn: async () => (await call(routes.listWebSessions)).sessions,
    staleTime: 0,
  }),
  merges: (project: string | undefined) =>
    infiniteQueryOptions({
      queryKey: ["merges", project],
      queryFn: ({ pageParam }) => {
        const before = pageParam === "" ? {} : { before: pageParam };
        return call(routes.listMerges, { query: { ...(project === undefined ? {} : { project }), ...before } });
      },
      initialPageParam: "",
      getNextPageParam: ({ next }) => next ?? undefined,
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
  graph: (task: string) =>
    queryOptions({ queryKey: taskKey(task, "graph"), queryFn: () => call(routes.taskGraph, ofTask(task)) }),
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
  /** The task's runs, a page at a time from the newest; each page begins with its oldest. */
  taskRuns: (task: string) =>
    infiniteQueryOptions({
      queryKey: taskKey(task, "runs"),
      queryFn: ({ pageParam }) => {
        const before = pageParam === "" ? {} : { before: pageParam };
        return call(routes.listRuns, { query: { task, all: "true", limit: runsOnPage, ...before } });
      },
      initialPageParam: "",
      getNextPageParam: ({ next }) => next ?? undefined,
    }),
  /** The task's newest events, the oldest first. Later ones are added: an event never changes. */
  events: (task: string) =>
    queryOptions({
      queryKey: taskKey(task, "events"),
      queryFn: async ({ client, queryKey }) => {
        const known = client.getQueryData<readonly EventView[]>(queryKey) ?? [];
        const after = known.at(-1)?.position;
        if (after === undefined) return [...(await eventsBefore(task, "end")).events].reverse();
        const { events } = await call(routes.listEvents, { query: { task, after: String(after), limit: "1000" } });
        // The stream may have added some meanwhile.
        const now = client.getQueryData<readonly EventView[]>(queryKey) ?? known;
        const last = now.at(-1)?.position ?? after;
        return [...now, ...events.filter(({ position }) => position > last)];
      },
    }),
} as const;

/** A page of a task's events before a position, the newest first. */
export function eventsBefore(task: string, before: string) {
  return call(routes.listEvents, { query: { task, before, limit: eventsOnPage } });
}

/** Puts a page of earlier events in front of those that are known. Returns whether there are still earlier ones. */
export async function loadEarlierEvents(client: QueryClient, task: string): Promise<boolean> {
  const { queryKey } = queries.events(task);
  const first = client.getQueryData(queryKey)?.[0]?.position;
  if (first === undefined) return false;
  const { events, last } = await eventsBefore(task, String(first));
  client.setQueryData(queryKey, (known = []) => [
    ...events.filter(({ position }) => position < (known[0]?.position ?? 0)).reverse(),
    ...known,
  ]);
  return last !== 0;
}

/** Reads everything about a task again that is on the screen. */
export function refreshTask(client: QueryClient, task: string): Promise<void> {
  return client.invalidateQueries({ queryKey: ["task", task] });
}
