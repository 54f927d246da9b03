import { rmSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "./adapters/clock/system-clock.ts";
import { spawnCommands } from "./adapters/commands/spawn-commands.ts";
import { createOpenGithub } from "./adapters/forge/github/open-github.ts";
import { noneForge } from "./adapters/forge/none/none-forge.ts";
import { createGit } from "./adapters/git/create-git.ts";
import { createRunner, defaultLimits } from "./adapters/git/git-runner.ts";
import { createKinds } from "./adapters/git/workspace/create-kinds.ts";
import { randomIds } from "./adapters/ids/random-ids.ts";
import { createFileLog } from "./adapters/log/file-log.ts";
import { createStreamLog } from "./adapters/log/stream-log.ts";
import { createProcesses } from "./adapters/processes/create-processes.ts";
import { supervisorCommand } from "./adapters/processes/supervisor-command.ts";
import { systemProcessTable } from "./adapters/processes/system-process-table.ts";
import { fileTails } from "./adapters/tail/file-tails.ts";
import { createTmux } from "./adapters/terminal/tmux/create-tmux.ts";
import { ticketFiles } from "./adapters/tickets/ticket-files.ts";
import { errorBodyOf } from "./api/error.ts";
import { createHarnesses } from "./app-harnesses.ts";
import { notifierOf, notifyChannels } from "./app-notifiers.ts";
import { openStore } from "./app-store.ts";
import { startWatchdog, type Watchdog } from "./app-watchdog.ts";
import { ownFile, ownProgram } from "./daemon/agents/own-program.ts";
import { placeRunPrograms } from "./daemon/agents/run-programs.ts";
import { publishAgents } from "./daemon/agents-at-work.ts";
import { type CorePorts, createCore, type RunningCore } from "./daemon/create-core.ts";
import { notify } from "./daemon/effects/notify.ts";
import { runCommand } from "./daemon/effects/run-command.ts";
import { portVariable } from "./daemon/effects/run-in-workspace.ts";
import { askedPullRequests } from "./daemon/forge/asked-pull-requests.ts";
import { createForges, type ForgeOf } from "./daemon/forge/project-forge.ts";
import { guardStore } from "./daemon/guard-store.ts";
import { createHandlers } from "./daemon/handlers.ts";
import { createHomeGuard, type HomeGuard } from "./daemon/home-guard.ts";
import { type SocketListening, serveSocket, serveTcp } from "./daemon/http/serve.ts";
import { createWebDoor, type WebDoor } from "./daemon/http/web-door.ts";
import type { Performers } from "./daemon/perform.ts";
import { createStoreKeeper } from "./daemon/store-keeper.ts";
import { createTicketsOf, type TicketsOf } from "./daemon/tickets-of.ts";
import { createWorkspaces, type WorkspacesOf } from "./daemon/workspaces/project-workspaces.ts";
import type { Task } from "./engine/task.ts";
import type { Workflow } from "./engine/workflow.ts";
import { Fault } from "./fault.ts";
import { personsEnvironment, recordSurroundings, startedByAgent } from "./home/daemon-environment.ts";
import { ensureHumanToken } from "./home/human-token.ts";
import { createLiveConfig, type LiveConfig } from "./home/live-config.ts";
import { takeLock } from "./home/lock.ts";
import { makePrivateFolder } from "./home/make-folder.ts";
import { packageVersion } from "./home/package-version.ts";
import { homeFolder, homePlaces, type Places } from "./home/places.ts";
import { mayCount, readRepositoryConfig } from "./home/repository-config.ts";
import { resolveConfig } from "./home/resolve-config.ts";
import type { Commands } from "./ports/commands.ts";
import type { Git } from "./ports/git.ts";
import type { LeveledLog } from "./ports/log.ts";
import type { Notifier } from "./ports/notifier.ts";
import type { Store } from "./ports/store.ts";

/** What the daemon's process says with its exit code. */
export const daemonExit = { ok: 0, failed: 1, alreadyRunning: 75 } as const;

/** The daemon's process: takes the lock of its home, opens the store, listens, and goes on until it is told to stop. */
export async function runDaemon(env: NodeJS.ProcessEnv, isForeground: boolean): Promise<number> {
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
  // Whoever finds the lock held and no answer learns from this whose it is.
  writeFileSync(places.pid, `${process.pid}\n`, { mode: 0o600 });
  // One that an agent has started has the surroundings that a person gave to an earlier one.
  const isAgents = env[startedByAgent] !== undefined;
  if (!isAgents)
    recordSurroundings(places, { env: personsEnvironment(env), umask: process.umask(), nice: getPriority() });
  const log: LeveledLog = isForeground
    ? createStreamLog(process.stderr, "info")
    : createFileLog({ path: places.log, level: "info", now: systemClock.now });
  if (isAgents)
    log.warn(
      "An agent has started the daemon, which has no keys of yours. To give it some: signalbox down && signalbox up",
    );
  const stopping = new AbortController();
  const killing = new AbortController();
  const config = createLiveConfig(places.config, log, ({ port }) => {
    void web?.use(port);
    running?.configured();
  });
  let web: WebDoor | undefined;
  let running: RunningCore | undefined;
  let stored: Store | undefined;
  try {
    stored = await openStore(places);
  } finally {
    // Either it cannot be opened, or another daemon has it, which puts its own number back.
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
      return performers({ env, notifier, folderOf, workflowOf, portOf, commands, signal: killing.signal });
    },
    channels,
    commandEnvironment: inheritedFrom(env),
    signal: killing.signal,
    git,
    workspacesOf: workspaces(env, places, git, killing.signal),
    forgeOf,
    ticketsOf: tickets(home, places, config, forgeOf),
    agents,
    config: config.current,
    address: () => web?.address() ?? "",
    stop: () => setImmediate(() => stopping.abort()),
  });
  running = core;
  let socket: SocketListening | undefined;
  let guard: HomeGuard | undefined;
  let watchdog: Watchdog | undefined;
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
  try {
    // Whoever asks at once, such as the command that has started us, is not told that nobody has used anything.
    await core.agents?.book.open();
    const ports = { handlers: createHandlers(core), callers: core.callers, log, version };
    const placePrograms = () => placeRunPrograms(places, config.resolved().agentsAliases);
    const listen = async () => {
      socket?.leave();
      socket = await serveSocket(ports, places.socket);
    };
    await listen();
    guard = createHomeGuard({
      ...{ home, places, clock: systemClock, log, lock, pid: process.pid, listen, placePrograms },
      isListening: () => socket?.isInPlace() === true,
      lookAtStore: store.look,
      useToken: core.callers.useHuman,
      onHomeGone: () => {
        keeper.leave();
        stopping.abort();
      },
    });
    web = createWebDoor((port) => serveTcp(ports, port), log);
    await web.use(config.resolved().port);
    log.info("The daemon has started", { version, home, pid: process.pid });
    watchdog = startWatchdog(home, places, process.argv, log);
    placePrograms();
    guard.start();
    await publishAgents(core);
    keeper.start();
    await core.recover();
    await stopped;
    log.info("The daemon stops; agents go on");
  } finally {
    watchdog?.stop();
    await guard?.stop();
    await Promise.all([socket?.close(), web?.use(0)]);
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

function workspaces(env: NodeJS.ProcessEnv, places: Places, git: Git, signal: AbortSignal): WorkspacesOf {
  const run = createRunner({ env, signal, program: "git", limits: defaultLimits });
  return createWorkspaces({
    git,
    places,
    kindOf: createKinds({ run, places, identityOf: git.identityOf }),
  });
}

/** What agents are started with. */
function agentPorts(env: NodeJS.ProcessEnv, places: Places, config: LiveConfig): NonNullable<CorePorts["agents"]> {
  const table = systemProcessTable();
  return {
    env,
    table,
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

/** What commands may see of our own environment. */
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
  readonly notifier: Notifier;
  readonly signal: AbortSignal;
  readonly commands: Commands;
  folderOf(task: Task): Promise<string>;
  workflowOf(task: Task): Promise<Workflow>;
  portOf(task: Task): Promise<number | undefined>;
}

function performers(ports: PerformerPorts): Performers {
  const { env, notifier, signal, commands, folderOf, workflowOf, portOf } = ports;
  return {
    run_command: runCommand({
      commands,
      folderOf,
      env: inheritedFrom(env),
      variablesOf: async (task) => portVariable(await portOf(task)),
      signal,
    }),
    notify: notify({ notifier, workflowOf, outsideOf: async (task) => ({ port: String((await portOf(task)) ?? "") }) }),
  };
}

if (import.meta.main) {
  runDaemon(process.env, process.argv.includes("--foreground")).then(
    (code) => process.exit(code),
    (error) => {
      // The command line that started us reads this.
      const fault = error instanceof Fault ? error : new Fault("daemon.error", String(error?.stack ?? error));
      process.stderr.write(`${JSON.stringify(errorBodyOf(fault))}\n`);
      process.exit(daemonExit.failed);
    },
  );
}
