import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../../src/ports/records.ts";
import { gitStage, mergedFlow } from "./upkeep-stage.ts";

interface Moved {
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  readonly way: string;
  readonly tasks: readonly string[];
  readonly isKnown: boolean;
  readonly blocks: boolean;
}

/** A user on the branch "mine", with "main" and "feature" besides, and agents at work in these tasks. */
async function atWork({ tasks = ["b1111"], kind = "worktree" as "worktree" | "clone" } = {}) {
  const stage = await gitStage(mergedFlow, { workspaces: kind, poolSize: 4 });
  const { git, repository, store, core, ask } = stage;
  const commit = (folder: string, name: string) => {
    writeFileSync(join(folder, name), `${name}\n`);
    git(folder, "add", name);
    git(folder, "commit", "-qm", name);
    return git(folder, "rev-parse", "HEAD");
  };
  const mine = (...args: readonly string[]) => git(repository, ...args);
  // Not made by switching to it: in a fast test that would be in the same second as what an agent does.
  mine("checkout", "-q", "--detach");
  mine("branch", "feature", commit(repository, "feature.md"));
  mine("checkout", "-qb", "mine", "main");
  const folders: Record<string, string> = {};
  /** As if an agent had been started. */
  const putRun = (id: string, rest: Partial<Run>) =>
    core.store.runs.put({
      ...{ id: `${id} worker#1`, project: "coffee", task: id, at: Date.now(), key: "worker#1", role: "worker" },
      ...{ harness: "scripted", model: "", session: "", folder: "", pid: 0, endedAt: undefined, word: "" },
      ...rest,
    });
  for (const id of tasks) {
    await stage.create(id);
    folders[id] = (await stage.move(id, "busy")).workspace;
    await putRun(id, {});
  }
  const look = async (id = tasks[0] ?? "") => {
    const stored = await core.store.getTask(id);
    if (stored !== undefined) await core.look(stored.task);
  };
  return {
    ...{ ...stage, mine, commit, folders, look, putRun },
    folder: folders[tasks[0] ?? ""] ?? "",
    agent: (...args: readonly string[]) => git(folders[tasks[0] ?? ""] ?? "", ...args),
    /** The moved branches, after the daemon has looked at the agent's work. */
    async moved(): Promise<readonly Moved[]> {
      await look();
      const { branches } = (await ask("movedBranches", {}, { project: "coffee" })) as { branches: readonly Moved[] };
      return branches;
    },
    settle: (branch: string, decision: string): Promise<Moved> =>
      ask("settleBranch", { branch, decision }, { project: "coffee" }),
    merge: (id: string): Promise<{ state: string; reason: string }> => ask("mergeTask", {}, { task: id }),
    async need(id: string) {
      const { task } = (await ask("explainTask", {}, { task: id })) as {
        task: { needs: readonly { reason: string; text: string; command: string }[] };
      };
      return task.needs.find(({ reason }) => reason === "workspace");
    },
    events: async (id: string) =>
      (await store.listEvents({ task: id }, 0, 100)).flatMap(({ event }) =>
        event.type === "branch.moved" ? [event] : [],
      ),
    check: async () =>
      ((await ask("check", {})) as { branches: readonly { reason: string; fix: string; isNote: boolean }[] }).branches,
    warnings: async (id: string) =>
      ((await ask("explainTask", {}, { task: id })) as { warnings: readonly string[] }).warnings,
  };
}

