import { agentRoutes } from "./agent-routes.ts";
import { crewRoutes } from "./crew-routes.ts";
import { mergeRoutes } from "./merge-routes.ts";
import { personRoutes } from "./person-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { route } from "./route.ts";
import {
  actionWire,
  changeWire,
  effectWire,
  eventWire,
  explanationWire,
  pullRequestWire,
  taskWire,
} from "./task-wires.ts";
import { ticketRoutes } from "./ticket-routes.ts";
import { any, boolean, integer, list, map, nullable, oneOf, record, shortText, text } from "./wire.ts";
import { workRoutes } from "./work-routes.ts";
import { workspaceRoutes } from "./workspace-routes.ts";

export type { ProjectView } from "./project-routes.ts";

const nothing = record({});
const name = shortText(100);
const line = shortText(2_000);
/** Numbers and truth values in a query are text. */
const numberText = shortText(20);

export const statusWire = record({
  version: text,
  pid: integer(1),
  home: text,
  startedAt: text,
  /** Where browsers reach it; empty where TCP is off. */
  address: text,
  tasks: record({ open: integer(0), needPerson: integer(0) }),
  projects: integer(0),
  /** Why nothing can be saved any more; empty where it can. */
  storeProblem: text,
  /** Why nothing can be saved now, such as a full disk, and what to do; empty where it can. */
  savingProblem: record({ reason: text, fix: text }),
  /** Since when the terminal that agents run in has not answered, and what to do; empty where it does. */
  terminalProblem: record({ reason: text, fix: text }),
  /** What is wrong with the configuration; the last good one is in use. */
  configProblems: list(text),
  /** `atWork`: they have a seat. `idle`: their programs are there. `waiting`: they wait for a seat. */
  agents: record({ atWork: integer(0), idle: integer(0), waiting: integer(0), needPerson: integer(0) }),
  paused: record({ all: boolean, projects: list(text) }),
  /**
   * Where people are called, what went wrong there last (empty where nothing did), and the tasks that need a person who
   * was not reached there.
   */
  calls: record({ channels: list(record({ name: text, problem: text, undelivered: list(text) })), quiet: text }),
});

const taskEdit = {
  summary: line,
  branch: name,
  harness: name,
  reviewHarness: name,
  model: name,
  labels: list(name),
  priority: integer(-1_000, 1_000),
  dependsOn: list(name),
  autostart: boolean,
};

