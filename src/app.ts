import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { dirname, join } from "node:path";
import { createGit } from "./adapters/git/git.ts";
import { createRunner, defaultLimits } from "./adapters/git/runner.ts";
import { createKinds } from "./adapters/git/workspace/kinds.ts";
import { createOpenGithub } from "./adapters/github/github.ts";
import { createFileLog } from "./adapters/log/file-log.ts";
import { createStreamLog } from "./adapters/log/stream-log.ts";
import { noneForge } from "./adapters/no-forge.ts";
import { systemProcessTable } from "./adapters/processes/process-table.ts";
import { createProcesses, supervisorCommand } from "./adapters/processes/processes.ts";
import { bubblewrap } from "./adapters/sandbox/bubblewrap.ts";
import { randomIds, spawnCommands, systemClock } from "./adapters/system.ts";
import { fileTails } from "./adapters/tail.ts";
import { ticketFiles } from "./adapters/ticket-files.ts";
import { createTmux } from "./adapters/tmux/tmux.ts";
import { errorBodyOf } from "./api/client.ts";
import { createHarnesses } from "./app-harnesses.ts";
import { notifierOf, notifyChannels, openChatOf, openStore, startWatchdog, type Watchdog } from "./app-parts.ts";
import { ownFile, ownProgram, placeRunPrograms } from "./daemon/agents/run-programs.ts";
import { createAuthorise } from "./daemon/authorise.ts";
import { publishAgents } from "./daemon/callers.ts";
import type { CorePorts } from "./daemon/core-ports.ts";
import { createCore, type RunningCore } from "./daemon/create-core.ts";
import { portVariable, runCommand } from "./daemon/effects/commands.ts";
import { notify } from "./daemon/effects/others.ts";
import { askedPullRequests } from "./daemon/forge/pull-request.ts";
import { createForges, type ForgeOf } from "./daemon/forge/push-task.ts";
import { createStoreKeeper, guardStore } from "./daemon/guard-store.ts";
import { createHandlers, createUpgradings } from "./daemon/handlers.ts";
import { createHomeGuard, type HomeGuard } from "./daemon/home-guard.ts";
import { createPage } from "./daemon/http/page.ts";
import { type SocketListening, serveSocket, serveTcp } from "./daemon/http/serve.ts";
import { createWebDoor } from "./daemon/http/web-door.ts";
import type { Performers } from "./daemon/perform.ts";
import { createTicketsOf, type TicketsOf } from "./daemon/project.ts";
import { createWorkspaces, type WorkspacesOf } from "./daemon/workspaces/project-workspaces.ts";
import type { Task } from "./engine/task.ts";
import type { Workflow } from "./engine/workflow.ts";
import { Fault } from "./fault.ts";
import { resolveConfig } from "./home/config.ts";
import { personsEnvironment, recordSurroundings, startedByAgent } from "./home/environment.ts";
import { ensureHumanToken } from "./home/human-token.ts";
import { createLiveConfig, type LiveConfig } from "./home/live-config.ts";
import { takeLock } from "./home/lock.ts";
import { makePrivateFolder } from "./home/make-folder.ts";
import { homeFolder, homePlaces, type Places, packageRoot, packageVersion } from "./home/places.ts";
import { restrictHome } from "./home/private-files.ts";
import { mayCount, readRepositoryConfig } from "./home/trust.ts";
import { publicOrigin } from "./home/web-fields.ts";
import { createChosenPort } from "./home/web-port.ts";
import type { Git } from "./ports/git.ts";
import type { Store } from "./ports/store.ts";
import type { Commands, LeveledLog, Notifier } from "./ports/system.ts";

/** The daemon's exit codes. */
const daemonExit = { ok: 0, failed: 1, alreadyRunning: 75 } as const;

