import { agentRoutes } from "./agents.ts";
import { route } from "./client.ts";
import { eventRoutes } from "./events.ts";
import { handOverRoutes } from "./hand-over.ts";
import { overviewRoutes } from "./overview.ts";
import { projectRoutes } from "./projects.ts";
import { questionRoutes } from "./questions.ts";
import { withRevisions } from "./revisions.ts";
import { taskRoutes } from "./task-routes.ts";
import { taskViewRoutes } from "./task-views.ts";
import { terminalRoutes } from "./terminal.ts";
import { crewRoutes, ticketRoutes } from "./tickets.ts";
import { webRoutes } from "./web.ts";
import { any, boolean, integer, list, map, record, shortText, text } from "./wire.ts";
import { workflowRoutes } from "./workflows.ts";
import { workspaceRoutes } from "./workspaces.ts";

export type { ProjectView } from "./projects.ts";

const nothing = record({});
const name = shortText(100);

const statusWire = record({
  version: text,
  pid: integer(1),
  home: text,
  startedAt: text,
  /** The address for browsers; empty if TCP is off. */
  address: text,
  tasks: record({ open: integer(0), needPerson: integer(0) }),
  projects: integer(0),
  /** How the database was lost, such as a deleted file, so that nothing can be saved; empty if it was not. */
  storeProblem: text,
  /** Why nothing can be saved now, such as a full disk, and what to do; empty if it can. */
  savingProblem: record({ reason: text, fix: text }),
  /** Since when the agents' tmux server has not answered, and what to do; empty if it answers. */
  terminalProblem: record({ reason: text, fix: text }),
  /** How many requests without a valid credential were refused since the daemon started. */
  refused: integer(0),
  /** What is wrong with the configuration. The last valid one is in use; if there is none, changes are refused. */
  configProblems: list(text),
  /** `atWork`: they have a seat. `idle`: their programs still run. `waiting`: they wait for a seat. */
  agents: record({ atWork: integer(0), idle: integer(0), waiting: integer(0), needPerson: integer(0) }),
  /** The budgets that do not let runs start, what is left of them, and what to do. */
  budgets: list(record({ reason: text, fix: text })),
  paused: record({ all: boolean, projects: list(text) }),
  /**
   * The notification channels and chats, the last problem of each (empty if there was none), and the tasks whose call or
   * question could not be delivered there. `strangers`: how many
   * messages came from chats that are not allowed.
   */
  calls: record({
    channels: list(record({ name: text, problem: text, undelivered: list(text), strangers: integer(0) })),
    quiet: text,
  }),
});

/**
 * Every route of the daemon. The client, the server and the OpenAPI document are generated from this. Each that changes a task
 * also takes `revision`.
 */
export const routes = withRevisions({
  health: route({
    name: "health",
    method: "GET",
    path: "/v1/health",
    summary: "Show that the daemon answers, its version and its process; needs no credential",
    access: "anyone",
    answer: record({ version: text, pid: integer(1) }),
  }),
  status: route({
    name: "status",
    method: "GET",
    path: "/v1/status",
    summary: "Show the daemon's version, its address and its problems",
    access: "person",
    answer: statusWire,
  }),
  openapi: route({
    name: "openapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "Describe every route",
    access: "run",
    answer: map(any),
  }),
  stop: route({
    name: "stop",
    method: "POST",
    path: "/v1/stop",
    summary: "Stop the daemon; agents continue",
    access: "person",
    isNoted: true,
    body: nothing,
    answer: nothing,
  }),
  backup: route({
    name: "backup",
    method: "POST",
    path: "/v1/backup",
    summary: "Copy the store into a new file",
    access: "person",
    isNoted: true,
    body: record({}, { path: shortText(4_000) }),
    answer: record({ path: text }),
  }),
  check: route({
    name: "check",
    method: "GET",
    path: "/v1/check",
    summary: "Check the store for damage, for failed effects, and the default branches of projects",
    access: "person",
    answer: record({
      damage: list(text),
      stuck: list(record({ task: text, action: text, reason: text })),
      /** Broken branches, and those that were moved or deleted without a merge; `isNote`: perhaps by the user. */
      branches: list(record({ project: text, reason: text, fix: text }, { isNote: boolean })),
      /** Folders of workspaces that were set aside, because their contents could not be saved. */
      unsaved: list(record({ project: text, path: text, reason: text, fix: text })),
    }),
  }),

  ...projectRoutes,

  ...taskRoutes,
  ...eventRoutes,
  ...handOverRoutes,
  ...questionRoutes,
  ...agentRoutes,
  ...terminalRoutes,
  ...workspaceRoutes,
  ...ticketRoutes,
  ...crewRoutes,
  ...taskViewRoutes,
  ...workflowRoutes,
  ...overviewRoutes,
  ...webRoutes,

  trust: route({
    name: "trust",
    method: "POST",
    path: "/v1/trust",
    summary: "Trust a repository's workflow with its present content",
    access: "person",
    isNoted: true,
    body: record({ project: name, workflow: shortText(4_000) }),
    answer: record({ hash: text, file: text }),
  }),
  trustConfig: route({
    name: "trustConfig",
    method: "POST",
    path: "/v1/projects/:project/config/trust",
    summary: "Trust a repository's configuration and its commands with the present content",
    access: "person",
    isNoted: true,
    body: nothing,
    answer: record({ hash: text, file: text, commands: list(text), choices: list(text) }),
  }),
} as const);

export type Routes = typeof routes;
