import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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

async function atWork() {
  const stage = await gitStage(flow);
  const { git, repository, store, core } = stage;
  const id = "b1111";
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
    /** The last command of a text. */
    obey(text: string) {
      const [, args = ""] = /git -C \S+ (update-ref .+)$/.exec(text) ?? [];
      git(repository, ...args.split(" "));
    },
  };
  return { ...stage, ...own };
}

test("a main that an agent has moved to its own commits is told, and no merge; taken back, the task is merged as usual", async () => {
  const { here, commit, handOff, merge, look, need, obey, status, before, repository, git, until, id } = await atWork();
  const head = commit("cup.md");
  here("update-ref", "refs/heads/main", "HEAD");
  expect(status()).toBe("D  cup.md");
  expect((await look()).facts.numbers).toMatchObject({ merged: 0 });
  const reason = `"main" was moved to commits of this task without a merge, from ${before.slice(0, 10)} to ${head.slice(0, 10)}.`;
  await expect.poll(need).toMatchObject({ text: expect.stringContaining(reason) });
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

test("commits made on main in a workspace are refused with the command that takes them to the task's branch", async () => {
  const stage = await atWork();
  const { here, commit, handOff, merge, look, need, obey, status, workspace, until, id } = stage;
  here("checkout", "-q", "--ignore-other-worktrees", "main");
  const head = commit("cup.md");
  const along = `git -C ${workspace} switch signalbox/b1111. To take commits along that were made here: git -C ${workspace} merge main`;
  expect((await look()).facts.unreadable).toMatchObject({ fix: expect.stringContaining(along) });
  expect(await handOff()).toMatchObject({ kind: "rejected" });
  await expect.poll(need).toMatchObject({ text: expect.stringContaining("was moved to commits of this task") });
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

test("what a person has merged by hand in their checkout counts as merged", async () => {
  const { commit, handOff, merge, look, need, git, repository } = await atWork();
  commit("cup.md");
  await handOff();
  git(repository, "merge", "-q", "--no-edit", "signalbox/b1111");
  await look();
  expect(await need()).toBeUndefined();
  expect(await merge()).toMatchObject({ state: "merged" });
});

test("after a merge of ours, and without a log, no checkout counts as left behind", async () => {
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
