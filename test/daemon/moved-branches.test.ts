import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Task } from "../../src/engine/task.ts";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, when: merged == true, hooks: [release_workspace, delete_branch] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

interface Moved {
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  readonly way: string;
  readonly tasks: readonly string[];
  readonly isKnown: boolean;
}

/** A user on the branch "mine", with "main" and "feature" besides, and agents at work in these tasks. */
async function atWork({ tasks = ["b1111"], kind = "worktree" as "worktree" | "clone" } = {}) {
  const stage = await gitStage(flow, { workspaces: kind, poolSize: 4 });
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
  for (const id of tasks) {
    await stage.create(id);
    folders[id] = (await stage.move(id, "busy")).workspace;
    // As if an agent had been started.
    const stored = await core.store.getTask(id);
    if (stored === undefined) throw new Error(id);
    const task: Task = { ...stored.task, runCount: 1 };
    await core.store.saveDecision({ ...stored, task, events: [], effects: [], at: 0 });
  }
  const look = async (id = tasks[0] ?? "") => {
    const stored = await core.store.getTask(id);
    if (stored !== undefined) await core.look(stored.task);
  };
  return {
    ...{ ...stage, mine, commit, folders, look },
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
    check: async () => ((await ask("check", {})) as { branches: readonly { reason: string; fix: string }[] }).branches,
  };
}

test("a branch that an agent deletes with its commits is reported, kept, and restored with one command", async () => {
  const { agent, mine, moved, need, events, settle, check, workspaces } = await atWork();
  const before = mine("rev-parse", "feature");
  agent("branch", "-qD", "feature");
  expect(await moved()).toMatchObject([
    { branch: "feature", before, after: "", way: "deleted", tasks: ["b1111"], isKnown: false },
  ]);
  expect(await need("b1111")).toMatchObject({
    text: expect.stringContaining(`Your branch "feature" was deleted. It was at ${before.slice(0, 10)}.`),
    command: "signalbox project branches coffee --restore feature",
  });
  expect(await events("b1111")).toMatchObject([{ data: { branch: "feature", before, after: "" } }]);
  expect(await check()).toMatchObject([{ reason: expect.stringContaining('"feature" was deleted') }]);
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
  const { agent, mine, moved, commit, folder, settle } = await atWork({ tasks: ["b1111", "b2222"] });
  const before = mine("rev-parse", "feature");
  agent("branch", "-qf", "feature", "main");
  expect(await moved()).toMatchObject([{ branch: "feature", before, way: "back", tasks: ["b1111", "b2222"] }]);
  const work = commit(folder, "cup.md");
  agent("update-ref", "refs/heads/feature", work);
  expect(await moved()).toMatchObject([{ before, after: work, tasks: ["b1111"], isKnown: true }]);
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
  expect((await need("b1111"))?.text).toContain("without a merge. The new commit was made in the worktree of b1111.");
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
