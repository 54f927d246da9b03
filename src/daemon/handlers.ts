import type { Route } from "../api/client.ts";
import { type Routes, routes } from "../api/routes.ts";
import type { Caller } from "./callers.ts";
import type { Core } from "./core.ts";
import type { Answering } from "./http/serve.ts";
import { addAgents, assignAgent, cleanAgents, listAgents, listHarnesses } from "./requests/agents.ts";
import { getCrew, giveTicket, restartSlot, runCrew, stopCrew } from "./requests/crew.ts";
import { backup, check, openapi, pause, resume, status, stop, trust } from "./requests/daemon.ts";
import { diffTask, fetchTask } from "./requests/diff-task.ts";
import { deleteTask, editTask, exportTask, getDocument, migrateTask, putDocument } from "./requests/edit-task.ts";
import { listEvents, streamEvents } from "./requests/events.ts";
import { explainTask, listActions } from "./requests/explain-task.ts";
import { mergeTask, openPullRequest, syncTask, undoTaskMerge } from "./requests/merge-task.ts";
import { cancelTask, continueTask, moveTask } from "./requests/move-task.ts";
import {
  movedBranches,
  projectChanges,
  projectPermissions,
  settleBranch,
  trustConfig,
  trustProject,
} from "./requests/permissions.ts";
import {
  answerTask,
  approveTask,
  commentTask,
  replyTask,
  requestChanges,
  respawnTask,
  retryTask,
  spawnTask,
} from "./requests/person.ts";
import {
  addProject,
  getProject,
  listProjects,
  projectWorkflow,
  removeProject,
  updateProject,
} from "./requests/projects.ts";
import { endRun, killRun, listRuns, listUsage, registerRun } from "./requests/runs.ts";
import { attachTask, getScreen, listMessages, sendMessage } from "./requests/see-agent.ts";
import { createTask, getTask, listTasks } from "./requests/tasks.ts";
import { changeTicket, getTicket, listTickets } from "./requests/tickets.ts";
import { cleanWorkspaces, dropSalvage, listSalvage, listWorkspaces, restoreSalvage } from "./requests/workspaces.ts";

/** A validated HTTP request. */
export interface Asked<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** The caller's working folder, as the caller says; empty where it does not. */
  readonly folder: string;
  /** The last event that a stream's client has seen; empty where it does not say. */
  readonly lastEvent: string;
}

/** The function that answers a route. */
export type Handler<R> =
  R extends Route<infer Query, infer Body, infer Answer> ? (asked: Asked<Query, Body>) => Promise<Answer> : never;

/** The handler of each route. */
export function createHandlers(core: Core): Readonly<Record<string, Answering>> {
  const made = Object.entries(handlers).map(([name, make]) => {
    const handler = make(core) as Answering;
    return [name, needsConfig(name as keyof Routes) ? whileConfigured(core, handler) : handler] as const;
  });
  return Object.fromEntries(made);
}

/** The routes with which a person can end tasks, agents and the daemon, whatever the settings are. */
const brakes: ReadonlySet<keyof Routes> = new Set([
  "stop",
  "pause",
  "stopCrew",
  "cancelTask",
  "killRun",
  "endRun",
  "backup",
]);

function needsConfig(name: keyof Routes): boolean {
  return routes[name].access !== "read" && !brakes.has(name);
}

/** Refuses while no configuration is known: the defaults could allow what the person has forbidden. */
function whileConfigured({ config }: Core, handler: Answering): Answering {
  return async (asked, response) => {
    const { unknown } = config();
    if (unknown !== undefined) throw unknown;
    return handler(asked, response);
  };
}

const handlers = {
  status,
  openapi,
  stop,
  backup,
  check,
  trust,
  trustConfig,
  listProjects,
  addProject,
  getProject,
  projectWorkflow,
  updateProject,
  removeProject,
  projectPermissions,
  movedBranches,
  settleBranch,
  projectChanges,
  trustProject,
  listTasks,
  createTask,
  getTask,
  editTask,
  deleteTask,
  moveTask,
  continueTask,
  cancelTask,
  retryTask,
  mergeTask,
  undoMerge: undoTaskMerge,
  syncTask,
  openPullRequest,
  answerTask,
  requestChanges,
  approveTask,
  diffTask,
  fetchTask,
  migrateTask,
  explainTask,
  listActions,
  getDocument,
  putDocument,
  registerRun,
  endRun,
  listEvents,
  streamEvents,
  exportTask,
  listRuns,
  spawnTask,
  respawnTask,
  replyTask,
  attachTask,
  sendMessage,
  listMessages,
  commentTask,
  getScreen,
  killRun,
  listHarnesses,
  listUsage,
  pause,
  resume,
  listAgents,
  addAgents,
  assignAgent,
  cleanAgents,
  listWorkspaces,
  cleanWorkspaces,
  listSalvage,
  restoreSalvage,
  dropSalvage,
  listTickets,
  getTicket,
  changeTicket,
  getCrew,
  runCrew,
  stopCrew,
  giveTicket,
  restartSlot,
} satisfies { readonly [Name in keyof Routes]: (core: Core) => unknown };
