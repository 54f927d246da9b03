import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { spawnCommands } from "../../src/adapters/commands/spawn-commands.ts";
import { createGit } from "../../src/adapters/git/create-git.ts";
import { createRunner } from "../../src/adapters/git/git-runner.ts";
import { createClones, createWorktrees } from "../../src/adapters/git/workspace/create-kind.ts";
import { createMemoryStore } from "../../src/adapters/store/memory.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import { runCommand } from "../../src/daemon/effects/run-command.ts";
import { portVariable } from "../../src/daemon/effects/run-in-workspace.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { createWorkspaces } from "../../src/daemon/workspaces/project-workspaces.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import { trust } from "../../src/home/trust.ts";
import type { Log } from "../../src/ports/log.ts";
import type { StoredTask } from "../../src/ports/store.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: checked }
  checked:
    do: [run_tests]
    outcomes:
      - { on: ok, then: good }
      - { on: [tests, untested], then: busy }
  good: { waits_for: human, next: over }
  over: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: good, to: busy, by: human, hooks: [acquire_workspace, sync_repo] }
  - { from: good, to: over, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;
const human = { role: "human" };

/** The daemon's core with real git, real commands, and a repository "coffee" whose tasks are moved by hand. */
export async function startWorkspaceStage(poolSize = 1) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-settings-")));
  const repository = join(base, "coffee");
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  execFileSync("git", ["init", "-q", "-b", "main", repository]);
  put(join(repository, "recipe.md"), "beans\n");
  put(join(repository, ".gitignore"), ".env\nnode_modules/\nvendor/\n.signalbox/\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");

  const { workflow, problems } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, places.workspaces, places.control]) makePrivateFolder(folder);
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  const stopping = new AbortController();
  const adapter = createGit({ env });
  const run = createRunner({ env, signal: undefined, program: "git", limits: { short: 60_000, long: 60_000 } });
  const workspacesOf = createWorkspaces({
    git: adapter,
    places,
    kindOf: (project, control, kind) =>
      (kind === "clone" ? createClones : createWorktrees)({
        run,
        repository: project.path,
        control: control.folder,
        state: join(places.workspaces, `.${project.name}+${kind}`),
        trash: join(places.trash, project.name),
      }),
  });
  const complaints: unknown[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => complaints.push([message, fields]),
    with: () => log,
    close: async () => {},
  };
  const store = createMemoryStore();
  let values: PartialConfig = {};
  const start = () =>
    createCore({
      version: "1.0.0",
      home,
      store,
      clock: systemClock,
      ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
      log,
      commands: spawnCommands,
      humanToken: "sbh_x",
      performers: (folderOf, _, portOf) => ({
        run_command: runCommand({
          commands: spawnCommands,
          folderOf,
          env,
          variablesOf: async (task) => portVariable(await portOf(task)),
        }),
      }),
      commandEnvironment: env,
      signal: stopping.signal,
      git: adapter,
      workspacesOf,
      config: () => ({ values, problems: [] }),
      address: () => "",
      stop: () => {},
    });
  const core = start();
  onTestFinished(async () => {
    await core.close();
    rmSync(base, { recursive: true, force: true });
  });
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", createdAt: 0 };
  await store.addProject({ name: "coffee", path: repository, defaultBranch: "main", poolSize, ...settings });
  await core.workflows.keep(workflow, flow);
  const until = async (id: string, isSo: (stored: StoredTask) => boolean) => {
    for (let i = 0; i < 1_500; i++) {
      const stored = await store.getTask(id);
      if (stored !== undefined && isSo(stored)) return stored.task;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask(id))?.task)}`);
  };
  const atRest = ({ task }: StoredTask) => task.phase === "waiting" || task.phase === "over" || task.held !== undefined;
  const handlers = createHandlers(core);
  return {
    base,
    repository,
    places,
    store,
    core,
    git,
    adapter,
    put,
    complaints,
    until,
    workspacesOf,
    /** What the user's own configuration says. */
    say: (config: PartialConfig) => {
      values = config;
    },
    /** The repository's own file. */
    sayInRepository: (text: string) => put(join(repository, ".signalbox", "config.yml"), text),
    trust: (hash: string) => trust(places, hash, ""),
    /** Asks a route as a person would. */
    ask: (route: keyof typeof handlers, body: object = {}) =>
      handlers[route]?.(
        { params: { project: "coffee" }, query: {}, body, caller: { kind: "human" } } as never,
        {} as never,
      ),
    control: async () => (await workspacesOf((await store.getProject("coffee")) as never)).control.folder,
    move: async (id: string, to: string) => {
      const { decision } = await core.submit(id, { kind: "move", to, actor: human });
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      return until(id, atRest);
    },
    next: async (id: string) => {
      await core.submit(id, { kind: "continue", actor: human });
      return until(id, atRest);
    },
    async begin(id: string) {
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project: "coffee" } as never)), poolFull: false };
      const stored = await core.store.createTask("coffee", (number) => {
        const given = { ...blankIdentity, id, project: "coffee", number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, given, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        return { task, document: { text: "", authors: {} }, events, effects, at: systemClock.now() };
      });
      core.changed(stored);
      await until(id, atRest);
      await core.submit(id, { kind: "continue", actor: human });
      return until(id, (each) => each.task.status !== "todo" && atRest(each));
    },
  };
}
