import { join } from "node:path";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Fault } from "../fault.ts";
import { agentConfig } from "../home/agent-fields.ts";
import type { PartialConfig } from "../home/config-fields.ts";
import { callSettings } from "../home/notify-fields.ts";
import { homePlaces } from "../home/places.ts";
import type { Clock } from "../ports/clock.ts";
import type { Commands } from "../ports/commands.ts";
import type { Git } from "../ports/git.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Channels } from "../ports/notifier.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import { type AgentsPorts, createAgents } from "./agents/agents.ts";
import { createPauses } from "./agents/pauses.ts";
import { forgetAgents } from "./agents-at-work.ts";
import { beganByPerson } from "./beginning-of-stay.ts";
import { createCallers } from "./caller.ts";
import type { Core } from "./core.ts";
import { createCrewRunner } from "./crew/crew-runner.ts";
import { openCrewState } from "./crew/crew-state.ts";
import { createDeadlines } from "./deadlines.ts";
import { closeTicket } from "./effects/close-ticket.ts";
import { killAgent, killSession, returnFolders } from "./effects/end-agents.ts";
import { stopChildren } from "./effects/stop-children.ts";
import { testsOf } from "./effects/tests-of.ts";
import { createErrorLog } from "./error-log.ts";
import { createFacts } from "./facts.ts";
import type { ForgeOf } from "./forge/project-forge.ts";
import { createGitParts } from "./git-parts.ts";
import { look, lookPatience } from "./look.ts";
import type { Landing } from "./merging/create-repositories.ts";
import { createUnsavedCall } from "./needs/call-unsaved.ts";
import { createCalls } from "./needs/calls.ts";
import { createNeeds, noticeRuns, noticingStore } from "./needs/needs.ts";
import { createNews, tellingStore } from "./news.ts";
import { createPerformer, type Performers } from "./perform.ts";
import { rememberProjects } from "./remember-projects.ts";
import { rememberTasks } from "./remember-tasks.ts";
import { rememberWorkspaces } from "./remember-workspaces.ts";
import { createScheduler } from "./scheduler.ts";
import { stoppableCommands } from "./stoppable-commands.ts";
import { createSubmit } from "./submit.ts";
import { noTickets, type TicketsOf } from "./tickets-of.ts";
import { createTurns } from "./turns.ts";
import { createWorkflowCache } from "./workflow-cache.ts";
import { boundFolder, performInWorkspace } from "./workspaces/bound-folder.ts";
import { createSettings } from "./workspaces/project-settings.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import type { UpkeepLimits } from "./workspaces/upkeep-limits.ts";
import { workspaceTrouble } from "./workspaces/workspace-trouble.ts";

export interface CorePorts {
  readonly version: string;
  readonly home: string;
  readonly store: Store;
  /** Why nothing can be saved any more; left out where nothing can be lost. */
  storeLoss?(): Fault | undefined;
  /** Why nothing can be saved now, though it can be again; left out where it always can. */
  unsaved?(): Fault | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: Commands;
  readonly humanToken: string;
  /** Made once the folders and the workflows of tasks can be asked for. */
  performers(
    folderOf: (task: Task) => Promise<string>,
    workflowOf: (task: Task) => Promise<Workflow>,
    portOf: (task: Task) => Promise<number | undefined>,
    commands: Commands,
  ): Performers;
  /** What every command may see of our own environment. */
  readonly commandEnvironment?: Readonly<Record<string, string>>;
  /** Fires when commands that are under way are to be killed. */
  readonly signal?: AbortSignal;
  readonly git?: Git;
  /** How much may lie around; the usual where it is missing. */
  limits?(): UpkeepLimits;
  /** How projects' working copies are made; where it is missing, actions that need one are not available. */
  readonly workspacesOf?: WorkspacesOf;
  /** How merges are tested and published, where that is not as usual. */
  readonly landing?: Partial<Landing>;
  /** Where projects' branches go; where it is missing, or there are no workspaces, nothing is pushed. */
  readonly forgeOf?: ForgeOf;
  /** Where people are called; where it is missing, only history says so. */
  channels?(): Channels;
  /** Where projects have their tickets; where it is missing, they have none. */
  readonly ticketsOf?: TicketsOf;
  /** What agents are started with; where it is missing, none are. */
  readonly agents?: Pick<AgentsPorts, "harnesses" | "terminal" | "processes" | "tails" | "table"> & {
    /** Of which agents see what is on a list. */
    readonly env: NodeJS.ProcessEnv;
  };
  config(): { readonly values: PartialConfig; readonly problems: readonly string[] };
  address(): string;
  stop(): void;
}

