import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeTask } from "../../src/daemon/make-task.ts";
import { diffTask } from "../../src/daemon/requests/diff-task.ts";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import { deleteEndedBranch, endedBranches, noteOwnBranch } from "../../src/daemon/workspaces/own-branches.ts";
import { cleanPools, forgetFiles, forgetRefs } from "../../src/daemon/workspaces/upkeep.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import type { Project } from "../../src/ports/store.ts";
import { type GitStageOptions, startGitStage } from "./git-stage.ts";

const day = 24 * 60 * 60 * 1000;

async function startStage(options: GitStageOptions = {}) {
  const stage = await startGitStage({ poolSize: 9, ...options });
  const { core, repository, git, store, places } = stage;
  const asked = (task: string, body: object) =>
    ({ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" }) as never;
  const project = async () => (await store.getProject("coffee")) as Project;
  const own = {
    project,
    async work(id: string, files: Readonly<Record<string, string>>, branch = `signalbox/${id}`) {
      await stage.create(id, { branch });
      const { workspace } = await stage.goOn(id);
      for (const [path, text] of Object.entries(files)) writeFileSync(join(workspace, path), text);
      git(workspace, "add", ...Object.keys(files));
      git(workspace, "commit", "-qm", "work");
      return workspace;
    },
    async merge(id: string) {
      expect(await mergeTask(core)(asked(id, {}))).toMatchObject({ state: "merged" });
      await stage.until(id, ({ isOpen }) => !isOpen);
    },
    diff: (id: string) => diffTask(core)(asked(id, {})),
    /** As `task create --branch` does for a new branch. */
    async claim(id: string, branch: string) {
      await noteOwnBranch((await stage.workspaces()).control, { id, branch }, git(repository, "rev-parse", "main"));
    },
    branches: () => git(repository, "branch", "--format=%(refname:short)").split("\n"),
    /** The branch of a merged task is deleted soon after. */
    async gone(branch: string) {
      for (let tries = 0; tries < 500 && own.branches().includes(branch); tries++)
        await new Promise((resolve) => setTimeout(resolve, 10));
      expect(own.branches()).not.toContain(branch);
    },
    async gc(isDry = false) {
      if (core.pools === undefined) throw new Error("There are no pools.");
      const lines = await cleanPools(core.pools, [await project()], isDry);
      return lines.filter(({ path }) => path.startsWith("the branch"));
    },
    /** Runs the upkeep that many days from now. */
    async upkeep(days: number) {
      if (core.pools === undefined) throw new Error("There are no pools.");
      const { clock, ...rest } = core.pools;
      const later = { ...rest, clock: { ...clock, now: () => clock.now() + days * day } };
      const { signal } = new AbortController();
      return [await forgetFiles(later, signal), await forgetRefs(later, await project(), signal)];
    },
    async refs() {
      const { folder } = (await stage.workspaces()).control;
      const all = execFileSync("git", ["-C", folder, "for-each-ref", "--format=%(refname)"]);
      return all
        .toString()
        .split("\n")
        .filter((ref) => /b\d{4}/.test(ref));
    },
    place(id: string) {
      const paths = [join(places.runs, `${id}-1`, "output"), join(places.logs, "setup", `${id}.log`)];
      for (const path of paths) {
        mkdirSync(join(path, ".."), { recursive: true });
        writeFileSync(path, "printed\n");
      }
      return paths;
    },
  };
  return { ...stage, ...own };
}

describe.each(["worktree", "clone"] as const)("with workspaces of kind %s", (kind) => {
  test("the branch of a merged task is deleted, and its diff is still shown", async () => {
    const { core, work, merge, gone, diff, repository, git } = await startStage();
    await core.store.updateProject("coffee", { workspaces: kind });
    const workspace = await work("b1111", { "cup.md": "full\n" });
    if (kind === "clone") git(repository, "fetch", "-q", workspace, "signalbox/b1111:signalbox/b1111");
    await merge("b1111");
    await gone("signalbox/b1111");
    expect((await diff("b1111")).committed.files).toMatchObject([{ path: "cup.md" }]);
  });
});

test("a new task does not silently continue a branch that an ended task has left in the repository", async () => {
  const { work, claim, move, core, git, repository } = await startStage({ workspaces: "worktree" });
  await work("b1111", { "rejected.md": "rejected\n" }, "try");
  await claim("b1111", "try");
  await move("b1111", "dropped");
  const again = { project: "coffee", summary: "Again", branch: "try", workflow: "minimal" };
  await expect(makeTask(core, again)).rejects.toThrow(
    '"try" is the branch of an earlier task. coffee#1 has ended, and 1 commit is not in "main". To continue them: signalbox task create --from b1111',
  );
  expect((await makeTask(core, { ...again, from: "b1111" })).task).toMatchObject({ branch: "try" });
  git(repository, "branch", "mine", "try");
  await expect(
    makeTask({ ...core, ids: { ...core.ids, task: () => "b9999" } }, { ...again, branch: "mine" }),
  ).resolves.toMatchObject({ task: { branch: "mine" } });
});

test("the branch of a merged task whose worktree was deleted is deleted immediately, with git's record of the worktree", async () => {
  const { work, core, merge, gone, repository, git } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  const stored = await core.store.getTask("b1111");
  if (stored !== undefined) await core.look(stored.task);
  rmSync(workspace, { recursive: true });
  await merge("b1111");
  await gone("signalbox/b1111");
  expect(git(repository, "worktree", "list", "--porcelain")).not.toContain("prunable");
});

test("a branch that existed before its task is kept after the merge; a branch made for the task is deleted", async () => {
  const { work, merge, branches, repository, git, claim, gc, gone } = await startStage();
  git(repository, "branch", "feature");
  await work("b1111", { "cup.md": "full\n" }, "feature");
  await merge("b1111");
  expect(await gc()).toEqual([]);
  expect(branches()).toContain("feature");
  // The daemon made this branch, under a requested name.
  await claim("b2222", "strong");
  await work("b2222", { "pot.md": "large\n" }, "strong");
  await merge("b2222");
  await gone("strong");
});

test("a branch that moved after the merge, or that the user has checked out, is kept, and gc says why", async () => {
  const { work, merge, branches, repository, git, gc, base } = await startStage({ workspaces: "worktree" });
  await work("b1111", { "cup.md": "full\n" });
  await work("b2222", { "pot.md": "large\n" });
  const [moved, checkedOut] = [join(base, "moved"), join(base, "checked-out")];
  // The user takes the branches over before they are merged.
  git(repository, "worktree", "add", "-q", "--force", moved, "signalbox/b1111");
  git(repository, "worktree", "add", "-q", "--force", checkedOut, "signalbox/b2222");
  await merge("b1111");
  await merge("b2222");
  writeFileSync(join(moved, "more.md"), "more\n");
  git(moved, "add", "-A");
  git(moved, "commit", "-qm", "more");
  expect(await gc()).toMatchObject([
    {
      what: "keep",
      path: "the branch signalbox/b2222",
      reason: expect.stringContaining(`checked out in ${checkedOut}`),
    },
    {
      what: "keep",
      path: "the branch signalbox/b1111",
      reason: expect.stringContaining("does not contain all of this branch"),
    },
  ]);
  expect(branches()).toEqual(expect.arrayContaining(["signalbox/b1111", "signalbox/b2222"]));
});

test("the branch of a cancelled task is deleted if it has no commit of its own; otherwise gc lists its commits", async () => {
  const { work, begin, create, goOn, move, branches, gc, gone, repository, git } = await startStage({
    workspaces: "worktree",
  });
  await work("b1111", { "cup.md": "full\n" });
  await begin("b2222");
  await move("b1111", "dropped");
  await move("b2222", "dropped");
  await gone("signalbox/b2222");
  // A branch that the user had before is kept, also without a commit of the task.
  git(repository, "branch", "mine");
  await create("b3333", { branch: "mine" });
  await goOn("b3333");
  await move("b3333", "dropped");
  const [full, ...others] = await gc(true);
  expect(full).toMatchObject({ what: "keep", path: "the branch signalbox/b1111" });
  expect(full?.reason).toMatch(
    /^coffee#1 has ended, and 1 commit is not in "main"\. .*task create --from b1111\. If you do not need it: git branch -D/,
  );
  expect(others).toEqual([]);
  await gc();
  expect(branches()).toEqual(expect.arrayContaining(["signalbox/b1111", "mine"]));
});

test("a task that ended long ago leaves no files or refs, and can still be shown and continued", async () => {
  const { work, merge, gone, place, upkeep, refs, diff, until } = await startStage();
  await work("b1111", { "cup.md": "full\n" });
  const files = place("b1111");
  await merge("b1111");
  await gone("signalbox/b1111");
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(await upkeep(29)).toEqual([0, 0]);
  expect(files.every((file) => existsSync(file))).toBe(true);
  expect(await refs()).toEqual(["refs/signalbox/began/b1111", "refs/signalbox/tasks/b1111"]);
  expect(await upkeep(31)).toEqual([2, 2]);
  expect(files.filter((file) => existsSync(file))).toEqual([]);
  expect(await refs()).toEqual([]);
  expect((await diff("b1111")).committed.files).toMatchObject([{ path: "cup.md" }]);
  expect(await upkeep(31)).toEqual([0, 0]);
});

test("unmerged, salvaged or open work, and work that an open task needs, is never deleted, however old it is", async () => {
  const { work, merge, move, place, upkeep, refs, store, begin } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  writeFileSync(join(workspace, "cup.md"), "not committed\n");
  await move("b1111", "dropped");
  await work("b2222", { "pot.md": "large\n" });
  await merge("b2222");
  await begin("b3333");
  await work("b4444", { "spoon.md": "one\n" });
  await merge("b4444");
  const pull = { id: "b4444", project: "coffee", task: "b4444", at: 0, number: 1, url: "x", state: "open" } as never;
  await store.pullRequests.put(pull);
  const open = place("b3333");
  const before = (await refs()).filter((ref) => ref.startsWith("refs/signalbox/"));
  await upkeep(4000);
  const after = await refs();
  expect(before.filter((ref) => !after.includes(ref))).toEqual([
    ...["refs/signalbox/began/b1111", "refs/signalbox/began/b2222", "refs/signalbox/tasks/b2222"],
  ]);
  expect(after.some((ref) => ref.startsWith("refs/signalbox/salvage/b1111/"))).toBe(true);
  expect(open.every((file) => existsSync(file))).toBe(true);
});

test("commits that an open subtask builds on are kept, however long ago its parent ended", async () => {
  const { work, merge, upkeep, refs, create } = await startStage();
  await work("b1111", { "cup.md": "full\n" });
  await create("b2222", { parent: "b1111" });
  await merge("b1111");
  await upkeep(4000);
  expect(await refs()).toContain("refs/signalbox/tasks/b1111");
});

test("a branch that another task has started to use meanwhile is kept; a deleted branch's commits are still known as its task's", async () => {
  const stage = await startStage({ workspaces: "worktree" });
  const { core, begin, move, create, branches, project, workspaces, gone, repository, git } = stage;
  if (core.pools === undefined) throw new Error("There are no pools.");
  await begin("b1111");
  await move("b1111", "dropped");
  await gone("signalbox/b1111");
  git(repository, "branch", "signalbox/b1111");
  const own = await workspaces();
  const [ended] = await endedBranches(core.pools, own, await project());
  if (ended === undefined) throw new Error("There is no such branch.");
  await create("b2222", { branch: "signalbox/b1111" });
  expect(await deleteEndedBranch(core.pools, own, ended)).toBe("coffee#2 works on it.");
  expect(branches()).toContain("signalbox/b1111");
  await move("b2222", "dropped");
  // The upkeep has deleted its collected refs.
  const collected = await own.control.commitAt(taskRef("b1111"));
  if (collected !== undefined) execFileSync("git", ["-C", own.control.folder, "update-ref", "-d", taskRef("b1111")]);
  expect(await deleteEndedBranch(core.pools, own, ended)).toBeUndefined();
  expect(branches()).not.toContain("signalbox/b1111");
  expect(await own.control.commitAt(taskRef("b1111"))).toBe(ended.commit);
});
