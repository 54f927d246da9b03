import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RunView } from "../../src/api/agents.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView, TaskView } from "../../src/api/tasks.ts";
import { createAsk, type Daemon, startDaemon } from "../faults/daemon.ts";
import { createHome } from "../faults/home.ts";

export interface StageOptions {
  /** Instead of the built-in workflow `default`. */
  readonly flow?: string;
  /** Workflow files of the user by name; one with the name of a built-in workflow replaces it. */
  readonly workflows?: Readonly<Record<string, string>>;
  /** The repository has a remote, a bare repository beside it. */
  readonly remote?: boolean;
  /** The script of the agents; the built-in one where it is missing. */
  readonly script?: string;
  /** The user's settings for agents, as YAML between braces. */
  readonly agents?: string;
  /** Further variables for agents. */
  readonly variables?: readonly string[];
  /** The rest of the user's configuration. */
  readonly config?: string;
  readonly poolSize?: number;
  readonly workspaces?: "worktree" | "clone";
  /** Puts the home on a file system of its own of this size, such as 64m. */
  readonly homeSize?: string;
  /** Everything belongs to this user, who runs the daemon. Needs root. */
  readonly uid?: number;
  /** Replaces the scripted harness. */
  readonly harness?: string;
  /** Arguments of Node for the daemon. */
  readonly nodeArguments?: readonly string[];
  /** Further environment variables of the daemon. */
  env?(base: string): Readonly<Record<string, string>>;
}

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** A real daemon with a real repository, in which scripted agents work in real terminals. */
export async function startStage(options: StageOptions = {}) {
  const stage = await openStage(options);
  onTestFinished(stage.close);
  return stage;
}

