import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createGit } from "../../src/adapters/git/create-git.ts";
import { createRunner } from "../../src/adapters/git/git-runner.ts";
import { createWorktrees } from "../../src/adapters/git/workspace/create-kind.ts";
import { createMemoryStore } from "../../src/adapters/store/memory.ts";
import { type CorePorts, createCore } from "../../src/daemon/create-core.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { createWorkspaces } from "../../src/daemon/workspaces/project-workspaces.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity, type TaskIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Log } from "../../src/ports/log.ts";
import type { Project, StoredTask } from "../../src/ports/store.ts";

// In memory where there is such a place: git makes everything last, and disks are slow at that.
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Everything that moves tasks, with a real repository `coffee` and real workspaces. People move the tasks. */
export async function gitStage(flow: string, options: { readonly poolSize?: number } & Partial<CorePorts> = {}) {
  const { poolSize = 1, ...ports } = options;
  const base = realpathSync(mkdtempSync(join(place, "signalbox-upkeep-")));
  const repository = join(base, "coffee");
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  execFileSync("git", ["init", "-q", "-b", "main", repository]);
  git(repository, "config", "user.name", "Ada");
  git(repository, "config", "user.email", "ada@example.org");
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");

  const { workflow, problems } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, dirname(places.socket), places.workspaces, places.control])
    makePrivateFolder(folder);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME };
  const workspacesOf = createWorkspaces({
    git: createGit({ env }),
    places,
    kindOf: (project, control) =>
      createWorktrees({
        run: createRunner({ env, signal: undefined, program: "git", limits: { short: 60_000, long: 60_000 } }),
        repository: project.path,
        control: control.folder,
        state: join(places.workspaces, `.${project.name}`),
        trash: join(places.trash, project.name),
      }),
  });
  const complaints: unknown[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (message, fields) => complaints.push([message, fields]),
    error: (message, fields) => complaints.push([message, fields]),
    with: () => log,
    close: async () => {},
  };
  const store = createMemoryStore();
  const start = () =>
    createCore({
      version: "1.0.0",
      home,
      store,
      clock: systemClock,
      ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
      log,
      commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
      humanToken: "sbh_x",
      performers: () => ({}),
      workspacesOf,
      config: () => ({ values: {}, problems: [] }),
      address: () => "",
      stop: () => {},
      ...ports,
    });
  const core = start();
  onTestFinished(async () => {
    await core.close();
    // Task files may still be on their way.
    rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", createdAt: 0 };
  await store.addProject({ name: "coffee", path: repository, defaultBranch: "main", poolSize, ...settings });
  await core.workflows.keep(workflow, flow);
  const until = async (id: string, isSo: (stored: StoredTask) => boolean) => {
    for (let i = 0; i < 1_000; i++) {
      const stored = await store.getTask(id);
      if (stored !== undefined && isSo(stored)) return stored.task;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask(id))?.task)}`);
  };
  const human = { role: "human", kind: "human" };
  const isAtRest = ({ task, isOpen }: StoredTask) => !isOpen || task.phase === "waiting" || task.held !== undefined;
  return {
    base,
    repository,
    places,
    store,
    core,
    start,
    git,
    complaints,
    until,
    workspaces: async () => workspacesOf((await store.getProject("coffee")) as Project),
    /** Creates a task, and lets it come to rest. */
    async create(id: string, identity: Partial<TaskIdentity> = {}, project = "coffee") {
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project } as never)), poolFull: false };
      const stored = await core.store.createTask(project, (number) => {
        const given = { ...blankIdentity, id, project, number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, { ...given, ...identity }, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        return { task, document: { text: "", authors: {} }, events, effects, at: systemClock.now() };
      });
      core.changed(stored);
      return until(id, isAtRest);
    },
    /** Moves a task as a person, and lets it come to rest there. */
    async move(id: string, to: string) {
      const { decision } = await core.submit(id, { kind: "move", to, actor: human });
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      return until(id, (stored) => stored.task.status === to && isAtRest(stored));
    },
    /** What a person gets who asks the daemon. */
    ask: (route: string, body: object, params: Readonly<Record<string, string>> = {}, query: object = {}) => {
      const asked = { params, query, body, caller: human, folder: "", lastEvent: "" };
      return createHandlers(core)[route]?.(asked as never, undefined as never) as Promise<never>;
    },
    /** What history says of effects that failed and that nothing depended on. */
    async notes(id: string) {
      const events = await store.listEvents({ task: id }, 0, 1_000);
      return events.flatMap(({ event }) => (event.type === "effect.failed" ? [String(event.data.reason)] : []));
    },
  };
}
