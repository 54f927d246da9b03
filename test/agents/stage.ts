import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RunView } from "../../src/api/agent-wires.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView, TaskView } from "../../src/api/task-wires.ts";
import { createAsk, type Daemon, startDaemon } from "../faults/daemon.ts";
import { createHome } from "../faults/home.ts";

export interface StageOptions {
  /** Instead of the built-in workflow `default`. */
  readonly flow?: string;
  /** Files of the user's own workflows by their names; one that is called like a built-in one takes its place. */
  readonly workflows?: Readonly<Record<string, string>>;
  /** The repository has a remote, a bare repository beside it. */
  readonly remote?: boolean;
  /** What the agents do; what is built in where nothing is said. */
  readonly script?: string;
  /** What the user configures for agents, as it stands between the braces. */
  readonly agents?: string;
  /** Variables that agents get besides. */
  readonly variables?: readonly string[];
  /** The rest of the user's configuration. */
  readonly config?: string;
  readonly poolSize?: number;
  readonly workspaces?: "worktree" | "clone";
  /** Puts the home on a file system of its own that has this much room, such as 64m. */
  readonly homeSize?: string;
  /** Instead of the scripted one. */
  readonly harness?: string;
  /** What the daemon is started with besides. */
  env?(base: string): Readonly<Record<string, string>>;
}

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** A real daemon with a real repository, in which scripted agents work in real terminals. */
export async function startStage(options: StageOptions = {}) {
  const stage = await openStage(options);
  onTestFinished(stage.close);
  return stage;
}

/** The same, for whoever takes it away again. */
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
    env,
    homeSize,
  } = options;
  const plain = createHome(() => workflows);
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
  git(repository, "symbolic-ref", "HEAD", "refs/heads/main");
  git(repository, "config", "user.name", "Ada");
  git(repository, "config", "user.email", "ada@example.org");
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");
  const origin = join(base, "origin.git");
  if (remote) {
    git(repository, "init", "--quiet", "--bare", "--initial-branch=main", origin);
    git(repository, "remote", "add", "origin", origin);
    git(repository, "push", "--quiet", "--set-upstream", "origin", "main");
  }
  // Agents and what they call start twice as fast with it.
  const environment = ["NODE_COMPILE_CACHE", ...variables].join(", ");
  writeFileSync(places.config, `agents: { environment: [${environment}]${agents && `, ${agents}`} }\n${config}`);
  const scriptFile = join(base, "script.yml");
  if (script !== undefined) writeFileSync(scriptFile, script);
  const scripted = script === undefined ? {} : { SIGNALBOX_SCRIPT: scriptFile };
  const home = { ...plain, env: { ...plain.env, ...scripted, ...env?.(base) } };
  let daemon: Daemon = await startDaemon(home);
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
      // There was none.
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
    /** Creates a task that starts at once; gives its id. */
    async create(
      summary: string,
      more: { readonly branch?: string; readonly context?: string; readonly autostart?: boolean } = {},
    ) {
      const body = { project: "coffee", summary, ...more, ...(flow === undefined ? {} : { workflow: "flow" }) };
      return (await call(routes.createTask, { body })).task.id;
    },
    /** Waits until something is so of a task. */
    async until(id: string, isSo: (task: TaskView) => boolean, patience = 120_000): Promise<TaskView> {
      return eventually(
        async () => {
          const now = await task(id);
          return isSo(now) ? now : undefined;
        },
        patience,
        async () =>
          JSON.stringify(
            [await task(id), (await events(id)).slice(-8), (await runs(true)).slice(-3), daemon.said().slice(-9000)],
            undefined,
            1,
          ),
      );
    },
    async untilRun(isSo: (run: RunView) => boolean, all = false): Promise<RunView> {
      return eventually(
        async () => (await runs(all)).find(isSo),
        120_000,
        async () => JSON.stringify(await runs(true)),
      );
    },
    /** Asks the terminal server, as a person could. */
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
      daemon = await startDaemon(home);
    },
    /** Processes that were started for a run: `worker#1` of a task has this in its environment. */
    processesOf: (taskId: string, run: string) => processesWith([`SIGNALBOX_TASK=${taskId}`, `SIGNALBOX_RUN=${run}`]),
    runFolder: (taskId: string, run: string) => join(places.runs, `${taskId}-${run.slice(run.indexOf("#") + 1)}`),
  };
}

/** Asks until there is an answer. */
export async function eventually<T>(
  ask: () => Promise<T | undefined>,
  patience = 120_000,
  tell: () => Promise<string> = async () => "",
): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await ask().catch((error) => {
      // The daemon may be on its way down or up.
      if (Date.now() > end) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`It did not come to that. ${await tell().catch(String)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The pids of living processes that were started with all of these in their environment. */
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