/** The daemon's process: takes the lock of its home, opens the store, and listens until it is told to stop. */
async function runDaemon(env: NodeJS.ProcessEnv, isForeground: boolean): Promise<number> {
  const home = homeFolder(env);
  const places = homePlaces(home);
  for (const folder of [
    home,
    places.run,
    dirname(places.socket),
    places.workspaces,
    places.control,
    places.repositories,
    places.runs,
    dirname(places.terminal),
  ])
    makePrivateFolder(folder);
  const lock = takeLock(places.lock);
  if (lock === undefined) return daemonExit.alreadyRunning;
  // Names the owner of the lock for a caller that gets no answer.
  writeFileSync(places.pid, `${process.pid}\n`, { mode: 0o600 });
  // A daemon that an agent started uses the environment that a person gave to an earlier daemon.
  const isAgents = env[startedByAgent] !== undefined;
  if (!isAgents)
    recordSurroundings(places, { env: personsEnvironment(env), umask: process.umask(), nice: getPriority() });
  const log: LeveledLog = isForeground
    ? createStreamLog(process.stderr, "info")
    : createFileLog({ path: places.log, level: "info", now: systemClock.now });
  for (const path of restrictHome(places))
    log.warn("A file of the home may be readable by others, and its permissions cannot be changed", { path });
  if (isAgents)
    log.warn(
      "An agent started the daemon, so it has none of your keys. To give it your keys: signalbox down && signalbox up",
    );
  const stopping = new AbortController();
  const killing = new AbortController();
  let isRecovered = false;
  const config = createLiveConfig(places.config, log, ({ port }, changed) => {
    if (listenTcp !== undefined) void web.use(port);
    running?.configChanges
      .noticed(changed)
      .catch((error) => log.error("A changed setting was not recorded", { error }));
    if (isRecovered) running?.configured(changed);
  });
  let listenTcp: ((port: number) => ReturnType<typeof serveTcp>) | undefined;
  let running: RunningCore | undefined;
  const web = createWebDoor({
    listen: async (port) => {
      if (listenTcp === undefined) throw new Fault("daemon.busy", "The daemon is starting.", { retry: "later" });
      return listenTcp(port);
    },
    ...{ log, chosen: createChosenPort(places), publicOrigin: () => publicOrigin(config.current().values) },
    onTaken: async () => running?.sessions.endAll(),
  });
  let stored: Store | undefined;
  try {
    stored = await openStore(places);
  } finally {
    // The store cannot be opened, or another daemon has it, which writes its own pid again.
    if (stored === undefined) rmSync(places.pid, { force: true });
  }
  if (stored === undefined) return daemonExit.alreadyRunning;
  const keeper = createStoreKeeper(stored, { clock: systemClock, log, places });
  const store = guardStore(stored, {
    file: places.database,
    onWritten: keeper.written,
    onLost: (fault) => {
      log.error(fault.message);
      void keeper.rescue();
      running?.savingChanged(fault);
    },
    onUnsaved: (fault) => {
      if (fault === undefined) log.info("The store can be written again");
      else log.error(fault.message);
      running?.savingChanged(fault);
    },
  });
  const version = packageVersion;
  const git = createGit({ env, signal: killing.signal });
  const forgeOf = forges(env, store, config, git);
  const agents = agentPorts(env, places, config);
  const channels = notifyChannels({
    ...{ env, home, inherited: inheritedFrom(env), config: config.resolved, signal: killing.signal },
    sweep: async (entry) => void (await agents.processes.sweep(undefined, entry)),
  });
  const core = createCore({
    version,
    home,
    store,
    storeLoss: store.loss,
    unsaved: store.unsaved,
    clock: systemClock,
    ids: randomIds,
    log,
    commands: spawnCommands,
    humanToken: ensureHumanToken(places),
    performers: (folderOf, workflowOf, portOf, commands) => {
      const notifier = notifierOf(channels, log);
      return performers({ env, home, notifier, folderOf, workflowOf, portOf, commands, signal: killing.signal });
    },
    channels,
    chat: openChatOf({ env, signal: killing.signal, config: config.resolved }),
    commandEnvironment: inheritedFrom(env),
    signal: killing.signal,
    git,
    workspacesOf: workspaces(env, places, git, killing.signal),
    forgeOf,
    ticketsOf: tickets(home, places, config, forgeOf),
    agents,
    config: config.current,
    webDoor: web,
    stop: () => setImmediate(() => stopping.abort()),
  });
  running = core;
  let socket: SocketListening | undefined;
  let guard: HomeGuard | undefined;
  let watchdog: Watchdog | undefined;
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
  try {
    // Load usage before listening: the first request may ask for it.
    await core.agents?.book.open();
    const handlers = createHandlers(core);
    const ports = {
      ...{ handlers, upgradings: createUpgradings(core), callers: core.callers, sessions: core.sessions, log, version },
      authorise: createAuthorise(core),
      ...{ page: createPage(join(packageRoot(), "dist", "web")), publicOrigin: web.publicOrigin },
      warning: () => config.current().warning ?? "",
    };
    const placePrograms = () => placeRunPrograms(places, config.resolved().agentsAliases);
    const listen = async () => {
      socket?.leave();
      socket = await serveSocket(ports, places.socket);
      linkFormerSocket(places);
    };
    await listen();
    guard = createHomeGuard({
      ...{ home, places, clock: systemClock, log, lock, pid: process.pid, listen, placePrograms },
      isListening: () => socket?.isInPlace() === true,
      lookAtStore: store.look,
      useToken: (token) => {
        core.callers.useHuman(token);
        // Whoever had the earlier one could sign in.
        core.sessions.endAll().catch((error) => log.error("The sessions of browsers could not be ended", { error }));
      },
      onHomeGone: () => {
        keeper.leave();
        stopping.abort();
      },
    });
    listenTcp = (port) => serveTcp(ports, port);
    await web.use(config.resolved().port);
    log.info("The daemon has started", { version, home, pid: process.pid });
    watchdog = startWatchdog(home, places, process.argv, log, (text) => {
      const note = { title: "Signalbox's daemon died", text, task: "", project: "", key: `died-${systemClock.now()}` };
      notifierOf(channels, log)
        .notify(note)
        .catch((error) => log.error("The person could not be called", { error }));
    });
    placePrograms();
    guard.start();
    await publishAgents(core);
    keeper.start();
    await core.recall();
    await Promise.race([config.known(), stopped]);
    if (!stopping.signal.aborted) await core.recover();
    isRecovered = true;
    await stopped;
    log.info("The daemon stops; agents keep running");
  } finally {
    watchdog?.stop();
    await guard?.stop();
    await Promise.all([socket?.close(), web.stop()]);
    const closed = core.close();
    killing.abort();
    await closed;
    config.stop();
    await keeper.stop();
    await store.close();
    await log.close();
    if (guard === undefined) lock.release();
    else guard.release();
  }
  return daemonExit.ok;
}