/** Everything the daemon answers. The client, the server and the OpenAPI document are made from this. */
export const routes = {
  status: route({
    name: "status",
    method: "GET",
    path: "/v1/status",
    summary: "Say who the daemon is and how it is",
    access: "read",
    answer: statusWire,
  }),
  openapi: route({
    name: "openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "Describe every route",
    access: "read",
    answer: map(any),
  }),
  stop: route({
    name: "stop",
    method: "POST",
    path: "/v1/stop",
    summary: "Stop the daemon; agents go on",
    access: "human",
    body: nothing,
    answer: nothing,
  }),
  backup: route({
    name: "backup",
    method: "POST",
    path: "/v1/backup",
    summary: "Copy the store into a new file",
    access: "human",
    body: record({}, { path: shortText(4_000) }),
    answer: record({ path: text }),
  }),
  check: route({
    name: "check",
    method: "GET",
    path: "/v1/check",
    summary: "Look for damage in the store, and for effects that are stuck",
    access: "read",
    answer: record({ damage: list(text), stuck: list(record({ task: text, action: text, reason: text })) }),
  }),

  ...projectRoutes,

  listTasks: route({
    name: "listTasks",
    method: "GET",
    path: "/v1/tasks",
    summary: "List tasks, the newest first",
    access: "read",
    query: record(
      {},
      {
        project: name,
        status: name,
        parent: name,
        open: oneOf("true", "false"),
        /** Only those that need a person now. */
        needs: oneOf("true"),
        before: numberText,
        limit: numberText,
      },
    ),
    answer: record({ tasks: list(taskWire), next: nullable(integer(0)) }),
  }),
  createTask: route({
    name: "createTask",
    method: "POST",
    path: "/v1/tasks",
    summary: "Create a task",
    access: "human",
    body: record(
      { project: name },
      {
        ...taskEdit,
        context: text,
        workflow: shortText(4_000),
        status: name,
        branchPrefix: name,
        preset: name,
        settings: map(any),
        parent: name,
        from: name,
        base: name,
        pullRequest: integer(1),
        /** What its summary, context and priority are taken from, where they are not given. */
        ticket: name,
        /** A person has allowed it for the whole project. */
        allowFullPermissions: boolean,
      },
    ),
    answer: record({
      task: taskWire,
      /** Where its workflow was found. */
      workflow: record({ from: oneOf("built-in", "user", "project", "file"), file: text }),
      /** What keeps its agents from being started, for now. */
      warnings: list(text),
    }),
  }),
  getTask: route({
    name: "getTask",
    method: "GET",
    path: "/v1/tasks/:task",
    summary: "Show a task: by id, number or branch",
    access: "read",
    query: record({}, { project: name }),
    answer: record(
      { task: taskWire, effects: list(effectWire), pullRequest: nullable(pullRequestWire) },
      /** Those of its workflow; missing where that cannot be read any more. */
      { states: list(text) },
    ),
  }),
  editTask: route({
    name: "editTask",
    method: "PATCH",
    path: "/v1/tasks/:task",
    summary: "Change what a task is called or how it is made",
    access: "ask",
    query: record({}, { project: name }),
    body: record({}, taskEdit),
    answer: changeWire,
  }),
  deleteTask: route({
    name: "deleteTask",
    method: "DELETE",
    path: "/v1/tasks/:task",
    summary: "Forget a task that is over; its history goes into the trash folder",
    access: "human",
    query: record({}, { project: name }),
    answer: record({ kept: text, left: list(text) }),
  }),
  moveTask: route({
    name: "moveTask",
    method: "POST",
    path: "/v1/tasks/:task/move",
    summary: "Ask for a state, with the task file as it is now where that has changed",
    access: "ask",
    query: record({}, { project: name }),
    /** `unmerged`: a person ends it as done although its work is not merged. */
    body: record({ to: name }, { document: text, unmerged: boolean }),
    answer: changeWire,
  }),
  continueTask: route({
    name: "continueTask",
    method: "POST",
    path: "/v1/tasks/:task/continue",
    summary: "End a person's wait, or try a held task again",
    access: "ask",
    query: record({}, { project: name }),
    body: nothing,
    answer: changeWire,
  }),
  cancelTask: route({
    name: "cancelTask",
    method: "POST",
    path: "/v1/tasks/:task/cancel",
    summary: "Ask for the state in which the task is cancelled",
    access: "ask",
    query: record({}, { project: name }),
    body: nothing,
    answer: changeWire,
  }),
  retryTask: route({
    name: "retryTask",
    method: "POST",
    path: "/v1/tasks/:task/retry",
    summary: "Carry out again what failed",
    access: "human",
    query: record({}, { project: name }),
    body: nothing,
    answer: record({ retried: integer(0), task: taskWire }),
  }),
  ...mergeRoutes,
  ...personRoutes,
  ...workRoutes,
  migrateTask: route({
    name: "migrateTask",
    method: "POST",
    path: "/v1/tasks/:task/migrate",
    summary: "Put a task under the present version of its workflow, or show what that would mean",
    access: "human",
    query: record({}, { project: name }),
    body: record({}, { workflow: shortText(4_000), to: name, apply: boolean }),
    answer: record({ plan: map(any), change: nullable(changeWire) }),
  }),
  explainTask: route({
    name: "explainTask",
    method: "GET",
    path: "/v1/tasks/:task/explain",
    summary: "Say where a task is, what blocks it, who can move it and what comes next",
    access: "read",
    query: record({}, { project: name }),
    answer: explanationWire,
  }),
  listActions: route({
    name: "listActions",
    method: "GET",
    path: "/v1/tasks/:task/actions",
    summary: "List what a person can do with a task, and why not what is not allowed",
    access: "read",
    query: record({}, { project: name }),
    answer: record({ task: taskWire, actions: list(actionWire) }),
  }),
  getDocument: route({
    name: "getDocument",
    method: "GET",
    path: "/v1/tasks/:task/document",
    summary: "Show the task file",
    access: "read",
    query: record({}, { project: name }),
    answer: record({
      text,
      authors: map(record({ role: text, run: text, commit: text })),
      artifacts: list(record({ section: text, hash: text, role: text, run: text, commit: text, at: text })),
    }),
  }),
  putDocument: route({
    name: "putDocument",
    method: "PUT",
    path: "/v1/tasks/:task/document",
    summary: "Replace the task file; of a run only the sections that are its own count",
    access: "ask",
    query: record({}, { project: name }),
    body: record({ text }),
    answer: record({ changed: list(text), ignored: list(text) }),
  }),
  registerRun: route({
    name: "registerRun",
    method: "POST",
    path: "/v1/tasks/:task/runs",
    summary: "Give a live run of the task its credential; an earlier one of that run ends",
    access: "human",
    query: record({}, { project: name }),
    body: record({ role: name }, { folder: shortText(4_000), pid: integer(1), lifetime: integer(1, 30 * 24 * 3600) }),
    answer: record({ run: text, role: text, token: text, expiresAt: text }),
  }),
  endRun: route({
    name: "endRun",
    method: "POST",
    path: "/v1/tasks/:task/runs/:run/end",
    summary: "Say that a run has ended",
    access: "human",
    query: record({}, { project: name }),
    body: record({ word: oneOf("ok", "exit", "error", "stall", "lost") }, { reason: line }),
    answer: changeWire,
  }),

  listEvents: route({
    name: "listEvents",
    method: "GET",
    path: "/v1/events",
    summary: "List history after a position, the oldest first",
    access: "read",
    query: record({}, { project: name, task: name, agent: name, after: numberText, limit: numberText }),
    answer: record({ events: list(eventWire), last: integer(0) }),
  }),
  streamEvents: route({
    name: "streamEvents",
    method: "GET",
    path: "/v1/stream",
    summary:
      "Follow history: server-sent events with ids; Last-Event-ID or after= takes it up again; live=true adds how agents are",
    access: "read",
    query: record({}, { project: name, task: name, agent: name, after: numberText, live: oneOf("true", "false") }),
    answer: eventWire,
    answerType: "text/event-stream",
  }),
  exportTask: route({
    name: "exportTask",
    method: "GET",
    path: "/v1/tasks/:task/export",
    summary: "Give a task's whole history, one JSON object a line",
    access: "read",
    query: record({}, { project: name }),
    answer: any,
    answerType: "application/jsonl",
  }),

  ...agentRoutes,
  ...workspaceRoutes,
  ...ticketRoutes,
  ...crewRoutes,

  trust: route({
    name: "trust",
    method: "POST",
    path: "/v1/trust",
    summary: "Trust a repository's workflow as it is now",
    access: "human",
    body: record({ project: name, workflow: shortText(4_000) }),
    answer: record({ hash: text, file: text }),
  }),
  trustConfig: route({
    name: "trustConfig",
    method: "POST",
    path: "/v1/projects/:project/config/trust",
    summary: "Trust a repository's configuration, with the commands it names, as it is now",
    access: "human",
    body: nothing,
    answer: record({ hash: text, file: text, commands: list(text) }),
  }),
} as const;

export type Routes = typeof routes;
