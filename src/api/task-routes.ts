import { route } from "./client.ts";
import { fingerprint, personRoutes } from "./person.ts";
import { taskListRoutes } from "./task-lists.ts";
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
import { any, boolean, integer, list, map, nullable, oneOf, record, shortText, text } from "./wire.ts";
import { workRoutes } from "./work.ts";

const nothing = record({});
const name = shortText(100);
const line = shortText(2_000);
/** task: chosen for the task. preset: by its preset. workflow: by the workflow's own default. */
const settingWire = record({ name: text, value: any, from: oneOf("task", "preset", "workflow") });

/** The routes of tasks: to list, create, show, move and end them, with those about merging, people and work. */
export const taskRoutes = {
  ...taskListRoutes,
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
       * `preset` and `settings`: of its workflow, and where each value comes from; missing if the workflow has none.
       */
      { states: list(text), continues: text, openFindings: list(text), preset: text, settings: list(settingWire) },
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
} as const;
