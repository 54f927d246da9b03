import type { Routes } from "../api/routes.ts";
import type { Core } from "./core.ts";
import type { Answering } from "./http/serve.ts";
import { addAgents, assignAgent, cleanAgents, listAgents } from "./requests/agents.ts";
import { answerTask } from "./requests/answer-task.ts";
import { approveTask } from "./requests/approve-task.ts";
import { commentTask } from "./requests/comment-task.ts";
import { createTask } from "./requests/create-task.ts";
import { getCrew, giveTicket, restartSlot, runCrew, stopCrew } from "./requests/crew.ts";
import { diffTask } from "./requests/diff-task.ts";
import { getDocument, putDocument } from "./requests/documents.ts";
import { editTask } from "./requests/edit-task.ts";
import { listEvents, streamEvents } from "./requests/events.ts";
import { explainTask } from "./requests/explain-task.ts";
import { deleteTask, exportTask } from "./requests/export-task.ts";
import { listActions } from "./requests/list-actions.ts";
import { listHarnesses } from "./requests/list-harnesses.ts";
import { killRun, listRuns } from "./requests/list-runs.ts";
import { getTask, listTasks } from "./requests/list-tasks.ts";
import { listUsage } from "./requests/list-usage.ts";
import { mergeTask, undoTaskMerge } from "./requests/merge-task.ts";
import { migrateTask } from "./requests/migrate-task.ts";
import { cancelTask, continueTask, moveTask } from "./requests/move-task.ts";
import { openPullRequest } from "./requests/open-pull-request.ts";
import { pause, resume } from "./requests/pause.ts";
import { projectPermissions } from "./requests/project-permissions.ts";
import { addProject, getProject, listProjects, removeProject, updateProject } from "./requests/projects.ts";
import { requestChanges } from "./requests/request-changes.ts";
import { replyTask, respawnTask, spawnTask } from "./requests/respawn-task.ts";
import { retryTask } from "./requests/retry-task.ts";
import { endRun, registerRun } from "./requests/runs.ts";
import { dropSalvage, listSalvage, restoreSalvage } from "./requests/salvage.ts";
import { attachTask, getScreen } from "./requests/see-agent.ts";
import { listMessages, sendMessage } from "./requests/send-message.ts";
import { syncTask } from "./requests/sync-task.ts";
import { changeTicket, getTicket, listTickets } from "./requests/tickets.ts";
import { trustConfig } from "./requests/trust-config.ts";
import { projectChanges, trustProject } from "./requests/trust-project.ts";
import { backup, check, openapi, status, stop, trust } from "./requests/upkeep.ts";
import { cleanWorkspaces, listWorkspaces } from "./requests/workspaces.ts";

/** What answers each route. */
export function createHandlers(core: Core): Readonly<Record<string, Answering>> {
  const made = Object.entries(handlers).map(([name, make]) => [name, make(core)] as const);
  return Object.fromEntries(made) as Readonly<Record<string, Answering>>;
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
  updateProject,
  removeProject,
  projectPermissions,
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
