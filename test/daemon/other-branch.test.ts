import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { retireProject } from "../../src/daemon/workspaces/free-workspaces.ts";
import { noteOwnBranch } from "../../src/daemon/workspaces/own-branches.ts";
import { cleanPools } from "../../src/daemon/workspaces/upkeep.ts";
import type { Project } from "../../src/ports/store.ts";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: reviewing, do: [harvest_uncommitted] }
  reviewing: { waits_for: human, ask: Merge, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: reviewing, by: human, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: reviewing, to: done, by: human, when: merged == true, hooks: [release_workspace, delete_branch] }
`;

describe.each(["worktree", "clone"] as const)("a %s whose agent changes branches", (kind) => {
  /** A task on "good" with one commit, and a branch "wip" that the user had before, with another. */
  async function atWork() {
    const stage = await gitStage(flow, { poolSize: 2 });
    const { git, repository, store, core } = stage;
    await store.updateProject("coffee", { workspaces: kind });
    git(repository, "switch", "-qc", "wip");
    writeFileSync(join(repository, "wip.md"), "half\n");
    git(repository, "add", "wip.md");
    git(repository, "commit", "-qm", "wip");
    git(repository, "switch", "-q", "main");
    const id = "b1111";
    await stage.create(id, { branch: "good" });
    // As `task create --branch` does for a new branch.
    const { control } = await stage.workspaces();
    await control.syncFrom({ from: repository, name: "user" });
    await noteOwnBranch(control, { id, branch: "good" }, git(repository, "rev-parse", "main"));
    const { workspace } = await stage.move(id, "busy");
    const here = (...args: readonly string[]) => git(workspace, ...args);
    const commit = (name: string) => {
      writeFileSync(join(workspace, name), "full\n");
      here("add", name);
      here("commit", "-qm", name);
    };
    commit("cup.md");
    const own = {
      ...{ id, workspace, here, commit },
      taskNow: async () => {
        const stored = await store.getTask(id);
        if (stored === undefined) throw new Error("The task is gone.");
        return stored.task;
      },
      look: async () => core.look(await own.taskNow()),
      handOff: () =>
        core.submit(id, { kind: "move", to: "reviewing", actor: { role: "human" } }, "## Handoff\nDONE: x\n"),
      merge: (body: object = {}) =>
        stage.ask("mergeTask", body, { task: id }) as Promise<{ state: string; reason: string }>,
      branches: () => git(repository, "branch", "--format=%(refname:short)").split("\n"),
      switchToWip: () =>
        (kind === "clone" ? here("fetch", "-q", repository, "wip:wip") : "") + here("switch", "-q", "wip"),
      /** Everything that deletes branches. */
      async tidy() {
        if (core.pools === undefined) throw new Error("There are no pools.");
        const project = (await store.getProject("coffee")) as Project;
        await cleanPools(core.pools, [project], false);
        await retireProject(core.pools, project);
      },
    };
    return { ...stage, ...own };
  }

  test("a rename is followed, also with a commit on top; the renamed branch is the task's, and is deleted after the merge", async () => {
    const { here, commit, look, taskNow, until, id, handOff, merge, branches, tidy, repository } = await atWork();
    here("branch", "-m", "better");
    commit("milk.md");
    expect((await look()).facts.unreadable).toBeUndefined();
    await until(id, ({ task }) => task.branch === "better");
    await handOff();
    expect(await merge()).toMatchObject({ state: "merged" });
    await until(id, ({ isOpen, task }) => !isOpen && task.workspace === "");
    expect(existsSync(join(repository, "milk.md"))).toBe(true);
    await tidy();
    expect(branches()).toEqual(["main", "wip"]);
    expect((await taskNow()).branch).toBe("better");
  });

  test("a new branch on top is followed, and is deleted after the merge", async () => {
    const { here, commit, look, until, id, handOff, merge, branches, repository } = await atWork();
    here("switch", "-qc", "more");
    commit("milk.md");
    expect((await look()).facts.numbers.commits).toBe(2);
    await until(id, ({ task }) => task.branch === "more");
    await handOff();
    expect(await merge()).toMatchObject({ state: "merged" });
    await until(id, ({ isOpen, task }) => !isOpen && task.workspace === "");
    expect(existsSync(join(repository, "milk.md"))).toBe(true);
    expect(branches()).not.toContain("more");
  });

  test("the user's branch is not followed: nothing is merged or approved until the task's branch is checked out, and no branch of the user's is deleted", async () => {
    const stage = await atWork();
    const { here, look, until, id, handOff, merge, branches, tidy, ask, workspace, git, repository } = stage;
    await handOff();
    const good = here("rev-parse", "HEAD");
    stage.switchToWip();
    const reason = `${workspace} has the branch "wip" checked out, not the task's branch "good". That branch existed before the task began.`;
    const back = `git -C ${workspace} switch good`;
    const seen = await look();
    expect(seen.facts).toMatchObject({ head: good, unreadable: { reason, fix: expect.stringContaining(back) } });
    const refused = { state: "refused", reason: `${reason} Go back to the task's branch: ${back}` };
    expect(await merge({ dryRun: true })).toMatchObject(refused);
    expect(await merge()).toMatchObject(refused);
    const yes = ask("approveTask", {}, { task: id });
    await expect(yes).rejects.toMatchObject({ reasons: [{ text: reason, fix: expect.stringContaining(back) }] });
    type Explained = { blocked: readonly { reason: string }[]; task: { needs: readonly unknown[] } };
    const explain = async () => (await ask("explainTask", {}, { task: id })) as Explained;
    expect((await explain()).blocked.filter((each) => each.reason === reason).length).toBe(1);
    // The trouble that doctor, lists and calls report.
    await expect.poll(async () => (await explain()).task.needs[0]).toMatchObject({ reason: "workspace", text: reason });
    const diff = (await ask("diffTask", {}, { task: id })) as { commit: string };
    expect(diff.commit).toBe(good);
    // The user's branch is neither renamed nor committed on.
    writeFileSync(join(workspace, "wip.md"), "more\n");
    const rename = ask("editTask", { branch: "other" }, { task: id });
    await expect(rename).rejects.toMatchObject({ code: "workspace.other-branch" });
    here("checkout", "-q", "wip.md");
    expect((await stage.taskNow()).branch).toBe("good");
    here("switch", "-q", "good");
    expect(await merge()).toMatchObject({ state: "merged", commit: good });
    await until(id, ({ isOpen, task }) => !isOpen && task.workspace === "");
    expect(existsSync(join(repository, "wip.md"))).toBe(false);
    await tidy();
    expect(branches()).toEqual(["main", "wip"]);
    expect(git(repository, "log", "-1", "--format=%s", "wip")).toBe("wip");
  });

  test("a branch without the task's work, or a user's branch in place of the deleted one, is reported with the way back", async () => {
    const { here, look, taskNow, commit } = await atWork();
    const good = here("rev-parse", "HEAD");
    here("switch", "-qc", "anew", "HEAD^");
    commit("anew.md");
    expect((await look()).facts.unreadable?.reason).toContain('It does not contain all of "good".');
    expect((await look()).facts.head).toBe(good);
    here("switch", "-q", "good");
    expect((await look()).facts.unreadable).toBeUndefined();
    here("branch", "-qD", "anew");
    here("switch", "-q", "--detach");
    here("branch", "-qD", "good");
    here("branch", "-qf", "wip", "HEAD^");
    here("switch", "-q", "wip");
    const fix = (await look()).facts.unreadable?.fix ?? "";
    expect(fix).toContain(`switch -c good ${good}`);
    here("switch", "-qc", "good", good);
    expect((await look()).facts).toMatchObject({ head: good });
    expect((await taskNow()).branch).toBe("good");
  });

  test("another branch in a released workspace does not count as the task's work", async () => {
    const stage = await atWork();
    const good = stage.here("rev-parse", "HEAD");
    stage.switchToWip();
    await stage.tidy();
    const { control } = await stage.workspaces();
    expect(await control.commitAt(`refs/signalbox/tasks/${stage.id}`)).toBe(good);
    expect(stage.branches()).toContain("wip");
  });
});
