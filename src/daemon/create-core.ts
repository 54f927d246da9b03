import { join } from "node:path";
import { isMergedNext } from "../engine/persons-turn.ts";
import type { Task } from "../engine/task.ts";
import type { Fault } from "../fault.ts";
import { agentConfig } from "../home/agent-fields.ts";
import { callSettings } from "../home/notify-fields.ts";
import { homePlaces } from "../home/places.ts";
import { projectFiles } from "../home/project-files.ts";
import { createTurns } from "../keyed.ts";
import { isCheckout } from "../ports/records.ts";
import type { StoredTask } from "../ports/store.ts";
import { type Agents, createAgents } from "./agents/agents.ts";
import { createAskModel } from "./agents/ask-model.ts";
import { killAgent, killSession, returnFolders } from "./agents/brake.ts";
import { createConfine } from "./agents/confine.ts";
import { createPauses } from "./agents/pauses.ts";
import { createCallers, forgetAgents } from "./callers.ts";
import { createChats } from "./chat/chats.ts";
import { createReceiver } from "./chat/receiver.ts";
import { createChildren } from "./children/children.ts";
import { createConfigChanges } from "./config-changes.ts";
import type { Core } from "./core.ts";
import type { CorePorts } from "./core-ports.ts";
import { createCrewRunner, openCrewState } from "./crew/crew.ts";
import { createDaemonStore } from "./daemon-store.ts";
import { createDeadlines, personsWordAt } from "./deadlines.ts";
import { closeTicket } from "./effects/others.ts";
import { testsOf } from "./effects/tests.ts";
import { createErrorLog } from "./error-log.ts";
import { createEventFeed } from "./event-feed.ts";
import { createLeftOut } from "./forge/left-out.ts";
import { createGitParts } from "./git-parts.ts";
import { noteLimit } from "./home-events.ts";
import { noWebDoor } from "./http/web-door.ts";
import { createFacts, gatherFacts, lookTimeout } from "./look.ts";
import { protectedTests } from "./merging/protected-tests.ts";
import { createCalls, createUnsavedCall } from "./needs/calls.ts";
import { createNeeds, noticeRuns } from "./needs/needs.ts";
import { createPerformer } from "./perform.ts";
import { performersOf } from "./performers.ts";
import { allTasks, noTickets } from "./project.ts";
import { continueMapped, modelsIn } from "./project-models.ts";
import { createRefusals } from "./refusals.ts";
import { createScheduler } from "./scheduler.ts";
import { stoppableCommands } from "./stoppable-commands.ts";
import { createWorkflowCache } from "./store-cache.ts";
import { createSubmit } from "./submit.ts";
import { createTaskIndex } from "./task-index.ts";
import { createWebSessions } from "./web-sessions.ts";
import { createSettings } from "./workspaces/project-settings.ts";
import { boundFolder, createTroubleOf, performInWorkspace, workspaceTrouble } from "./workspaces/trouble.ts";

export interface RunningCore extends Core {
  /** Learns which tasks are open and which need a person. Moves no task, so it needs no configuration. */
  recall(): Promise<void>;
  /** Continues every open task from its stored state. */
  recover(): Promise<void>;
  /** The configuration has changed: tasks and runs that waited for a raised limit continue immediately. */
  configured(keys: readonly string[]): void;
  /** Nothing can be saved, and why; without a fault, saving works again. */
  savingChanged(fault: Fault | undefined): void;
  /** Starts nothing new, and waits for work in progress. Agents continue. */
  close(): Promise<void>;
}

