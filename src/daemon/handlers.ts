import type { Route } from "../api/client.ts";
import { type Routes, routes } from "../api/routes.ts";
import { problemsOf, type Wire } from "../api/wire.ts";
import { Fault } from "../fault.ts";
import { isJsonObject } from "../json.ts";
import { claimOf, createAuthorise, findTask } from "./authorise.ts";
import type { Caller } from "./callers.ts";
import type { Core } from "./core.ts";
import type { Answering } from "./http/serve.ts";
import type { Upgrading } from "./http/upgrade.ts";
import { bounded } from "./refusals.ts";
import { addAgents, assignAgent, cleanAgents, clearAgent, listAgents, listHarnesses } from "./requests/agents.ts";
import { openPullRequest, syncTask } from "./requests/branch-task.ts";
import { showConfig } from "./requests/config.ts";
import { listConversations } from "./requests/conversations.ts";
import { getCrew, giveTicket, restartSlot, runCrew, stopCrew } from "./requests/crew.ts";
import {
  announceConfig,
  backup,
  check,
  health,
  openapi,
  pause,
  resume,
  status,
  stop,
  trust,
} from "./requests/daemon.ts";
import { diffTask, fetchTask } from "./requests/diff-task.ts";
import { doctor } from "./requests/doctor.ts";
import { deleteTask, editTask, exportTask, getDocument, migrateTask, putDocument } from "./requests/edit-task.ts";
import { listEvents, streamEvents } from "./requests/events.ts";
import { explainTask, listActions } from "./requests/explain-task.ts";
import { addFinding, decideFindings, listFindings } from "./requests/findings.ts";
import { completeWork, listHandedOver, listTools, sendStageMessage } from "./requests/hand-over.ts";
import { countTasks, listTasks } from "./requests/lists.ts";
import { type Inside, mcp } from "./requests/mcp.ts";
import { cancelMerge, mergeTask, undoTaskMerge } from "./requests/merge-task.ts";
import { listMerges } from "./requests/merges.ts";
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
  listQuestions,
  replyTask,
  requestChanges,
  respawnTask,
  retryTask,
  spawnTask,
} from "./requests/person.ts";
import { getPlan, putPlan } from "./requests/plan.ts";
import {
  addProject,
  getProject,
  listProjects,
  projectWorkflow,
  removeProject,
  updateProject,
} from "./requests/projects.ts";
import { endRun, killRun, listRuns, registerRun } from "./requests/runs.ts";
import { attachTask, getScreen, listMessages, sendMessage } from "./requests/see-agent.ts";
import { getArtifact, seeTask, taskGraph } from "./requests/task-views.ts";
import { createTask, getTask } from "./requests/tasks.ts";
import { changeTicket, getTicket, listTickets } from "./requests/tickets.ts";
import { listTimeline } from "./requests/timeline.ts";
import { listUsage } from "./requests/usage.ts";
import { refusePlain, watchTerminal } from "./requests/watch-terminal.ts";
import {
  closeWeb,
  endWebSession,
  endWebSessions,
  listWebSessions,
  makeWebLink,
  openWebSession,
} from "./requests/web.ts";
import { getWorkflow, listWorkflows } from "./requests/workflows.ts";
import { cleanWorkspaces, dropSalvage, listSalvage, listWorkspaces, restoreSalvage } from "./requests/workspaces.ts";
import { unlessStale } from "./stale.ts";

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
  const authorise = createAuthorise(core);
  /** Over the socket callers without a credential are refused by the handlers; here every caller has one. */
  const inside: Inside =
    ({ caller, folder }) =>
    async (route, { params = {}, query = {}, body = {} } = {}) => {
      const texts = Object.fromEntries(
        Object.entries(query as object).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      );
      const asked = { params, query: texts as never, body: body as never, caller, folder, lastEvent: "" };
      await authorise(route as Route, asked, false);
      const problems = [
        ...(route.query === undefined ? [] : problemsOf(route.query as Wire<unknown>, texts, "The query")),
        ...(route.body === undefined ? [] : problemsOf(route.body as Wire<unknown>, body, "The body")),
      ];
      if (problems.length > 0) throw new Fault("request.invalid", problems.join("\n"));
      const answer = await all[route.name]?.(asked, undefined as never);
      return JSON.parse(JSON.stringify(answer ?? null));
    };
  const made = Object.entries(handlers).map(([name, make]) => {
    const handler = make(core, inside) as Answering;
    const route: Route = routes[name as keyof Routes];
    const fresh = unlessStale(core, route, handler);
    const noted = route.isNoted === true ? noting(core, route, fresh) : fresh;
    return [name, needsConfig(name as keyof Routes) ? whileConfigured(core, noted) : noted] as const;
  });
  const all: Readonly<Record<string, Answering>> = Object.fromEntries(made);
  return all;
}

