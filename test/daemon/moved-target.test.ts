import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCommands } from "../../src/adapters/system.ts";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: reviewing }
  reviewing: { waits_for: human, ask: Merge, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: reviewing, by: human, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: reviewing, to: done, by: human, when: merged == true, hooks: [release_workspace, delete_branch] }
`;

type Stage = Awaited<ReturnType<typeof gitStage>>;

/** A stage with one task at work. */
async function atWork(options: { readonly poolSize?: number } = {}) {
  const stage = await gitStage(flow, { workspaces: "worktree", ...options });
  return { ...stage, ...(await begin(stage, "b1111")) };
}

/** Another task at work on the same stage. */
async function begin(stage: Stage, id: string) {
  const { git, repository, store, core } = stage;
  await stage.create(id);
  const { workspace } = await stage.move(id, "busy");
  const before = git(repository, "rev-parse", "main");
  const here = (...args: readonly string[]) => git(workspace, ...args);
  const own = {
    ...{ id, workspace, here, before },
    commit(name: string) {
      writeFileSync(join(workspace, name), "full\n");
      here("add", name);
      here("commit", "-qm", name);
      return here("rev-parse", "HEAD");
    },
    async look() {
      const stored = await store.getTask(id);
      if (stored === undefined) throw new Error("The task is gone.");
      return core.look(stored.task);
    },
    handOff: async () =>
      (await core.submit(id, { kind: "move", to: "reviewing", actor: { role: "human" } }, "## Handoff\nDONE: x\n"))
        .decision,
    merge: (body: object = {}) =>
      stage.ask("mergeTask", body, { task: id }) as Promise<{ state: string; reason: string }>,
    async need() {
      const { task } = (await stage.ask("explainTask", {}, { task: id })) as {
        task: { needs: readonly { reason: string; text: string; command: string }[] };
      };
      return task.needs.find(({ reason }) => reason === "workspace");
    },
    status: () => git(repository, "status", "--short"),
    /** Runs the command of the line that begins so. */
    obey(text: string, beginning = "Undo the move") {
      const line = text.split("\n").find((each) => each.startsWith(beginning));
      execFileSync("sh", ["-c", line?.slice(line.indexOf(": ") + 2) ?? "exit 1"], { stdio: "pipe" });
    },
  };
  return own;
}

test("a main that an agent has moved to its own commits is reported and does not count as a merge; once main is moved back, the task is merged as usual", async () => {
  const { here, commit, handOff, merge, look, need, obey, status, before, repository, git, until, id } = await atWork();
  const head = commit("cup.md");
  here("update-ref", "refs/heads/main", "HEAD");
  expect(status()).toBe("D  cup.md");
  expect((await look()).facts.numbers).toMatchObject({ merged: 0 });
  const reason = `"main" was moved to commits of this task without a merge, from ${before.slice(0, 10)} to ${head.slice(0, 10)}.`;
  await expect.poll(need, { timeout: 10_000 }).toMatchObject({ text: expect.stringContaining(reason) });
  expect(await handOff()).toMatchObject({ kind: "moved" });
  const refused = await merge();
  expect(refused).toMatchObject({ state: "refused", reason: expect.stringContaining(reason) });
  expect(await merge({ dryRun: true })).toMatchObject({ state: "refused", reason: refused.reason });
  expect(refused.reason).toContain(`git -C ${repository} log -p ${before.slice(0, 10)}..${head.slice(0, 10)}\n`);
  obey(refused.reason);
  expect(status()).toBe("");
  expect(git(repository, "rev-parse", "main")).toBe(before);
  expect(await merge()).toMatchObject({ state: "merged" });
  await until(id, ({ isOpen }) => !isOpen);
  expect(existsSync(join(repository, "cup.md"))).toBe(true);
  expect(status()).toBe("");
});

test("commits made on main in a workspace are refused with the command that merges them into the task's branch", async () => {
  const stage = await atWork();
  const { here, commit, handOff, merge, look, need, obey, status, workspace, until, id } = stage;
  here("checkout", "-q", "--ignore-other-worktrees", "main");
  const head = commit("cup.md");
  const along = `git -C ${workspace} switch signalbox/b1111. Then merge the commits that were made on the other branch: git -C ${workspace} merge main`;
  expect((await look()).facts.unreadable).toMatchObject({ fix: expect.stringContaining(along) });
  expect(await handOff()).toMatchObject({ kind: "rejected" });
  await expect
    .poll(need, { timeout: 10_000 })
    .toMatchObject({ text: expect.stringContaining("was moved to commits of this task") });
  here("switch", "-q", "signalbox/b1111");
  here("merge", "-q", "main");
  expect((await look()).facts).toMatchObject({ head, numbers: { merged: 0 } });
  expect(await handOff()).toMatchObject({ kind: "moved" });
  const { state, reason } = await merge();
  expect(state).toBe("refused");
  obey(reason);
  expect(await merge()).toMatchObject({ state: "merged" });
  await until(id, ({ isOpen }) => !isOpen);
  expect(status()).toBe("");
});

test("work that a person has merged by hand in their checkout counts as merged", async () => {
  const { commit, handOff, merge, look, need, git, repository } = await atWork();
  commit("cup.md");
  await handOff();
  git(repository, "merge", "-q", "--no-edit", "signalbox/b1111");
  await look();
  expect(await need()).toBeUndefined();
  expect(await merge()).toMatchObject({ state: "merged" });
});

test("a main that an agent has moved to one of its commits, and then worked on, is refused too", async () => {
  const { here, commit, handOff, merge, look, need, obey, status, until, id } = await atWork();
  const head = commit("cup.md");
  here("update-ref", "refs/heads/main", "HEAD");
  commit("sugar.md");
  expect((await look()).facts.numbers).toMatchObject({ merged: 0 });
  await expect.poll(need, { timeout: 10_000 }).toMatchObject({ text: expect.stringContaining(head.slice(0, 10)) });
  await handOff();
  const { state, reason } = await merge();
  expect({ state, reason }).toMatchObject({ state: "refused", reason: expect.stringContaining("of this task") });
  obey(reason);
  expect(await merge()).toMatchObject({ state: "merged" });
  await until(id, ({ isOpen }) => !isOpen);
  expect(status()).toBe("");
});

async function movedByAnother() {
  const stage = await atWork({ poolSize: 3 });
  stage.commit("tea.md");
  const other = await begin(stage, "b2222");
  const head = other.commit("cup.md");
  other.here("update-ref", "refs/heads/main", "HEAD");
  return { ...stage, other, head };
}

test("no task is merged into a main that another task has moved, until main is moved back", async () => {
  const { handOff, merge, need, obey, status, other, until, id, look, repository, git } = await movedByAnother();
  await other.look();
  await look();
  expect(await need()).toBeUndefined();
  await handOff();
  const whose = expect.stringContaining('"main" was moved to commits of coffee#2 (b2222) without a merge');
  const { state, reason } = await merge();
  expect({ state, reason }).toEqual({ state: "refused", reason: whose });
  await expect.poll(need, { timeout: 10_000 }).toMatchObject({ text: whose });
  await other.handOff();
  expect(await other.merge()).toMatchObject({ state: "refused", reason: expect.stringContaining("of this task") });
  obey(reason);
  for (const each of [merge, other.merge]) expect(await each()).toMatchObject({ state: "merged" });
  await until(id, ({ isOpen }) => !isOpen);
  expect(status()).toBe("");
  expect(git(repository, "ls-files")).toBe("cup.md\nrecipe.md\ntea.md");
});

test("a moved main counts once the checkout has its files", async () => {
  const { handOff, merge, obey, status, other, repository, head } = await movedByAnother();
  await handOff();
  const { reason } = await merge();
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  obey(reason, "Or accept it");
  expect([status(), existsSync(join(repository, "cup.md"))]).toEqual(["M recipe.md", true]);
  expect(await merge()).toMatchObject({ state: "merged", before: head });
  await other.handOff();
  expect(await other.merge()).toMatchObject({ state: "merged", commit: head });
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("mine\n");
});

test("a checkout that was updated to a moved main without a reflog entry has accepted it", async () => {
  const { handOff, merge, status, git, repository } = await movedByAnother();
  await handOff();
  git(repository, "restore", "--staged", "--worktree", ".");
  expect(status()).toBe("");
  expect(await merge()).toMatchObject({ state: "merged" });
});

test("a task that began at a moved main is not the one that moved it", async () => {
  const stage = await movedByAnother();
  const third = await begin(stage, "b3333");
  third.commit("milk.md");
  await third.handOff();
  expect((await third.merge()).reason).toContain("commits of coffee#2 (b2222) without");
});

test("a main that was moved back, replaced or deleted while it was checked out is reported, with the command that restores it", async () => {
  const { here, commit, handOff, merge, obey, status, git, repository, need } = await atWork();
  writeFileSync(join(repository, "milk.md"), "cold\n");
  git(repository, "add", "milk.md");
  git(repository, "commit", "-qm", "milk");
  const before = git(repository, "rev-parse", "main");
  commit("cup.md");
  await handOff();
  const short = before.slice(0, 10);
  for (const [[...args], says, restore] of [
    [
      ["update-ref", "refs/heads/main", "main~1"],
      `"main" was moved back while it was checked out, from ${short} to `,
      "Restore it",
    ],
    [
      ["update-ref", "-d", "refs/heads/main"],
      `"main" was deleted while it was checked out in ${repository}. Its last commit there was ${short}.`,
      "Restore it",
    ],
    [
      ["update-ref", "refs/heads/main", here("commit-tree", "-m", "x", "HEAD^{tree}")],
      `"main" was moved without a merge, from ${short} to `,
      "Undo the move",
    ],
  ] as const) {
    here(...args);
    const { state, reason } = await merge();
    expect({ state, reason }).toEqual({ state: "refused", reason: expect.stringContaining(says) });
    await expect.poll(need, { timeout: 10_000 }).toMatchObject({ text: expect.stringContaining(says) });
    obey(reason, restore);
    expect([status(), git(repository, "rev-parse", "main")]).toEqual(["", before]);
  }
  expect(await merge()).toMatchObject({ state: "merged" });
});

test("a renamed default branch is reported, and the checked-out branch is proposed, never a task's", async () => {
  const stage = await gitStage(flow, { poolSize: 3, workspaces: "worktree", commands: spawnCommands });
  const { git, repository, ask, create, core, store, until } = stage;
  const old = await begin(stage, "a0000");
  old.commit("tea.md");
  const mine = await begin(stage, "b1111");
  mine.commit("cup.md");
  await mine.handOff();
  git(repository, "branch", "-m", "main", "trunk");
  const fix = "Name another one: signalbox project update coffee --default-branch trunk";
  const { reason } = await mine.merge();
  expect(reason).toBe(`${repository} has no branch "main", which work goes into.\n${fix}`);
  await expect.poll(mine.need, { timeout: 10_000 }).toMatchObject({ text: expect.stringContaining("has no branch") });
  expect(await ask("check", {})).toMatchObject({ branches: [{ project: "coffee", fix }] });
  await create("b2222");
  await core.submit("b2222", { kind: "move", to: "busy", actor: { role: "human" } });
  const { held } = await until("b2222", ({ task }) => task.held !== undefined);
  expect(held?.reason).toContain(fix);
  git(repository, "switch", "-q", "--ignore-other-worktrees", "signalbox/a0000");
  expect((await mine.merge()).reason).toContain("--default-branch NAME");
  const update = (defaultBranch: string) => ask("updateProject", { defaultBranch }, { project: "coffee" });
  await expect(update("signalbox/a0000")).rejects.toThrow('"signalbox/a0000" is the branch of coffee#1 (a0000)');
  await update("trunk");
  expect(await ask("check", {})).toMatchObject({ branches: [] });
  expect(await mine.merge()).toMatchObject({ state: "merged" });
  expect((await store.getProject("coffee"))?.defaultBranch).toBe("trunk");
});

test("the check reports a moved default branch, even if no task is about to be merged", async () => {
  const { ask, head } = await movedByAnother();
  const { branches } = (await ask("check", {})) as { branches: readonly { project: string; reason: string }[] };
  expect(branches).toMatchObject([{ project: "coffee", reason: expect.stringContaining(head.slice(0, 10)) }]);
});

test("after a merge by the daemon, and without a reflog, no checkout counts as left behind", async () => {
  const { commit, handOff, merge, git, repository, workspaces } = await atWork();
  commit("cup.md");
  await handOff();
  expect(await merge()).toMatchObject({ state: "merged" });
  const own = await workspaces();
  expect(await own.git.leftBehind(repository, "main", own.folder)).toBeUndefined();
  git(repository, "config", "core.logAllRefUpdates", "false");
  git(repository, "reflog", "expire", "--expire=all", "--all");
  git(repository, "commit", "-qm", "mine", "--allow-empty");
  expect(await own.git.leftBehind(repository, "main", own.folder)).toBeUndefined();
});