/** Puts the core together. */
export function createCore(ports: CorePorts): RunningCore {
  const { log, clock, config, stop, signal, commandEnvironment: env = {} } = ports;
  const commands = stoppableCommands(ports.commands, {
    home: ports.home,
    isPaused: async (id) => {
      const task = (await store.getTask(id))?.task;
      if (task === undefined || !isPaused(task.project)) return false;
      const merge = await store.merges.get(id);
      if (merge !== undefined && merge.endedAt === undefined) {
        // A merge that a person has requested is tested all the same, and so is a workflow's that a person began during the pause.
        const isPersons = merge.by === "human";
        if (isPersons && (merge.to !== "" || !stopsWork(task.project, await personsWordAt(store, id)))) return false;
      }
      // A task that has ended still needs the commands that release what it had.
      return !(await isTerminal(task));
    },
    hasEndedSince: async (id, status) => {
      const task = (await store.getTask(id))?.task;
      if (task === undefined || task.status === status) return false;
      const outcome = await outcomeOf(task);
      return outcome !== undefined && outcome !== "done";
    },
    sweep: async (entry) => void (await ports.agents?.processes.sweep(undefined, entry)),
    sweepFolder: async (folder) => ports.agents?.processes.sweepFolder(folder),
    onError: (error) => onError(error),
  });
  const places = homePlaces(ports.home);
  const onError = createErrorLog(log, clock);
  const eventFeed = createEventFeed(ports.store, onError);
  const taskIndex = createTaskIndex(ports.store);
  const store = createDaemonStore(ports.store, {
    tasks: taskIndex,
    ...{ wrote: eventFeed.wake, noticed: (task) => needs.noticed(task), roster: () => agents?.roster },
  });
  const settingsOf = createSettings({ home: ports.home, places, config });
  const workflows = createWorkflowCache(store);
  const workflowOf = (task: Task) => workflows.get(task.workflowHash);
  const channels = ports.channels ?? (() => new Map());
  const openChat = () => ports.chat?.();
  const quiet = () => callSettings(config().values).quiet;
  const chats = createChats({ store, clock, quiet, onError, open: openChat });
  const receiver = createReceiver({ core: () => core, file: join(places.run, "chat.json"), open: openChat });
  const calls = createCalls({
    ...{ store, clock, channels, onError, settings: () => callSettings(config().values) },
    hasAsked: chats.hasSent,
  });
  const unsavedCall = createUnsavedCall({ clock, channels, onError, settings: () => callSettings(config().values) });
  const isNext = (task: Task) =>
    workflowOf(task).then(
      (workflow) => isMergedNext(workflow, task),
      () => false,
    );
  const lookForTrouble = async (task: Task) =>
    parts === undefined ? undefined : workspaceTrouble(parts.pools, task, () => isNext(task));
  const troubleOf = createTroubleOf(lookForTrouble, clock, lookTimeout);
  const isNextLeft = (task: Task) => scheduler.isNextLeft(task);
  const needs = createNeeds({
    store,
    clock,
    workflowOf,
    agents: () => agents,
    troubleOf,
    isNextLeft,
    unsaved: () => ports.storeLoss?.() ?? ports.unsaved?.(),
    ...calls,
    found: async (...found) => void (await Promise.all([calls.found(...found), chats.found(...found)])),
    onError,
  });
  const poolSize = async (project: string) => (await store.getProject(project))?.poolSize ?? 1;
  const factsOf = createFacts(store, (task) => scheduler.isPoolFull(task.project, task.id));
  const inTurn = createTurns();
  const ticketsOf = ports.ticketsOf ?? noTickets;
  const parts =
    ports.workspacesOf &&
    createGitParts({
      ...{ store, clock, log, inTurn, places, config, workflowOf, onError, commands, env, settingsOf },
      ...{ ticketsOf, workspacesOf: ports.workspacesOf, forgeOf: ports.forgeOf, limits: ports.limits },
      landing: ports.landing ?? {},
      askModel: createAskModel(() => agents),
      submit: (...asked) => submit(...asked),
      changed: (stored) => changed(stored, false),
      troubled: (task) => needs.noticed(task),
      tellPerson: (task, message, key) => tellPerson(task, message, key),
      endCommands: commands.endLeftBehind,
      stopsWork: (project, wordAt) => stopsWork(project, wordAt),
      endRuns: async (task) => {
        const isAlive = (await store.runs.list({ task })).some(({ endedAt }) => endedAt === undefined);
        const stored = isAlive ? await store.getTask(task) : undefined;
        const order = { action: "kill_session", params: {} };
        if (stored !== undefined) await performers.kill_session?.(order, { task: stored.task, key: "" });
      },
    });
  const looking = { store, workflowOf, factsOf, ...(parts === undefined ? {} : { outsideOf: parts.outsideOf }) };
  const refusals = createRefusals({ store, clock });
  const submit = createSubmit({
    ...{ ...looking, refusals, inTurn, clock },
    changed: (stored, mayGoOn) => changed(stored, mayGoOn),
  });
  const folderOf = (task: Task) => boundFolder(store, task);
  const portOf = async (task: Task) =>
    (await store.workspaces.list({ task: task.id })).find((workspace) => !isCheckout(workspace))?.port;
  const commandPorts = { commands, log, env, ...(signal === undefined ? {} : { signal }) };
  const callers = createCallers(store, clock, ports.humanToken);
  const tellPerson = async (task: Task, message: string, key: string) =>
    performers.notify?.({ action: "notify", params: { message } }, { task, key });
  const pauses = createPauses(join(places.run, "paused.json"), () => clock.now());
  const isUnconfigured = () => config().unknown !== undefined;
  const isPaused = (project: string) => isUnconfigured() || pauses.why(project) !== undefined;
  const stopsWork = (project: string, wordAt: number | undefined) =>
    (isUnconfigured() && wordAt === undefined) || pauses.stops(project, wordAt);
  const agentSettings = () => agentConfig(config().values);
  const agents: Agents | undefined =
    ports.agents &&
    createAgents({
      ...{ ...ports.agents, store, clock, ids: ports.ids, log, places, callers, workflowOf, folderOf, portOf },
      ...{ pauses, onError, git: ports.git, config: agentSettings },
      submit: (...asked) => submit(...asked),
      ...modelsIn({ home: ports.home, places, config, store }),
      environment: {
        ...{ env: ports.agents.env, home: ports.home, places },
        allowed: () => agentSettings().agentsEnvironment,
      },
      confine: createConfine({ ...ports.agents, store, places, home: ports.home, log, config: agentSettings }),
      testCommandOf: (project) => settingsOf(project).testCommand,
      placeFiles: async (task, role) => (await parts?.placeFiles(task, role)) ?? "",
      ...(parts === undefined ? {} : { checkoutFor: parts.checkoutFor, diffOf: parts.diffOf }),
    });
  if (agents !== undefined) noticeRuns(agents, needs.noticed);
  if (agents !== undefined) parts?.followRuns(agents);
  agents?.dispatch.followLimits(needs.noticed, (change) => noteLimit({ store, clock, log }, change));
  const children = createChildren({ clock, core: () => core, onError });
  const plainPerformers = performersOf({
    given: ports.performers(folderOf, workflowOf, portOf, commands),
    agents: agents?.performers,
    git: parts?.performers,
    forge: parts?.forgePerformers,
    withoutAgents: {
      killAgent: killAgent({ store, places, clock, callers }),
      killSession: killSession({ store, places, clock, callers }),
    },
    withoutWorkspaces: { releaseWorkspace: returnFolders({ store, places }) },
    runTests:
      parts === undefined
        ? testsOf({ ...commandPorts, store, places, folderOf, portOf, settingsOf })
        : protectedTests({
            ...{ ...parts.repositories, ...commandPorts, store, places, folderOf, portOf, settingsOf, submit },
            filesIn: ports.filesIn ?? projectFiles,
          }),
    closeTicket: closeTicket({ store, clock, ticketsOf, leftOut: parts?.forge && createLeftOut(parts.forge) }),
    ...children.performers,
    spawnNext: async (_, { task }) => scheduler.startNext(task),
  });
  const performers = performInWorkspace(
    store,
    plainPerformers,
    async (task) => (await lookForTrouble(task)) === undefined,
  );
  const outcomeOf = async (task: Task) => (await workflowOf(task)).states[task.status]?.outcome;
  const isTerminal = async (task: Task) => (await outcomeOf(task)) !== undefined;
  const performer = createPerformer({
    ...{ store, clock, submit, performers, outcomeOf, onError },
    isBlocked: isUnconfigured,
    isPaused: async ({ id, project }) => isPaused(project) && stopsWork(project, await personsWordAt(store, id)),
  });
  const mayStart = (project: string) => !isPaused(project) && !children.isBusy(project);
  const scheduler = createScheduler({
    ...{ store, clock, workflowOf, submit, poolSize, mayStart, onError },
    ...{ nextChanged: needs.noticed, awaitedChanged: (task) => children.awaitedChanged(task) },
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
    children.noticed(stored);
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
    ...{ store, taskIndex },
    storeLoss: () => ports.storeLoss?.(),
    unsaved: () => ports.unsaved?.(),
    clock,
    ids: ports.ids,
    log,
    commands,
    callers,
    workflows,
    factsOf,
    look: (task) => gatherFacts(looking, task),
    lookFor: (task) => gatherFacts(looking, task, undefined, { clock, limit: lookTimeout }),
    submit,
    refusals,
    configChanges: createConfigChanges({ store, clock, places }),
    inTurn,
    forge: parts?.forge,
    pools: parts?.pools,
    performer,
    scheduler,
    children,
    deadlines,
    needs,
    calls,
    chats,
    receiver,
    channels,
    eventFeed,
    repositories: parts?.repositories,
    agents,
    git: ports.git,
    ticketsOf,
    crew,
    config,
    changed,
    webDoor: ports.webDoor ?? noWebDoor,
    sessions: createWebSessions({ store, clock, ids: ports.ids }),
    stop,
    async recall() {
      // First, so that no check of a task repeats a call that an earlier daemon has made.
      await calls.recover();
      await chats.recover();
      for (const stored of await allTasks(store, { isOpen: true })) needs.heard(stored);
    },
    async recover() {
      await core.recall();
      for (const stored of await allTasks(store, { isOpen: true })) {
        // A task whose workflow no longer loads must not stop the others from continuing.
        await Promise.all([scheduler.recall(stored), deadlines.noticed(stored)]).catch((error) =>
          log.error("A task cannot be recovered", { task: stored.task.id, error }),
        );
      }
      await parts?.preparePools();
      await agents?.recover();
      await performer.recover();
      await parts?.recover();
      await children.recover(await allTasks(store, { isOpen: true }));
      scheduler.wake();
      await crew.recover();
      receiver.wake();
    },
    configured(keys) {
      agents?.configured();
      if (keys.includes("model_tiers")) void continueMapped(core).catch(onError);
      scheduler.wake();
      chats.wake();
      receiver.wake();
      needs.noticedAll();
    },
    savingChanged(fault) {
      unsavedCall.changed(fault);
      needs.noticedAll();
    },
    async close() {
      unsavedCall.stop();
      eventFeed.stop();
      await Promise.all([crew.close(), receiver.stop()]);
      // All together: work that is interrupted from here on has not failed.
      const stops = [performer, children, scheduler, deadlines, parts, agents, needs, calls, chats].map((each) =>
        each?.stop(),
      );
      await Promise.all(stops);
    },
  };
  return core;
}
