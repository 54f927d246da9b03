import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitStage, mergedFlow } from "./upkeep-stage.ts";

type Fetched = { branch: string; commit: string; repository: string; how: string };

/** A stage with one task at work in a clone. */
async function atWork(workspaces: "worktree" | "clone" = "clone") {
  const stage = await gitStage(mergedFlow, { workspaces });
  const { git, repository } = stage;
  await stage.create("b1111");
  const { workspace } = await stage.move("b1111", "busy");
  return {
    ...stage,
    commit(name: string) {
      writeFileSync(join(workspace, name), "full\n");
      git(workspace, "add", name);
      git(workspace, "commit", "-qm", name);
      return git(workspace, "rev-parse", "HEAD");
    },
    fetch: (body: object = {}): Promise<Fetched> => stage.ask("fetchTask", body, { task: "b1111" }),
    mine: (...args: readonly string[]) => git(repository, ...args),
  };
}

test("a task's commits come into the user's repository as a branch, and newer ones fast-forward it", async () => {
  const { commit, fetch, mine, repository } = await atWork();
  const first = commit("cup.md");
  expect(() => mine("cat-file", "-e", first)).toThrow();
  const branch = "signalbox/b1111";
  expect(await fetch()).toEqual({ branch, commit: first, repository, how: "created" });
  expect(mine("log", "--format=%s", `main..${branch}`)).toBe("cup.md");
  expect(mine("status", "--porcelain")).toBe("");
  const second = commit("pot.md");
  expect(await fetch()).toMatchObject({ commit: second, how: "forwarded" });
  expect(await fetch()).toMatchObject({ commit: second, how: "there" });
  expect(mine("rev-parse", branch)).toBe(second);
});

test("work that was fetched and merged by hand counts as merged, and its branch is deleted", async () => {
  const { commit, fetch, mine, move, until } = await atWork();
  commit("cup.md");
  await fetch();
  mine("merge", "-q", "--no-ff", "--no-edit", "signalbox/b1111");
  await move("b1111", "done");
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "done" });
  await expect.poll(() => mine("branch", "--format=%(refname:short)"), { timeout: 10_000 }).toBe("main");
});

test("a branch that has diverged, or that work is merged into, is never moved; another name can be given", async () => {
  const { commit, fetch, mine } = await atWork();
  const work = commit("cup.md");
  mine("checkout", "-qb", "signalbox/b1111");
  mine("commit", "-q", "--allow-empty", "-m", "by hand");
  mine("checkout", "-q", "main");
  await expect(fetch()).rejects.toMatchObject({
    message: `Your "signalbox/b1111" and the task's saved work have diverged.`,
    hint: "Fetch it under another name: signalbox task fetch b1111 --as NAME",
  });
  await expect(fetch({ as: "main" })).rejects.toMatchObject({ code: "task.invalid" });
  await expect(fetch({ as: "a..b" })).rejects.toMatchObject({ code: "task.invalid" });
  expect(await fetch({ as: "strong" })).toMatchObject({ branch: "strong", commit: work, how: "created" });
  expect(mine("log", "-1", "--format=%s", "signalbox/b1111")).toBe("by hand");
});

test("the work of a cancelled task can be fetched; a worktree's branch is there already", async () => {
  const clone = await atWork();
  const work = clone.commit("cup.md");
  await clone.move("b1111", "dropped");
  expect(await clone.fetch()).toMatchObject({ commit: work, how: "created" });
  const worktree = await atWork("worktree");
  worktree.commit("cup.md");
  expect(await worktree.fetch()).toMatchObject({ how: "there" });
});
