import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createGit } from "../../src/adapters/git/create-git.ts";
import { createRunner } from "../../src/adapters/git/git-runner.ts";
import { createWorktrees } from "../../src/adapters/git/workspace/create-kind.ts";
import { createMemoryStore } from "../../src/adapters/store/memory.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import { createWorkspaces } from "../../src/daemon/workspaces/project-workspaces.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Log } from "../../src/ports/log.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  judged: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace] }
  - { from: busy, to: judged, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;
const human = { role: "human" };

async function startStage(poolSize: number) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-pool-")));
  const repository = join(base, "coffee");
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  execFileSync("git", ["init", "-q", "-b", "main", repository]);
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");

  const { workflow } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error("The workflow of the test must load.");
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, places.workspaces, places.control]) makePrivateFolder(folder);
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
    warn() {},
    error: (message, fields) => complaints.push([message, fields]),
    with: () => log,
    close: async () => {},
  };
  const store = createMemoryStore();
  const core = createCore({
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
  });
  onTestFinished(async () => {
    await core.close();
    rmSync(base, { recursive: true, force: true });
  });
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", createdAt: 0 };
  await store.addProject({ name: "coffee", path: repository, defaultBranch: "main", poolSize, ...settings });
  await core.workflows.keep(workflow, flow);
  const until = async (id: string, isSo: (task: NonNullable<Awaited<ReturnType<typeof store.getTask>>>) => boolean) => {
    for (let i = 0; i < 1_000; i++) {
      const stored = await store.getTask(id);
      if (stored !== undefined && isSo(stored)) return stored.task;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask(id))?.task)}`);
  };
  return {
    repository,
    places,
    store,
    core,
    git,
    complaints,
    until,
    control: async () => (await workspacesOf((await store.getProject("coffee")) as never)).control,
    async begin(id: string) {
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project: "coffee" } as never)), poolFull: false };
      const stored = await core.store.createTask("coffee", (number) => {
        const given = { ...blankIdentity, id, project: "coffee", number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, given, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        const document = { text: "## Context\nStrong, please.\n", authors: {} };
        return { task, document, events, effects, at: systemClock.now() };
      });
      core.changed(stored);
      await until(id, ({ task }) => task.phase === "waiting");
      await core.submit(id, { kind: "continue", actor: human });
      return until(id, ({ task }) => task.phase === "waiting" || task.held !== undefined);
    },
  };
}

test("a task gets a working copy on its branch, with its file in it and hidden from git", async () => {
  const { begin, repository, git, complaints } = await startStage(1);
  const task = await begin("b1111");
  expect(task).toMatchObject({ status: "busy", phase: "waiting" });
  expect(readFileSync(join(task.workspace, "recipe.md"), "utf8")).toBe("beans\n");
  expect(git(task.workspace, "branch", "--show-current")).toBe("signalbox/b1111");
  const file = readFileSync(join(task.workspace, "TASK.md"), "utf8");
  expect(file).toContain("id: b1111");
  expect(file).toContain("Strong, please.");
  expect(git(task.workspace, "status", "--porcelain")).toBe("");
  expect(git(repository, "branch", "--show-current")).toBe("main");
  expect(complaints).toEqual([]);
});

test("what a task leaves behind is saved before the next one gets the folder", async () => {
  const { begin, core, until, git, store, control } = await startStage(1);
  const first = await begin("b1111");
  writeFileSync(join(first.workspace, "recipe.md"), "more beans\n");
  mkdirSync(join(first.workspace, "notes"));
  writeFileSync(join(first.workspace, "notes", "idea.md"), "cold brew\n");
  writeFileSync(join(first.workspace, "done.md"), "committed\n");
  git(first.workspace, "add", "done.md");
  git(first.workspace, "commit", "-qm", "work");
  const tip = git(first.workspace, "rev-parse", "HEAD");
  await core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ workspace: "" });
  expect((await store.workspaces.list({ project: "coffee" })).map(({ task }) => task)).toEqual([""]);

  const second = await begin("b2222");
  expect(second.workspace).toBe(first.workspace);
  expect(readFileSync(join(second.workspace, "recipe.md"), "utf8")).toBe("beans\n");
  expect(existsSync(join(second.workspace, "notes"))).toBe(false);
  const { folder } = await control();
  expect(git(folder, "rev-parse", "refs/signalbox/tasks/b1111")).toBe(tip);
  const [salvage = ""] = git(folder, "for-each-ref", "--format=%(refname)", "refs/signalbox/salvage/b1111").split("\n");
  expect(git(folder, "show", `${salvage}:notes/idea.md`)).toBe("cold brew");
  expect(git(folder, "show", `${salvage}:recipe.md`)).toBe("more beans");
});

test("what the agent writes into its file is evidence for the commit it was written on, and its frontmatter is ours", async () => {
  const { begin, core, until, git, store } = await startStage(1);
  const { workspace } = await begin("b1111");
  const file = join(workspace, "TASK.md");
  const ask = () => core.submit("b1111", { kind: "move", to: "judged", actor: human });
  expect((await ask()).decision).toMatchObject({ kind: "rejected", reasons: [{ code: "gate-missing" }] });
  writeFileSync(join(workspace, "cup.md"), "full\n");
  git(workspace, "add", "cup.md");
  git(workspace, "commit", "-qm", "cup");
  const forged = readFileSync(file, "utf8").replace("status: busy", "status: done");
  writeFileSync(file, `${forged}\n## Handoff\nDONE: brewed\n`);
  expect((await ask()).decision.kind).toBe("moved");
  await until("b1111", ({ task }) => task.status === "judged" && task.phase === "waiting");
  const [artifact] = await store.listArtifacts("b1111");
  expect(artifact).toMatchObject({ section: "Handoff", role: "worker", commit: git(workspace, "rev-parse", "HEAD") });
  for (let i = 0; i < 200 && !readFileSync(file, "utf8").includes("status: judged"); i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(readFileSync(file, "utf8")).toContain("status: judged");
  expect(readFileSync(file, "utf8")).toContain("DONE: brewed");
});

test("a branch that contains the task file is refused at the gate", async () => {
  const { begin, core, git } = await startStage(1);
  const { workspace } = await begin("b1111");
  const file = join(workspace, "TASK.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n## Handoff\nDONE: brewed\n`);
  git(workspace, "add", "-f", "TASK.md");
  git(workspace, "commit", "-qm", "all of it");
  const { decision } = await core.submit("b1111", { kind: "move", to: "judged", actor: human });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "task-file-tracked" }] });
});

test("two tasks never get the same folder, and a third waits until one is free", async () => {
  const { begin, core, until, store } = await startStage(2);
  const [a, b] = await Promise.all([begin("b1111"), begin("b2222")]);
  expect(a.workspace).not.toBe(b.workspace);
  const third = begin("b3333");
  await until("b3333", ({ task }) => task.status === "busy" || task.status === "todo");
  expect((await store.workspaces.list({ project: "coffee" })).length).toBe(2);
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  await third.catch(() => undefined);
  const stored = await store.getTask("b3333");
  if (stored?.task.status === "todo") await core.submit("b3333", { kind: "continue", actor: human });
  expect(await until("b3333", ({ task }) => task.workspace !== "")).toMatchObject({ workspace: a.workspace });
});

test("a repository without a commit holds the task, and says what to do", async () => {
  const stage = await startStage(1);
  rmSync(stage.repository, { recursive: true });
  execFileSync("git", ["init", "-q", "-b", "main", stage.repository]);
  const task = await stage.begin("b1111");
  expect(task.held?.reason).toMatch(/acquire_workspace failed: .*(commit|branch)/);
});