test("a branch that an agent deletes with its commits is reported, kept, and restored with one command", async () => {
  const { agent, mine, moved, need, events, settle, check, workspaces, warnings, merge, commit, folder } =
    await atWork();
  commit(folder, "cup.md");
  const before = mine("rev-parse", "feature");
  agent("branch", "-qD", "feature");
  expect(await moved()).toMatchObject([
    { branch: "feature", before, after: "", way: "deleted", tasks: ["b1111"], isKnown: false, blocks: false },
  ]);
  // Git does not record who deleted it, so nobody is called, and merges go on.
  expect(await need("b1111")).toBeUndefined();
  expect(await warnings("b1111")).toEqual([
    `Your branch "feature" was deleted. It was at ${before.slice(0, 10)}. That was while agents worked in worktrees of the repository. Git does not record who did it; it may have been you. Its commits are kept.
Restore it: signalbox project branches coffee --restore feature
Or leave it as it is: signalbox project branches coffee --accept feature`,
  ]);
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect(await events("b1111")).toMatchObject([{ data: { branch: "feature", before, after: "" } }]);
  expect(await check()).toMatchObject([{ reason: expect.stringContaining('"feature" was deleted'), isNote: true }]);
  const { control } = await workspaces();
  expect(await control.isAncestor(before, before)).toBe(true);
  // Even if the user's repository has lost the commit.
  mine("reflog", "expire", "--expire=now", "--all");
  mine("gc", "-q", "--prune=now");
  expect(await settle("feature", "restore")).toMatchObject({ branch: "feature", before });
  expect(mine("rev-parse", "feature")).toBe(before);
  expect(mine("status", "--porcelain")).toBe("");
  expect(await moved()).toEqual([]);
  expect(await need("b1111")).toBeUndefined();
});

test("a branch that an agent moves back or to its own commits is reported with the task that made them", async () => {
  const { agent, mine, moved, commit, folder, settle, need } = await atWork({ tasks: ["b1111", "b2222"] });
  const before = mine("rev-parse", "feature");
  agent("branch", "-qf", "feature", "main");
  expect(await moved()).toMatchObject([{ branch: "feature", before, way: "back", tasks: ["b1111", "b2222"] }]);
  const work = commit(folder, "cup.md");
  agent("update-ref", "refs/heads/feature", work);
  expect(await moved()).toMatchObject([
    { before, after: work, way: "apart", tasks: ["b1111"], isKnown: true, blocks: true },
  ]);
  expect(await need("b1111")).toMatchObject({
    text: expect.stringContaining('Your branch "feature" was moved from'),
    command: "signalbox project branches coffee --restore feature",
  });
  expect(await need("b2222")).toBeUndefined();
  await settle("feature", "accept");
  expect(await moved()).toEqual([]);
  expect(mine("rev-parse", "feature")).toBe(work);
});

test("a main that no checkout has and that an agent moves to its work does not count as a merge, and takes no other", async () => {
  const { agent, mine, moved, commit, folder, folders, move, merge, settle, need } = await atWork({
    tasks: ["b1111", "b2222"],
  });
  const before = mine("rev-parse", "main");
  const work = commit(folder, "cup.md");
  commit(folders.b2222 ?? "", "pot.md");
  agent("update-ref", "refs/heads/main", work);
  await expect(move("b1111", "done")).rejects.toThrow();
  expect(await moved()).toMatchObject([{ branch: "main", before, after: work, way: "forward", tasks: ["b1111"] }]);
  expect((await need("b1111"))?.text).toContain(
    "without a merge of Signalbox. That was done in the worktree of b1111, or the new commit was made there.",
  );
  for (const id of ["b1111", "b2222"]) {
    const answer = await merge(id);
    expect(answer.state).toBe("refused");
    expect(answer.reason).toContain("signalbox project branches coffee --restore main");
  }
  await settle("main", "restore");
  expect(mine("rev-parse", "main")).toBe(before);
  expect(await merge("b1111")).toMatchObject({ state: "merged", reason: "" });
  expect(await merge("b2222")).toMatchObject({ state: "merged" });
  expect(await moved()).toEqual([]);
});