/** The function that answers each route that is a WebSocket. */
export function createUpgradings(core: Core): Readonly<Record<string, Upgrading>> {
  return { watchTerminal: watchTerminal(core) };
}

/** The routes with which a person can end tasks, agents and the daemon, or mend the settings, whatever these are. */
const brakes: ReadonlySet<keyof Routes> = new Set([
  "stop",
  "pause",
  "stopCrew",
  "cancelTask",
  "cancelMerge",
  "killRun",
  "endRun",
  "backup",
  "announceConfig",
  // A person who is not at the machine does these in a browser.
  "makeWebLink",
  "openWebSession",
  "endWebSession",
  "endWebSessions",
  "closeWeb",
  // The routes that its tools call are checked by themselves.
  "mcp",
]);

function needsConfig(name: keyof Routes): boolean {
  return routes[name].method !== "GET" && !brakes.has(name);
}

/** Refuses while no configuration is known: the defaults could allow what the person has forbidden. */
function whileConfigured({ config }: Core, handler: Answering): Answering {
  return async (asked, response) => {
    const { unknown } = config();
    if (unknown !== undefined) throw unknown;
    return handler(asked, response);
  };
}

/** Adds a granted request to history: to its task's, or to the home's if it concerns no task that still exists. */
function noting(core: Core, route: Route, handler: Answering): Answering {
  return async (asked, response) => {
    const isAboutTask = route.path.includes(":task");
    const stored = isAboutTask ? await findTask(core, asked).catch(() => undefined) : undefined;
    const answer = await handler(asked, response);
    const { params, body } = asked as Asked<unknown, unknown>;
    const project = stored?.task.project ?? params.project ?? projectIn(body);
    const given = { ...params, ...(isJsonObject(body) ? body : {}) };
    const data = { request: route.name, ...(project === undefined ? {} : { project }), given: withoutSecrets(given) };
    const task = stored === undefined || route.method === "DELETE" ? "" : stored.task.id;
    const event = { type: "request.granted", by: claimOf(asked.caller).role, data, set: {} } as const;
    // The request was carried out: a full disk must not turn a pause into an error.
    await core.store
      .addEvents(task, [event], core.clock.now())
      .catch((error) => core.log.error("A granted request could not be recorded", { request: route.name, error }));
    return answer;
  };
}

function projectIn(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const { project, name } = body;
  return typeof project === "string" ? project : typeof name === "string" ? name : undefined;
}

/** The values of a request, cut, and without the passwords that addresses can contain. */
function withoutSecrets(given: unknown): unknown {
  return JSON.parse(JSON.stringify(bounded(given)).replace(/(:\/\/)[^/@\s"]*@/g, "$1"));
}

const handlers = {
  health,
  status,
  openapi,
  stop,
  backup,
  check,
  trust,
  trustConfig,
  announceConfig,
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
  countTasks,
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
  cancelMerge,
  syncTask,
  openPullRequest,
  answerTask,
  requestChanges,
  approveTask,
  listFindings,
  decideFindings,
  addFinding,
  getPlan,
  putPlan,
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
  listQuestions,
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
  clearAgent,
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
  completeWork,
  sendStageMessage,
  listHandedOver,
  listTools,
  mcp,
  seeTask,
  taskGraph,
  listConversations,
  getArtifact,
  listWorkflows,
  getWorkflow,
  listMerges,
  doctor,
  listTimeline,
  showConfig,
  makeWebLink,
  openWebSession,
  listWebSessions,
  endWebSession,
  endWebSessions,
  closeWeb,
  watchTerminal: refusePlain,
} satisfies { readonly [Name in keyof Routes]: (core: Core, inside: Inside) => unknown };
