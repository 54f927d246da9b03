import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/system.ts";
import { mergeableWork } from "../../src/daemon/task-work.ts";
import { human, startGitStage } from "./git-stage.ts";

test("a task gets a working copy on its branch, with its file in it and hidden from git", async () => {
  const { begin, repository, git, complaints } = await startGitStage();
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

test("uncommitted files of a task are saved before the next one gets the folder", async () => {
  const { begin, core, until, git, store, control } = await startGitStage();
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

/** Released workspaces are not parked. */
const unparked = {
  ...systemClock,
  after: (ms: number, run: () => void) => systemClock.after(ms === 1_000 ? 1e8 : ms, run),
};

test("a task with the branch name of a cancelled one begins at its base, in the folder that the other has just left", async () => {
  const stage = await startGitStage({ ports: { clock: unparked } });
  const { core, create, goOn, until, git, repository, control } = stage;
  await create("b1111", { branch: "try" });
  const first = await goOn("b1111");
  for (const name of ["rejected.md", "also.md"]) {
    writeFileSync(join(first.workspace, name), "rejected\n");
    git(first.workspace, "add", name);
    git(first.workspace, "commit", "-qm", "work");
  }
  const tip = git(first.workspace, "rev-parse", "HEAD");
  await core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  await create("b2222", { branch: "try" });
  const second = await goOn("b2222");
  expect(second.workspace).toBe(first.workspace);
  expect(git(second.workspace, "rev-parse", "HEAD")).toBe(git(repository, "rev-parse", "main"));
  expect(existsSync(join(second.workspace, "rejected.md"))).toBe(false);
  expect(git((await control()).folder, "rev-parse", "refs/signalbox/tasks/b1111")).toBe(tip);
});

test("a task that released its workspace finds its commits in the next one, whoever had that before", async () => {
  const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: rest }
  rest: { waits_for: human, next: again }
  again: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: rest, hooks: [release_workspace] }
  - { from: rest, to: again, hooks: [acquire_workspace] }
  - { from: again, to: done, hooks: [release_workspace] }
`;
  const { create, goOn, git } = await startGitStage({ flow, poolSize: 2, ports: { clock: unparked } });
  await create("b1111", { branch: "mine" });
  const { workspace } = await goOn("b1111");
  writeFileSync(join(workspace, "work.md"), "work\n");
  git(workspace, "add", "work.md");
  git(workspace, "commit", "-qm", "work");
  const tip = git(workspace, "rev-parse", "HEAD");
  await goOn("b1111");
  await create("b2222", { branch: "other" });
  expect((await goOn("b2222")).workspace).toBe(workspace);
  await goOn("b2222");
  expect((await goOn("b1111")).workspace).toBe(workspace);
  expect(git(workspace, "rev-parse", "mine")).toBe(tip);
  expect(readFileSync(join(workspace, "work.md"), "utf8")).toBe("work\n");
});

test("a released workspace is parked while no task waits for it, and files written late are saved", async () => {
  const { begin, core, until, git, store, control, complaints } = await startGitStage();
  const { workspace } = await begin("b1111");
  writeFileSync(join(workspace, "recipe.md"), "more beans\n");
  await core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  // A process that outlived its task.
  writeFileSync(join(workspace, "late.md"), "late\n");
  const branch = () => git(workspace, "rev-parse", "--abbrev-ref", "HEAD");
  while (branch() !== "HEAD" || existsSync(join(workspace, "late.md")))
    await new Promise((resolve) => setTimeout(resolve, 20));
  await expect.poll(() => git(workspace, "status", "--porcelain"), { timeout: 30_000 }).toBe("");
  expect(readFileSync(join(workspace, "recipe.md"), "utf8")).toBe("beans\n");
  expect((await store.workspaces.list({ project: "coffee" })).map(({ task }) => task)).toEqual([""]);
  const { folder } = await control();
  const saved = git(folder, "for-each-ref", "--format=%(refname)", "refs/signalbox/salvage").split("\n");
  const files = saved.map((ref) => git(folder, "ls-tree", "--name-only", ref));
  expect(files.some((names) => names.includes("late.md"))).toBe(true);
  const second = await begin("b2222");
  expect(second.workspace).toBe(workspace);
  expect(git(workspace, "branch", "--show-current")).toBe("signalbox/b2222");
  expect(complaints).toEqual([]);
});

test.for(["clone", "worktree"] as const)(
  "a free %s follows the project's branch when a task ends that asks for it",
  async (kind) => {
    const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [sync_idle_agents, release_workspace] }
`;
    const { create, goOn, git, repository, store } = await startGitStage({ flow, poolSize: 2, workspaces: kind });
    const begin = async (id: string) => {
      await create(id);
      return (await goOn(id)).workspace;
    };
    const [first, second] = [await begin("b1111"), await begin("b2222")];
    const head = (folder: string) => git(folder, "rev-parse", "HEAD");
    await goOn("b1111");
    await expect.poll(() => git(first, "rev-parse", "--abbrev-ref", "HEAD"), { timeout: 30_000 }).toBe("HEAD");
    writeFileSync(join(repository, "tip.md"), "new\n");
    git(repository, "add", "tip.md");
    git(repository, "commit", "-qm", "tip");
    expect(head(first)).not.toBe(head(repository));
    await goOn("b2222");
    await expect
      .poll(() => [head(first), head(second)], { timeout: 30_000 })
      .toEqual([head(repository), head(repository)]);
    const failed = (await store.listEvents({}, 0, 500)).filter(({ event }) => event.type === "effect.failed");
    expect(failed).toEqual([]);
  },
);

test("the agent's text in its file is evidence for the commit it was written on, and its frontmatter is the engine's", async () => {
  const { begin, core, until, git, store } = await startGitStage();
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

test("a branch that contains the task file is refused at the gate and at the merge, with a command that removes it", async () => {
  const { begin, core, git, store } = await startGitStage();
  const { workspace } = await begin("b1111");
  const file = join(workspace, "TASK.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n## Handoff\nDONE: brewed\n`);
  git(workspace, "add", "-f", "TASK.md");
  git(workspace, "commit", "-qm", "all of it");
  const { decision } = await core.submit("b1111", { kind: "move", to: "judged", actor: human });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "task-file-tracked" }] });
  const [task, project] = [(await store.getTask("b1111"))?.task, await store.getProject("coffee")];
  if (task === undefined || project === undefined || core.pools === undefined) throw new Error("There is no task.");
  const work = await mergeableWork(store, await core.pools.workspacesOf(project), project, task, true);
  const told = [JSON.stringify(decision), work.kind === "refused" ? work.reason : ""];
  const commands = told.map((text) => /git rm --cached \S+/.exec(text)?.[0]);
  expect(commands).toEqual(["git rm --cached TASK.md", "git rm --cached TASK.md"]);
  git(workspace, "rm", "-q", "--cached", "TASK.md");
  git(workspace, "commit", "-qm", "without it");
  expect(existsSync(file)).toBe(true);
  const again = await core.submit("b1111", { kind: "move", to: "judged", actor: human });
  expect(again.decision.kind).toBe("moved");
});

test("two tasks never get the same folder, and a third waits until one is free", async () => {
  const { begin, core, until, store } = await startGitStage({ poolSize: 2 });
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
  const stage = await startGitStage();
  rmSync(stage.repository, { recursive: true });
  execFileSync("git", ["init", "-q", "-b", "main", stage.repository]);
  const task = await stage.begin("b1111");
  expect(task.held?.reason).toMatch(/acquire_workspace failed: .*(commit|branch)/);
});