test("what the user does in a checkout is not reported: commits, amends, resets, rebases, merges of a task's branch", async () => {
  const { mine, commit, repository, moved, folder, events } = await atWork();
  mine("checkout", "-q", "feature");
  commit(repository, "more.md");
  expect(await moved()).toEqual([]);
  mine("commit", "-q", "--amend", "-m", "amended");
  expect(await moved()).toEqual([]);
  mine("reset", "-q", "--hard", "HEAD~1");
  expect(await moved()).toEqual([]);
  mine("checkout", "-q", "main");
  commit(repository, "main.md");
  mine("rebase", "-q", "main", "feature");
  expect(await moved()).toEqual([]);
  commit(folder, "cup.md");
  mine("checkout", "-q", "main");
  mine("merge", "-q", "--no-edit", "signalbox/b1111");
  mine("checkout", "-qB", "feature", "main");
  expect(await moved()).toEqual([]);
  mine("checkout", "-q", "main");
  mine("branch", "-q", "spare", "main~1");
  expect(await moved()).toEqual([]);
  mine("branch", "-qD", "spare");
  expect(await moved()).toEqual([]);
  expect(await events("b1111")).toEqual([]);
});

test("the daemon's own merges and deletions, an agent's own branch and its new names are not reported", async () => {
  const { agent, commit, folder, moved, merge, mine } = await atWork({ tasks: ["b1111", "b2222"] });
  commit(folder, "cup.md");
  agent("commit", "-q", "--amend", "-m", "better");
  expect(await moved()).toEqual([]);
  agent("branch", "-m", "strong-coffee");
  expect(await moved()).toEqual([]);
  agent("reset", "-q", "--hard", "main");
  commit(folder, "pot.md");
  expect(await moved()).toEqual([]);
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  await expect.poll(() => mine("branch", "--list", "strong-coffee"), { timeout: 10_000 }).toBe("");
  expect(await moved()).toEqual([]);
});

test("a branch that is put back by hand is reported no more; one that has moved on, or whose files are checked out, is not restored", async () => {
  const { agent, mine, moved, settle, repository } = await atWork();
  const before = mine("rev-parse", "feature");
  agent("branch", "-qf", "feature", "main");
  expect(await moved()).toHaveLength(1);
  mine("branch", "-qf", "feature", before);
  expect(await moved()).toEqual([]);
  agent("branch", "-qf", "feature", "main");
  expect(await moved()).toHaveLength(1);
  mine("checkout", "-q", "feature");
  await expect(settle("feature", "restore")).rejects.toMatchObject({
    code: "git.checked-out-elsewhere",
    hint: `Move it there, with its files: git -C ${repository} reset --keep ${before}`,
  });
  mine("reset", "-q", "--keep", before);
  expect(await moved()).toEqual([]);
  await expect(settle("feature", "restore")).rejects.toMatchObject({
    hint: expect.stringContaining("project branches"),
  });
});

test("a branch that is checked out and left behind is restored without touching the files", async () => {
  const { agent, mine, moved, settle, commit, folder, repository } = await atWork();
  mine("checkout", "-q", "feature");
  const before = mine("rev-parse", "feature");
  writeFileSync(join(repository, "feature.md"), "not committed yet\n");
  const work = commit(folder, "cup.md");
  agent("update-ref", "refs/heads/feature", work);
  expect(await moved()).toMatchObject([{ before, after: work }]);
  await settle("feature", "restore");
  expect(mine("rev-parse", "feature")).toBe(before);
  expect(mine("status", "--porcelain")).toBe("M feature.md");
});

test("an agent in a clone cannot move the user's branches, and nothing is reported", async () => {
  const { agent, mine, moved, commit, folder } = await atWork({ kind: "clone" });
  const before = mine("for-each-ref", "refs/heads");
  agent("branch", "-qf", "main", commit(folder, "cup.md"));
  agent("update-ref", "refs/heads/feature", "HEAD");
  expect(mine("for-each-ref", "refs/heads")).toBe(before);
  mine("branch", "-qD", "feature");
  expect(await moved()).toEqual([]);
});

