import { agentRoutes } from "./agents.ts";
import { route } from "./client.ts";
import { eventRoutes } from "./events.ts";
import { handOverRoutes } from "./hand-over.ts";
import { fingerprint, personRoutes } from "./person.ts";
import { projectRoutes } from "./projects.ts";
import { questionRoutes } from "./questions.ts";
import {
  actionWire,
  changeFields,
  changeWire,
  effectWire,
  explanationWire,
  mergeRoutes,
  pullRequestWire,
  taskEdit,
  taskWire,
} from "./tasks.ts";
import { crewRoutes, ticketRoutes } from "./tickets.ts";
import { any, boolean, integer, list, map, nullable, oneOf, record, shortText, text } from "./wire.ts";
import { workRoutes } from "./work.ts";
import { workspaceRoutes } from "./workspaces.ts";

export type { ProjectView } from "./projects.ts";

const nothing = record({});
const name = shortText(100);
const line = shortText(2_000);
/** Numbers and booleans in a query are text. */
const numberText = shortText(20);

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

/** Every route of the daemon. The client, the server and the OpenAPI document are generated from this. */
export const routes = {
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

  listTasks: route({
    name: "listTasks",
    method: "GET",
    path: "/v1/tasks",
    summary: "List tasks, the newest first",
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
    access: "person",
    body: record(
      { project: name },
      {
        ...taskEdit,
        context: text,
        workflow: shortText(4_000),
        status: name,
        branchPrefix: name,
        parent: name,
        from: name,
        base: name,
        pullRequest: integer(1),
        /** The ticket that supplies its summary, context and priority if they are not given. */
        ticket: name,
        /** The person allows full permissions for the whole project. */
        allowFullPermissions: boolean,
      },
    ),
    answer: record({
      task: taskWire,
      /** Where its workflow was found. */
      workflow: record({ from: oneOf("built-in", "user", "project", "file"), file: text }),
      /** What prevents its agents from being started for now. */
      warnings: list(text),
    }),
  }),
  getTask: route({
    name: "getTask",
    method: "GET",
    path: "/v1/tasks/:task",
    summary: "Show a task: by id, number or branch",
    access: "run",
    query: record({}, { project: name }),
    answer: record(
      /** `entry`: the number of its present stay, as its effects name it. */
      { task: taskWire, entry: integer(0), effects: list(effectWire), pullRequest: nullable(pullRequestWire) },
      /**
       * `states`: of its workflow; missing if the workflow can no longer be read. `continues`: the ended task whose work it
       * continues; missing if there is none. `openFindings`: what its reviews have found and nobody has settled; missing without any.
       */
      { states: list(text), continues: text, openFindings: list(text) },
    ),
  }),
  editTask: route({
    name: "editTask",
    method: "PATCH",
    path: "/v1/tasks/:task",
    summary:
      "Change a task's summary, branch, preset, settings and more; an agent at work keeps what it was started with",
    access: "run",
    isIdempotent: true,
    query: record({}, { project: name }),
    body: record({}, taskEdit),
    answer: changeWire,
  }),
  deleteTask: route({
    name: "deleteTask",
    method: "DELETE",
    path: "/v1/tasks/:task",
    summary: "Forget an ended task with the parts of its plans; the history of each is moved to the trash folder",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    answer: record({ kept: text, left: list(text), unmerged: text, parts: list(text) }),
  }),
  moveTask: route({
    name: "moveTask",
    method: "POST",
    path: "/v1/tasks/:task/move",
    summary: "Ask for a state, with the present task file if it has changed",
    access: "run",
    query: record({}, { project: name }),
    /** `unmerged`: the person ends the task as done although its work is not merged. */
    body: record({ to: name }, { document: text, unmerged: boolean }),
    answer: changeWire,
  }),
  continueTask: route({
    name: "continueTask",
    method: "POST",
    path: "/v1/tasks/:task/continue",
    summary: "End a person's wait, or try a held task again",
    access: "person",
    query: record({}, { project: name }),
    /**
     * `unanswered`: the person lets it continue although its agent has open questions, findings are undecided, or commits that it
     * merges were not reviewed. `plan`: the fingerprint of the plan
     * that the person was shown; without it, of the one that was shown last. `only`: refused unless the task is held, or unless its
     * state asks the person about findings.
     */
    body: record({}, { unanswered: boolean, plan: fingerprint, only: oneOf("held", "findings") }),
    /** `warnings`: where the workflow merges next, what the merge does besides and what is left open, as sentences. */
    answer: record({ ...changeFields, warnings: list(text) }),
  }),
  cancelTask: route({
    name: "cancelTask",
    method: "POST",
    path: "/v1/tasks/:task/cancel",
    summary: "Cancel a task: ask for its state with the outcome cancelled; with tree also every open task below it",
    access: "person",
    query: record({}, { project: name }),
    /** `tree`: also cancel the tasks that were created below it. The parts of its plan end with it in any case. */
    body: record({}, { tree: boolean }),
    /**
     * `below`: with `tree`, the tasks below it that were open and are cancelled with it. `left`: without `tree`, the tasks
     * below it that stay open. `awaitedBy`: the other open tasks that depend on it.
     */
    answer: record({ ...changeFields, below: list(text), left: list(text), awaitedBy: list(text) }),
  }),
  retryTask: route({
    name: "retryTask",
    method: "POST",
    path: "/v1/tasks/:task/retry",
    summary: "Retry a task's failed effects",
    access: "person",
    isNoted: true,
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
    summary: "Move a task to the present version of its workflow, or show what that would change",
    access: "person",
    query: record({}, { project: name }),
    body: record({}, { workflow: shortText(4_000), to: name, apply: boolean }),
    answer: record({ plan: map(any), change: nullable(changeWire) }),
  }),
  explainTask: route({
    name: "explainTask",
    method: "GET",
    path: "/v1/tasks/:task/explain",
    summary: "Explain where a task is, what blocks it, who can move it and what comes next",
    access: "run",
    query: record({}, { project: name }),
    answer: explanationWire,
  }),
  listActions: route({
    name: "listActions",
    method: "GET",
    path: "/v1/tasks/:task/actions",
    summary: "List what a person can do with a task, and why the rest is not allowed",
    access: "person",
    query: record({}, { project: name }),
    answer: record({ task: taskWire, actions: list(actionWire) }),
  }),
  getDocument: route({
    name: "getDocument",
    method: "GET",
    path: "/v1/tasks/:task/document",
    summary: "Show the task file",
    access: "run",
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
    summary: "Replace the task file; from a run, only the sections that it owns are taken",
    access: "run",
    isIdempotent: true,
    query: record({}, { project: name }),
    body: record({ text }),
    answer: record({ changed: list(text), ignored: list(text) }),
  }),
  registerRun: route({
    name: "registerRun",
    method: "POST",
    path: "/v1/tasks/:task/runs",
    summary: "Issue a credential for a live run of the task; the run's earlier credential becomes invalid",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    body: record({ role: name }, { folder: shortText(4_000), pid: integer(1), lifetime: integer(1, 30 * 24 * 3600) }),
    answer: record({ run: text, role: text, token: text, expiresAt: text }),
  }),
  endRun: route({
    name: "endRun",
    method: "POST",
    path: "/v1/tasks/:task/runs/:run/end",
    summary: "Report that a run has ended",
    access: "person",
    isNoted: true,
    query: record({}, { project: name }),
    body: record({ word: oneOf("ok", "exit", "error", "stall", "lost") }, { reason: line }),
    answer: changeWire,
  }),

  ...eventRoutes,
  ...handOverRoutes,
  ...questionRoutes,
  ...agentRoutes,
  ...workspaceRoutes,
  ...ticketRoutes,
  ...crewRoutes,

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
} as const;

export type Routes = typeof routes;
