import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: kept }
  kept: { waits_for: human, next: done }
  named: { waits_for: human, next: done }
  made: { waits_for: human, next: done }
  begun: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: [busy, kept], to: kept, hooks: [harvest_uncommitted] }
  - { from: [todo, busy], to: named, hooks: [name_branch] }
  - { from: [todo, busy], to: made, hooks: [{ action: create_branch, name: "team/{slug} {id}" }] }
  - { from: busy, to: begun, hooks: [{ action: create_branch, name: "part", from: "big" }] }
  - { from: any, to: done, by: human, hooks: [release_workspace, delete_branch] }
`;

test("uncommitted changes are committed as the repository's git user, and the commit names the task", async () => {
  const { create, move, git } = await gitStage(flow);
  await create("b1111", { summary: "Brew stronger" });
  const { workspace } = await move("b1111", "busy");
  writeFileSync(join(workspace, "recipe.md"), "more beans\n");
  writeFileSync(join(workspace, "cup.md"), "full\n");
  expect(await move("b1111", "kept")).toMatchObject({ phase: "waiting" });
  expect(git(workspace, "log", "-1", "--format=%an <%ae>%n%B")).toBe(
    "Ada <ada@example.org>\nBrew stronger\n\nLeft uncommitted by the agent of task coffee#1 (b1111).",
  );
  expect(git(workspace, "show", "--name-only", "--format=")).toBe("cup.md\nrecipe.md");
  expect(git(workspace, "status", "--porcelain")).toBe("");
  const tip = git(workspace, "rev-parse", "HEAD");
  await move("b1111", "kept");
  expect(git(workspace, "rev-parse", "HEAD")).toBe(tip);
});

test("an unfinished merge holds the task, with the command that ends it", async () => {
  const { create, move, git, store } = await gitStage(flow);
  await create("b1111");
  const { workspace } = await move("b1111", "busy");
  git(workspace, "commit", "-q", "--allow-empty", "-m", "one");
  git(workspace, "branch", "-q", "side", "HEAD^");
  for (const [branch, text] of [
    ["side", "two\n"],
    ["signalbox/b1111", "one\n"],
  ] as const) {
    git(workspace, "checkout", "-q", branch);
    writeFileSync(join(workspace, "recipe.md"), text);
    git(workspace, "commit", "-qam", text);
  }
  expect(() => git(workspace, "merge", "side")).toThrow();
  const task = await move("b1111", "kept");
  expect(task.held?.reason).toMatch(/harvest_uncommitted failed: A merge is under way/);
  expect((await store.openEffects("b1111")).map(({ state }) => state)).toEqual(["failed"]);
});

test("a branch is named after the task and its labels, and a taken name gets a number", async () => {
  const { create, move, git, repository } = await gitStage(flow, { poolSize: 2 });
  git(repository, "branch", "fix/brew-stronger");
  await create("b1111", { summary: "Brew stronger!", labels: ["bug"] });
  const { workspace } = await move("b1111", "busy");
  const task = await move("b1111", "named");
  expect(task.branch).toBe("fix/brew-stronger-2");
  expect(git(workspace, "branch", "--show-current")).toBe("fix/brew-stronger-2");
  expect(git(repository, "branch", "--list", "signalbox/*")).toBe("");
  // Without a workspace only the task's record has the name, and no other task may use it.
  await create("b2222", { summary: "Brew stronger", labels: ["bug"] });
  expect(await move("b2222", "named")).toMatchObject({ branch: "fix/brew-stronger-3" });
  await create("b3333", { summary: "日本語", branch: "mine" });
  expect(await move("b3333", "named")).toMatchObject({ branch: "mine" });
  await create("b4444", { summary: "日本語" });
  expect(await move("b4444", "named")).toMatchObject({ branch: "feature/task" });
});

test("a branch name from a workflow is made valid for git, also after a crash in between", async () => {
  const { create, move, git, workspaces, repository } = await gitStage(flow, { workspaces: "worktree" });
  await create("b1111", { summary: "Brew Stronger" });
  const { workspace } = await move("b1111", "busy");
  const { kind } = await workspaces();
  await kind.renameBranch(workspace, "team/brew-stronger-b1111");
  expect(await move("b1111", "made")).toMatchObject({ branch: "team/brew-stronger-b1111", phase: "waiting" });
  expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main\nteam/brew-stronger-b1111");
});

test("a name below an existing branch is flattened", async () => {
  const { create, move, git, repository } = await gitStage(flow);
  git(repository, "branch", "team");
  await create("b1111", { summary: "Brew" });
  await move("b1111", "busy");
  expect(await move("b1111", "made")).toMatchObject({ branch: "team-brew-b1111", phase: "waiting" });
});

test("a branch moves to another start, unless it has commits", async () => {
  const { create, move, git, repository } = await gitStage(flow, { poolSize: 2 });
  git(repository, "checkout", "-qb", "big");
  git(repository, "commit", "-q", "--allow-empty", "-m", "big");
  const big = git(repository, "rev-parse", "big");
  git(repository, "checkout", "-q", "main");
  await create("b1111");
  const first = await move("b1111", "busy");
  expect(await move("b1111", "begun")).toMatchObject({ branch: "part", phase: "waiting" });
  expect(git(first.workspace, "rev-parse", "HEAD")).toBe(big);
  expect(git(first.workspace, "branch", "--show-current")).toBe("part");
  expect(git(repository, "branch", "--list", "signalbox/*")).toBe("");
  await create("b2222");
  const second = await move("b2222", "busy");
  git(second.workspace, "commit", "-q", "--allow-empty", "-m", "mine");
  const tip = git(second.workspace, "rev-parse", "HEAD");
  expect(await move("b2222", "begun")).toMatchObject({ branch: "part-2" });
  expect(git(second.workspace, "rev-parse", "part-2")).toBe(tip);
});

test("a branch is deleted once its work is saved, and the free workspace is detached from it", async () => {
  const stage = await gitStage(flow, { workspaces: "worktree" });
  const { create, move, git, repository, workspaces, notes, store } = stage;
  await create("b1111");
  const { workspace } = await move("b1111", "busy");
  git(workspace, "commit", "-q", "--allow-empty", "-m", "work");
  const tip = git(workspace, "rev-parse", "HEAD");
  await move("b1111", "done");
  expect(await notes("b1111")).toEqual([]);
  expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  const { control, kind } = await workspaces();
  expect(await control.commitAt("refs/signalbox/tasks/b1111")).toBe(tip);
  expect(await kind.inspect(workspace)).toMatchObject({ kind: "there", branch: undefined, head: tip });
  // The next task gets a clean folder.
  await create("b2222");
  expect(await move("b2222", "busy")).toMatchObject({ workspace, phase: "waiting" });
  expect((await store.workspaces.list({})).length).toBe(1);
});

test("a branch is kept, with a note, if a person has checked it out or has added commits", async () => {
  const { create, move, git, repository, notes } = await gitStage(flow, { workspaces: "worktree" });
  await create("b1111", { branch: "mine" });
  await move("b1111", "busy");
  await create("b2222", { branch: "main" });
  await move("b2222", "done");
  expect(await notes("b2222")).toEqual([expect.stringContaining("work goes into it")]);
  await create("b3333", { branch: "added-b3333" });
  git(repository, "checkout", "-qb", "added-b3333");
  git(repository, "commit", "-q", "--allow-empty", "-m", "by hand");
  git(repository, "checkout", "-q", "main");
  await move("b3333", "done");
  expect(await notes("b3333")).toEqual([expect.stringMatching(/"added-b3333" stays: its commits are not in main/)]);
  await create("b4444", { branch: "open-b4444" });
  git(repository, "checkout", "-qb", "open-b4444");
  await move("b4444", "done");
  expect(await notes("b4444")).toEqual([expect.stringContaining(`checked out in ${repository}`)]);
  // A branch that the person had before is never deleted.
  git(repository, "branch", "before");
  await create("b5555", { branch: "before" });
  await move("b5555", "done");
  expect(await notes("b5555")).toEqual([]);
  const left = ["added-b3333", "before", "main", "mine", "open-b4444"];
  expect(git(repository, "branch", "--format=%(refname:short)").split("\n")).toEqual(left);
});