test("moves while no agent works are the user's, also to a task's commits and after a run has ended", async () => {
  const { mine, moved, commit, folder, putRun, events, merge } = await atWork();
  await putRun("b1111", { at: Date.now() - 60_000, endedAt: Date.now() - 30_000 });
  commit(folder, "cup.md");
  await moved();
  mine("branch", "-qD", "feature");
  mine("push", "-q", ".", "signalbox/b1111:main");
  expect(await moved()).toEqual([]);
  mine("update-ref", "refs/heads/main", "main~1");
  expect(await moved()).toEqual([]);
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect(await events("b1111")).toEqual([]);
});

test("moves while the daemon was down: a user's are not reported, those of an agent that went on working are", async () => {
  const { mine, agent, moved, putRun, start, core, commit, repository, folder, put } = await atWork();
  mine("branch", "idea", commit(repository, "idea.md"));
  await moved();
  const restarted = async (meanwhile: () => void) => {
    meanwhile();
    const again = start();
    const stored = await again.store.getTask("b1111");
    if (stored !== undefined) await again.look(stored.task);
    await again.close();
    return ((await again.store.getProject("coffee"))?.movedBranches ?? []).map(({ branch }) => branch);
  };
  await core.close();
  await putRun("b1111", { at: Date.now() - 90_000, endedAt: Date.now() - 60_000 });
  expect(await restarted(() => mine("branch", "-qD", "feature"))).toEqual([]);
  await putRun("b1111", {});
  expect(await restarted(() => mine("commit", "-q", "--amend", "-m", "better idea"))).toEqual([]);
  put(join(folder, "cup.md"), "cup\n");
  const work = commit(folder, "cup.md");
  expect(await restarted(() => agent("update-ref", "refs/heads/idea", work))).toEqual(["idea"]);
});

test("a user's moves in a removed worktree, by rebase --update-refs, to the remote's commits and by renaming are not reported", async () => {
  const { mine, commit, repository, moved, base, git, check } = await atWork();
  const beside = join(base, "beside");
  mine("worktree", "add", "-q", beside, "feature");
  git(beside, "commit", "-q", "--amend", "-m", "amended");
  mine("worktree", "remove", beside);
  expect(await moved()).toEqual([]);

  mine("checkout", "-qb", "top", "feature");
  commit(repository, "top.md");
  expect(await moved()).toEqual([]);
  mine("checkout", "-q", "main");
  commit(repository, "main.md");
  mine("rebase", "-q", "--update-refs", "main", "top");
  expect(mine("merge-base", "main", "feature")).toBe(mine("rev-parse", "main"));
  expect(await moved()).toEqual([]);

  // Another person has force-pushed main, and the user follows without checking it out. Only the default branch's own commits
  // that no branch has any more are noted.
  mine("update-ref", "refs/remotes/origin/main", mine("commit-tree", "-m", "theirs", "main^{tree}"));
  mine("branch", "-qf", "main", "origin/main");
  expect((await moved()).filter(({ blocks }) => blocks)).toEqual([]);
  mine("update-ref", "refs/remotes/origin/feature", "feature");
  mine("checkout", "-q", "main");
  mine("branch", "-qD", "top");
  mine("branch", "-qD", "feature");
  expect((await moved()).map(({ branch }) => branch)).not.toContain("feature");

  mine("branch", "-qm", "main", "trunk");
  expect((await moved()).map(({ branch }) => branch)).not.toContain("main");
  expect(await check()).toContainEqual(
    expect.objectContaining({ fix: expect.stringContaining("--default-branch trunk") }),
  );
});

test("a branch that an agent made for itself, and one that git cannot read, are not reported as deleted", async () => {
  const { agent, mine, moved, commit, folder, repository, put } = await atWork();
  commit(folder, "cup.md");
  agent("checkout", "-qb", "experiment", "main");
  commit(folder, "experiment.md");
  await moved();
  agent("checkout", "-q", "signalbox/b1111");
  await moved();
  agent("branch", "-qD", "experiment");
  expect(await moved()).toEqual([]);
  expect(mine("branch", "--list", "experiment")).toBe("");
  put(join(repository, ".git/refs/heads/feature"), "");
  expect(await moved()).toEqual([]);
});