/** Programs of earlier versions that still run, such as agents' servers for tools, look for the socket there. */
function linkFormerSocket({ socket, formerSocket }: Places): void {
  rmSync(formerSocket, { force: true, recursive: true });
  symlinkSync(socket, formerSocket);
}

function workspaces(env: NodeJS.ProcessEnv, places: Places, git: Git, signal: AbortSignal): WorkspacesOf {
  const run = createRunner({ env, signal, program: "git", limits: defaultLimits });
  return createWorkspaces({
    git,
    places,
    kindOf: createKinds({ run, env, places, identityOf: git.identityOf }),
  });
}

/** The ports for starting agents. */
function agentPorts(env: NodeJS.ProcessEnv, places: Places, config: LiveConfig): NonNullable<CorePorts["agents"]> {
  const table = systemProcessTable();
  return {
    env,
    table,
    sandbox: bubblewrap({ commands: spawnCommands, env, gate: ownProgram("gate") }),
    tails: fileTails,
    harnesses: createHarnesses({
      ...{ env, places },
      defined: () => config.resolved().harnesses,
      allowed: () => config.resolved().agentsEnvironment,
    }),
    terminal: createTmux({
      ...{ socket: places.terminal, launcher: ownProgram("launcher"), table },
      folderOf: (run) => join(places.runs, run),
      record: join(places.runs, ".tmux-server.json"),
    }),
    processes: createProcesses({
      ...{ folder: places.runs, supervisor: supervisorCommand(ownFile("supervisor")), table },
      keepsSpare: true,
    }),
  };
}

/** The part of the daemon's environment that commands get. */
function inheritedFrom(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"].flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function forges(env: NodeJS.ProcessEnv, store: Store, config: LiveConfig, git: Git): ForgeOf {
  const openGithub = createOpenGithub({ env, now: systemClock.now });
  return createForges({
    git,
    choice: () => config.resolved().forge,
    github: (address) => {
      const { forgeHost, forgeApiUrl, forgeTokenEnv } = config.resolved();
      return openGithub(address, { host: forgeHost, apiUrl: forgeApiUrl, tokenEnv: forgeTokenEnv });
    },
    none: ({ name }) => noneForge(askedPullRequests({ store, clock: systemClock }, name)),
  });
}

function tickets(home: string, places: Places, config: LiveConfig, forgeOf: ForgeOf): TicketsOf {
  return createTicketsOf({
    clock: systemClock,
    forgeOf,
    files: ({ path }) => ticketFiles(join(path, ".tickets")),
    choice: ({ path }) => {
      const found = readRepositoryConfig(home, path);
      const repository = found !== undefined && mayCount(found, places) ? found.config : undefined;
      const resolved = resolveConfig({ repository, user: config.current().values });
      return { tickets: resolved.tickets.value, ticketsLabel: resolved.ticketsLabel.value };
    },
  });
}

interface PerformerPorts {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly notifier: Notifier;
  readonly signal: AbortSignal;
  readonly commands: Commands;
  folderOf(task: Task): Promise<string>;
  workflowOf(task: Task): Promise<Workflow>;
  portOf(task: Task): Promise<number | undefined>;
}

function performers(ports: PerformerPorts): Performers {
  const { env, home, notifier, signal, commands, folderOf, workflowOf, portOf } = ports;
  return {
    run_command: runCommand({
      ...{ commands, folderOf, home, signal },
      env: inheritedFrom(env),
      variablesOf: async (task) => portVariable(await portOf(task)),
    }),
    notify: notify({ notifier, workflowOf, outsideOf: async (task) => ({ port: String((await portOf(task)) ?? "") }) }),
  };
}

if (import.meta.main) {
  runDaemon(process.env, process.argv.includes("--foreground")).then(
    (code) => process.exit(code),
    (error) => {
      // The command line that started the daemon reads this.
      const fault = error instanceof Fault ? error : new Fault("daemon.error", String(error?.stack ?? error));
      process.stderr.write(`${JSON.stringify(errorBodyOf(fault))}\n`);
      process.exit(daemonExit.failed);
    },
  );
}
