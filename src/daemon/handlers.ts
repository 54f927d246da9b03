import type { Routes } from "../api/routes.ts";
import type { Core } from "./core.ts";
import type { Answering } from "./http/serve.ts";
import { createTask } from "./requests/create-task.ts";
import { getDocument, putDocument } from "./requests/documents.ts";
import { editTask } from "./requests/edit-task.ts";
import { listEvents, streamEvents } from "./requests/events.ts";
import { explainTask } from "./requests/explain-task.ts";
import { deleteTask, exportTask } from "./requests/export-task.ts";
import { getTask, listTasks } from "./requests/list-tasks.ts";
import { migrateTask } from "./requests/migrate-task.ts";
import { cancelTask, continueTask, moveTask } from "./requests/move-task.ts";
import { addProject, getProject, listProjects, removeProject, updateProject } from "./requests/projects.ts";
import { retryTask } from "./requests/retry-task.ts";
import { endRun, registerRun } from "./requests/runs.ts";
import { dropSalvage, listSalvage, restoreSalvage } from "./requests/salvage.ts";
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
  listProjects,
  addProject,
  getProject,
  updateProject,
  removeProject,
  listTasks,
  createTask,
  getTask,
  editTask,
  deleteTask,
  moveTask,
  continueTask,
  cancelTask,
  retryTask,
  migrateTask,
  explainTask,
  getDocument,
  putDocument,
  registerRun,
  endRun,
  listEvents,
  streamEvents,
  exportTask,
  listWorkspaces,
  cleanWorkspaces,
  listSalvage,
  restoreSalvage,
  dropSalvage,
} satisfies { readonly [Name in keyof Routes]: (core: Core) => unknown };