test("a branch that an agent checks out and resets in its worktree is reported with that task", async () => {
  const { agent, mine, moved } = await atWork({ tasks: ["b1111", "b2222"] });
  const before = mine("rev-parse", "feature");
  agent("checkout", "-q", "feature");
  agent("reset", "-q", "--hard", "HEAD~1");
  expect(await moved()).toMatchObject([{ before, way: "back", tasks: ["b1111"], isKnown: true, blocks: true }]);
});

test("a restore refuses a branch that was made again elsewhere, and keeps the commits that a restored branch had", async () => {
  const { agent, mine, moved, settle, commit, folder, workspaces, start } = await atWork();
  const before = mine("rev-parse", "feature");
  agent("branch", "-qD", "feature");
  expect(await moved()).toHaveLength(1);
  mine("branch", "feature", "main");
  await expect(settle("feature", "restore")).rejects.toMatchObject({
    code: "git.ref-moved",
    hint: expect.stringContaining(`branch NAME ${before}`),
  });
  expect(mine("rev-parse", "feature")).toBe(mine("rev-parse", "main"));
  mine("branch", "-qf", "feature", before);
  expect(await moved()).toEqual([]);

  agent("checkout", "-q", "--detach");
  const work = commit(folder, "cup.md");
  agent("checkout", "-q", "signalbox/b1111");
  agent("update-ref", "refs/heads/feature", work);
  expect(await moved()).toMatchObject([{ after: work, blocks: true }]);
  await settle("feature", "restore");
  // A daemon that was killed right after that does not remember that it moved the branch.
  const again = start();
  onTestFinished(() => again.close());
  const stored = await again.store.getTask("b1111");
  if (stored !== undefined) await again.look(stored.task);
  expect(await moved()).toEqual([]);
  mine("reflog", "expire", "--expire=now", "--all");
  const { control } = await workspaces();
  expect(await control.isAncestor(work, work)).toBe(true);
});

test("a moved main that the user accepts in the checkout is reported no more, and takes merges", async () => {
  const { agent, mine, moved, commit, folder, folders, merge, repository } = await atWork({
    tasks: ["b1111", "b2222"],
  });
  mine("checkout", "-q", "main");
  const before = mine("rev-parse", "main");
  const work = commit(folder, "cup.md");
  commit(folders.b2222 ?? "", "pot.md");
  agent("update-ref", "refs/heads/main", work);
  expect(await moved()).toMatchObject([{ branch: "main", blocks: true }]);
  expect(await merge("b2222")).toMatchObject({ state: "refused" });
  mine("update-ref", "refs/heads/main", before, work);
  mine("-C", repository, "reset", "-q", "--keep", work);
  expect(await moved()).toEqual([]);
  expect(await merge("b2222")).toMatchObject({ state: "merged" });
});

test("a daemon that was killed before or after it recorded a move records it once", async () => {
  const { agent, mine, moved, events, git, base, store } = await atWork();
  const before = mine("rev-parse", "feature");
  const [control = ""] = (await readdir(join(base, "home"), { recursive: true })).filter((path) =>
    path.endsWith("refs/remotes/user"),
  );
  const seen = join(base, "home", control, "../../..");
  await moved();
  expect(git(seen, "rev-parse", "refs/remotes/user/feature")).toBe(before);
  agent("branch", "-qD", "feature");
  expect(await moved()).toHaveLength(1);
  // As if the sync had not been recorded, with the record of the move and without it.
  git(seen, "update-ref", "refs/remotes/user/feature", before);
  expect(await moved()).toHaveLength(1);
  expect(await events("b1111")).toHaveLength(1);
  git(seen, "update-ref", "refs/remotes/user/feature", before);
  await store.updateProject("coffee", { movedBranches: [] });
  expect(await moved()).toHaveLength(1);
});