export interface RunningCore extends Core {
  /** Lets every open task go on from where it was left. */
  recover(): Promise<void>;
  /** The configuration says something else: whoever waited for a limit that was raised goes on at once. */
  configured(): void;
  /** Nothing can be saved, and why; or, without a fault, it can again. */
  savingChanged(fault: Fault | undefined): void;
  /** Takes nothing new on, and waits for what is under way. Agents go on. */
  close(): Promise<void>;
}

/** Puts together what moves tasks. */
export function createCore(ports: CorePorts): RunningCore {
  const { log, clock, config, address, stop, signal, commandEnvironment: env = {} } = ports;
  const commands = stoppableCommands(ports.commands, {
    home: ports.home,
    isPaused: async (id) => {
      const task = (await store.getTask(id))?.task;
      if (task === undefined || !isPaused(task.project)) return false;
      const merge = await store.merges.get(id);
      // What a person wants to be merged is tested all the same.
      if (merge !== undefined && merge.endedAt === undefined && merge.by === "human") return false;
      // What is still to be done for a task that has ended gives back what it had.
      return !(await isTerminal(task));
    },
    hasEndedSince: async (id, status) => {
      const task = (await store.getTask(id))?.task;
      if (task === undefined || task.status === status) return false;
      const outcome = await outcomeOf(task);
      return outcome !== undefined && outcome !== "done";
    },
    sweep: async (entry) => void (await ports.agents?.processes.sweep(undefined, entry)),
    onError: (error) => onError(error),
  });
  const places = homePlaces(ports.home);
  const onError = createErrorLog(log, clock);
  const news = createNews(ports.store, onError);
  const telling = noticingStore(tellingStore(ports.store, news.wake), (task) => needs.noticed(task));
  const store = rememberWorkspaces(rememberProjects(rememberTasks(telling)));
  const settingsOf = createSettings({ home: ports.home, places, config });
  const workflows = createWorkflowCache(store);
  const workflowOf = (task: Task) => workflows.get(task.workflowHash);
  const channels = ports.channels ?? (() => new Map());
  const calls = createCalls({ store, clock, channels, onError, settings: () => callSettings(config().values) });
  const unsavedCall = createUnsavedCall({ clock, channels, onError, settings: () => callSettings(config().values) });
  const troubleOf = async (task: Task) => (parts === undefined ? undefined : workspaceTrouble(parts.pools, task));
  const isNextLeft = (task: Task) => scheduler.isNextLeft(task);
  const needs = createNeeds({
    store,
    clock,
    workflowOf,
    agents: () => agents,
    troubleOf,
    isNextLeft,
    unsaved: () => ports.unsaved?.(),
    ...calls,
    onError,
  });
  const poolSize = async (project: string) => (await store.getProject(project))?.poolSize ?? 1;
  const factsOf = createFacts(store, (task) => scheduler.isFull(task.project, task.id));
  const inTurn = createTurns();
  const parts =
    ports.workspacesOf &&
    createGitParts({
      ...{ store, clock, log, inTurn, places, config, workflowOf, onError, commands, env, settingsOf },
      workspacesOf: ports.workspacesOf,
      forgeOf: ports.forgeOf,
      landing: ports.landing ?? {},
      limits: ports.limits,
      submit: (...asked) => submit(...asked),
      changed: (stored) => changed(stored, false),
      troubled: (task) => needs.noticed(task),
      tellPerson: (task, message, key) => tellPerson(task, message, key),
      endCommands: commands.endLeftBehind,
      isPaused: (project) => isPaused(project),
      endRuns: async (task) => {
        const isAlive = (await store.runs.list({ task })).some(({ endedAt }) => endedAt === undefined);
        const stored = isAlive ? await store.getTask(task) : undefined;
        const order = { action: "kill_session", params: {} };
        if (stored !== undefined) await performers.kill_session?.(order, { task: stored.task, key: "" });
      },
    });
  const looking = { store, workflowOf, factsOf, ...(parts === undefined ? {} : { outsideOf: parts.outsideOf }) };
  const submit = createSubmit({
    ...looking,
    inTurn,
    clock,
    changed: (stored, mayGoOn) => changed(stored, mayGoOn),
  });
  const folderOf = (task: Task) => boundFolder(store, task);
  const ticketsOf = ports.ticketsOf ?? noTickets;
  const portOf = async (task: Task) => (await store.workspaces.list({ task: task.id }))[0]?.port;
  const commandPorts = { commands, log, env, ...(signal === undefined ? {} : { signal }) };
  const callers = createCallers(store, clock, ports.humanToken);
  const tellPerson = async (task: Task, message: string, key: string) =>
    performers.notify?.({ action: "notify", params: { message } }, { task, key });
  const pauses = createPauses(join(places.run, "paused.json"));
  const isPaused = (project: string) => pauses.why(project) !== undefined;
  const agents =
    ports.agents &&
    createAgents({
      ...{ ...ports.agents, store, clock, ids: ports.ids, log, places, callers, workflowOf, folderOf, portOf },
      ...{ pauses, onError },
      submit: (...asked) => submit(...asked),
      config: () => agentConfig(config().values),
      environment: {
        ...{ env: ports.agents.env, home: ports.home, places },
        allowed: () => agentConfig(config().values).agentsEnvironment,
      },
      testCommandOf: (project) => settingsOf(project).testCommand,
      placeFiles: async (task, role) => (await parts?.placeFiles(task, role)) ?? "",
    });
  if (agents !== undefined) noticeRuns(agents, needs.noticed);
  agents?.dispatch.followLimits(needs.noticed);
  const plainPerformers: Performers = {
    kill_agent: killAgent({ store, places, clock, callers }),
    kill_session: killSession({ store, places, clock, callers }),
    release_workspace: returnFolders({ store, places }),
    ...parts?.performers,
    ...agents?.performers,
    run_tests: testsOf({ ...commandPorts, store, places, folderOf, portOf, settingsOf }),
    close_ticket: closeTicket({ store, clock, ticketsOf }),
    stop_children: stopChildren({ store }),
    spawn_next: async (_, { task }) => scheduler.startNext(task),
    ...ports.performers(folderOf, workflowOf, portOf, commands),
  };
  const performers = performInWorkspace(store, plainPerformers, async (task) => (await troubleOf(task)) === undefined);
  const outcomeOf = async (task: Task) => (await workflowOf(task)).states[task.status]?.outcome;
  const isTerminal = async (task: Task) => (await outcomeOf(task)) !== undefined;
  const performer = createPerformer({
    ...{ store, clock, submit, performers, outcomeOf, onError },
    isPaused: async ({ id, project }) => isPaused(project) && !(await beganByPerson(store, id)),
  });
  const mayStart = (project: string) => !isPaused(project);
  const scheduler = createScheduler({
    ...{ store, clock, workflowOf, submit, poolSize, mayStart, onError },
    nextChanged: needs.noticed,
  });
  const deadlines = createDeadlines({ store, clock, workflowOf, submit, onError });

  const notice = (stored: StoredTask) =>
    Promise.all([
      scheduler.noticed(stored),
      deadlines.noticed(stored),
      stored.isOpen ? undefined : forgetAgents({ store, callers, places, clock }, stored.task.id),
    ]);
  const changed = (stored: StoredTask, mayGoOn = true) => {
    parts?.noticed(stored);
    agents?.noticed(stored);
    needs.heard(stored);
    if (mayGoOn) performer.wake(stored.task.id);
    if (!stored.isOpen) crew.wake();
    notice(stored).catch(onError);
  };

  const crew = createCrewRunner({
    ...{ clock, onError, core: () => core },
    state: openCrewState(join(places.run, "crew.json")),
  });
  const core: RunningCore = {
    version: ports.version,
    home: ports.home,
    places,
    startedAt: clock.now(),
    store,
    storeLoss: () => ports.storeLoss?.(),
    unsaved: () => ports.unsaved?.(),
    clock,
    ids: ports.ids,
    log,
    commands,
    callers,
    workflows,
    factsOf,
    look: (task) => look(looking, task),
    lookFor: (task) => look(looking, task, undefined, { clock, limit: lookPatience }),
    submit,
    inTurn,
    forge: parts?.forge,
    pools: parts?.pools,
    performer,
    scheduler,
    deadlines,
    needs,
    calls,
    channels,
    news,
    repositories: parts?.repositories,
    agents,
    git: ports.git,
    ticketsOf,
    crew,
    config,
    changed,
    address,
    stop,
    async recover() {
      // First, so that no look at a task repeats a call that an earlier daemon has made.
      await calls.recover();
      for (let before: number | undefined; ; ) {
        const page = await store.listTasks({ isOpen: true }, before === undefined ? { limit } : { before, limit });
        for (const stored of page) {
          needs.heard(stored);
          // One whose workflow does not load any more must not keep the others from going on.
          await Promise.all([scheduler.recall(stored), deadlines.noticed(stored)]).catch((error) =>
            log.error("A task cannot be taken up", { task: stored.task.id, error }),
          );
        }
        before = page.at(-1)?.order;
        if (before === undefined) break;
      }
      await parts?.takeUp();
      await agents?.recover();
      await performer.recover();
      await parts?.recover();
      scheduler.wake();
      await crew.recover();
    },
    configured() {
      agents?.configured();
      scheduler.wake();
    },
    savingChanged(fault) {
      unsavedCall.changed(fault);
      needs.noticedAll();
    },
    async close() {
      unsavedCall.stop();
      news.stop();
      await crew.close();
      // All of them at once: what is cut short from here on has not failed.
      const stops = [performer, scheduler, deadlines, parts, agents, needs, calls].map((each) => each?.stop());
      await Promise.all(stops);
    },
  };
  return core;
}

const limit = 500;