/** The same, for callers that close it themselves. */
export async function openStage(options: StageOptions = {}) {
  const {
    flow,
    workflows = {},
    remote = false,
    script,
    agents = "",
    variables = [],
    config = "",
    poolSize = 4,
    workspaces,
    harness = "scripted",
    nodeArguments = [],
    env,
    homeSize,
    uid,
  } = options;
  const plain = createHome(() => workflows, { isEmpty: true });
  const { base, repository, places } = plain;
  if (homeSize !== undefined)
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${homeSize},mode=700`, "tmpfs", plain.folder]);
  if (flow !== undefined) {
    mkdirSync(places.workflows, { recursive: true });
    writeFileSync(join(places.workflows, "flow.yml"), flow);
  }
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  writeFileSync(join(repository, ".git", "HEAD"), "ref: refs/heads/main\n");
  appendFileSync(join(repository, ".git", "config"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");
  const origin = join(base, "origin.git");
  if (remote) {
    git(repository, "init", "--quiet", "--bare", "--initial-branch=main", origin);
    git(repository, "remote", "add", "origin", origin);
    git(repository, "push", "--quiet", "--set-upstream", "origin", "main");
  }
  // With it, agents and the programs that they call start twice as fast.
  const environment = ["NODE_COMPILE_CACHE", ...variables].join(", ");
  writeFileSync(places.config, `agents: { environment: [${environment}]${agents && `, ${agents}`} }\n${config}`);
  const scriptFile = join(base, "script.yml");
  if (script !== undefined) writeFileSync(scriptFile, script);
  const scripted = script === undefined ? {} : { SIGNALBOX_SCRIPT: scriptFile };
  const ofUser = uid === undefined ? {} : { uid };
  const home = { ...plain, ...ofUser, env: { ...plain.env, ...scripted, ...env?.(base) } };
  if (uid !== undefined) execFileSync("chown", ["-R", `${uid}:${uid}`, base]);
  let daemon: Daemon = await startDaemon(home, nodeArguments);
  const close = async () => {
    await daemon.kill();
    endTerminal();
    if (homeSize !== undefined) spawnSync("umount", ["-l", plain.folder]);
    home.remove();
  };
  const endTerminal = () => {
    try {
      execFileSync("tmux", ["-S", places.terminal, "kill-server"], { stdio: "ignore" });
    } catch {
      // There was no terminal server.
    }
  };
  const call = createAsk(home);
  await call(routes.addProject, {
    body: {
      ...{ path: repository, name: "coffee", harness, poolSize },
      ...(workspaces === undefined ? {} : { workspaces }),
      ...(harness === "scripted" ? {} : { fullPermissions: "allow" as const }),
    },
  });

  const task = async (id: string): Promise<TaskView> => (await call(routes.getTask, { params: { task: id } })).task;
  const events = async (id: string): Promise<readonly EventView[]> =>
    (await call(routes.listEvents, { query: { task: id, limit: "1000" } })).events;
  const runs = async (all = false): Promise<readonly RunView[]> =>
    (await call(routes.listRuns, { query: all ? { all: "true" } : {} })).runs;

  return {
    ...{ home, base, repository, origin, scriptFile, places, git, call, task, events, runs, endTerminal, close },
    daemon: () => daemon,
    /** Creates a task that starts immediately; returns its id. */
    async create(
      summary: string,
      more: { readonly branch?: string; readonly context?: string; readonly autostart?: boolean } = {},
    ) {
      const body = { project: "coffee", summary, ...more, ...(flow === undefined ? {} : { workflow: "flow" }) };
      return (await call(routes.createTask, { body })).task.id;
    },
    /** Waits until a condition holds for a task. */
    async until(id: string, isMet: (task: TaskView) => boolean, timeout = 120_000): Promise<TaskView> {
      return eventually(
        async () => {
          const now = await task(id);
          return isMet(now) ? now : undefined;
        },
        timeout,
        async () =>
          JSON.stringify(
            [await task(id), (await events(id)).slice(-8), (await runs(true)).slice(-3), daemon.said().slice(-9000)],
            undefined,
            1,
          ),
      );
    },
    async untilRun(isMet: (run: RunView) => boolean, all = false): Promise<RunView> {
      return eventually(
        async () => (await runs(all)).find(isMet),
        120_000,
        async () => JSON.stringify(await runs(true)),
      );
    },
    /** Runs a tmux command, as a person could. */
    tmux: (...args: readonly string[]) =>
      execFileSync("tmux", ["-S", places.terminal, ...args], { encoding: "utf8" }).trim(),
    /** Presses keys in an agent's window, as a person would. */
    press(run: RunView, ...keys: readonly string[]) {
      const panes = execFileSync("tmux", ["-S", places.terminal, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid}"], {
        encoding: "utf8",
      });
      const pane = panes
        .split("\n")
        .find((line) => line.endsWith(` ${run.pid}`))
        ?.split(" ")[0];
      if (pane !== undefined) execFileSync("tmux", ["-S", places.terminal, "send-keys", "-t", pane, ...keys]);
    },
    types: async (id: string) => (await events(id)).map(({ type }) => type),
    async killDaemon() {
      await daemon.kill();
    },
    async restart() {
      daemon = await startDaemon(home, nodeArguments);
    },
    /** The processes of a run, found by the task and the run in their environment. */
    processesOf: (taskId: string, run: string) => processesWith([`SIGNALBOX_TASK=${taskId}`, `SIGNALBOX_RUN=${run}`]),
    runFolder: (taskId: string, run: string) => join(places.runs, `${taskId}-${run.slice(run.indexOf("#") + 1)}`),
  };
}

/** Polls until there is an answer. */
export async function eventually<T>(
  ask: () => Promise<T | undefined>,
  timeout = 120_000,
  tell: () => Promise<string> = async () => "",
): Promise<T> {
  const end = Date.now() + timeout;
  for (;;) {
    const answer = await ask().catch((error) => {
      // The daemon may be stopping or starting.
      if (Date.now() > end) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`The condition was not met in time. ${await tell().catch(String)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The pids of live processes that were started with all of these in their environment. */
export function processesWith(entries: readonly string[]): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const found = readFileSync(`/proc/${name}/environ`, "latin1").split("\0");
      return entries.every((entry) => found.includes(entry)) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
