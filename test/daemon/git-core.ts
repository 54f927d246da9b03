import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/system.ts";
import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity, type TaskIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Project, StoredTask } from "../../src/ports/store.ts";
import type { Log } from "../../src/ports/system.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { realWorkspaces } from "../real-workspaces.ts";
import { removeFolder } from "../remove-folder.ts";

export const human = { role: "human" };

/** A repository with the first commit alone. */
let template: string | undefined;

afterAll(() => {
  if (template !== undefined) removeFolder(template);
  template = undefined;
});

function keepTemplate(repository: string): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-template-"));
  cpSync(repository, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

export interface GitCoreOptions {
  /** Part of the folder's name. */
  readonly name: string;
  readonly flow: string;
  readonly poolSize?: number;
  /** The kind of the project's workspaces; clones, as for a new project, where it is missing. */
  readonly workspaces?: Project["workspaces"];
  /** Files of the first commit besides `recipe.md`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether warnings are collected as complaints too. */
  readonly isStrict?: boolean;
  /** Replaces the defaults. */
  readonly ports?: Partial<CorePorts>;
}

/** A core with a real repository "coffee" and real workspaces. People move the tasks. */
export async function startGitCore(options: GitCoreOptions) {
  const { name, flow, poolSize = 1, workspaces = "clone", files = {}, isStrict = false, ports } = options;
  const base = realpathSync(mkdtempSync(join(tmpdir(), `signalbox-${name}-`)));
  const repository = join(base, "coffee");
  const git = (folder: string, ...args: readonly string[]) => {
    // The workspace of a task that has none: git would take the current folder, which is the repository of these tests.
    if (folder === "") throw new Error("git needs a folder");
    return execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  };
  // Made once for each file of tests and copied: that takes a fifth of the time.
  const isPlain = Object.keys(files).length === 0;
  if (isPlain && template !== undefined) cpSync(template, repository, { recursive: true, preserveTimestamps: true });
  else {
    execFileSync("git", ["init", "-q", "-b", "main", "--template=", repository]);
    appendFileSync(join(repository, ".git", "config"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
    for (const [path, text] of Object.entries({ "recipe.md": "beans\n", ...files })) put(join(repository, path), text);
    git(repository, "add", "-A");
    git(repository, "commit", "-qm", "first");
    if (isPlain) template = keepTemplate(repository);
  }

  const { workflow, problems } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, dirname(places.socket), places.workspaces, places.control])
    makePrivateFolder(folder);
  const real = realWorkspaces(places);
  const complaints: unknown[] = [];
  const complain: Log["error"] = (message, fields) => complaints.push([message, fields]);
  const log: Log = {
    debug() {},
    info() {},
    warn: isStrict ? complain : () => {},
    error: complain,
    with: () => log,
    close: async () => {},
  };
  const store = createMemoryStore();
  /** Another daemon on the same store; `at` is the home's new path. */
  const start = (at = home) =>
    createCore({
      version: "1.0.0",
      home: at,
      store,
      clock: systemClock,
      ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
      log,
      commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
      humanToken: "sbh_x",
      performers: () => ({}),
      ...(at === home ? real : realWorkspaces(homePlaces(at))),
      config: () => ({ values: {}, problems: [] }),
      stop: () => {},
      ...ports,
    });
  const core = start();
  onTestFinished(async () => {
    await core.close();
    removeFolder(base);
  });
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", workspaces, createdAt: 0 };
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
  return {
    ...{ base, repository, places, store, core, start, git, put, complaints, until },
    adapter: real.git,
    workspacesOf: real.workspacesOf,
    workspaces: async () => real.workspacesOf((await store.getProject("coffee")) as Project),
    /** Creates a task, and waits until it has settled. */
    async create(id: string, { context = "", ...identity }: Partial<TaskIdentity> & { context?: string } = {}) {
      const { project = "coffee" } = identity;
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project } as never)), poolFull: false };
      const stored = await core.store.createTask(project, (number) => {
        const given = { ...blankIdentity, id, project, number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, { ...given, ...identity }, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        const document = { text: context === "" ? "" : `## Context\n${context}\n`, authors: {} };
        return { task, document, events, effects, at: systemClock.now() };
      });
      core.changed(stored);
      return until(id, isAtRest);
    },
    /** Continues a task that waits for a person, and waits until it has settled. It may be back by then. */
    async goOn(id: string) {
      const entry = (await store.getTask(id))?.task.entry;
      await core.submit(id, { kind: "continue", actor: human });
      return until(id, (stored) => stored.task.entry !== entry && isAtRest(stored));
    },
    /** Moves a task as a person, and waits until it has settled. */
    async move(id: string, to: string) {
      const { decision } = await core.submit(id, { kind: "move", to, actor: human });
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      return until(id, isAtRest);
    },
  };
}

export function isAtRest({ task, isOpen }: StoredTask): boolean {
  return !isOpen || task.phase === "waiting" || task.held !== undefined;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
