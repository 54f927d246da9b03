import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import { createTask, getTask } from "../../src/daemon/requests/tasks.ts";
import { startGitStage } from "./git-stage.ts";

/** `b1111` has a cup and waits for its merge. `b2222` has a pot, and its agent can see the commits of `b1111`. */
async function start(flow?: string) {
  const stage = await startGitStage({ poolSize: 4, workspaces: "clone", ...(flow === undefined ? {} : { flow }) });
  const { core, git, repository, store } = stage;
  const asked = <Body>(task: string, body: Body): Asked<object, Body> => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const commit = (folder: string, file: string) => {
    writeFileSync(join(folder, file), `${file}\n`);
    git(folder, "add", file);
    git(folder, "commit", "-qm", file);
    return git(folder, "rev-parse", "HEAD");
  };
  const [one, two] = [(await stage.begin("b1111")).workspace, (await stage.begin("b2222")).workspace];
  const cup = commit(one, "cup.md");
  commit(two, "pot.md");
  const collect = async (id: string) => {
    const task = (await store.getTask(id))?.task;
    if (task !== undefined)
      await (await stage.control()).collect({ folder: task.workspace, branch: task.branch, task: id });
  };
  await collect("b1111");
  await collect("b2222");
  return {
    ...{ ...stage, one, two, cup, commit, collect },
    merge: (task: string, body: { dryRun?: boolean; strategy?: "merge" | "ff" } = {}) =>
      mergeTask(core)(asked(task, body)),
    explain: async (task: string) =>
      (await explainTask(core)(asked(task, undefined))).blocked.map(({ reason }) => reason).join("\n"),
    warnings: async (task: string) => (await explainTask(core)(asked(task, undefined))).warnings.join("\n"),
    add: stage.create,
    create: (body: object) => createTask(core)(asked("", body) as never),
    mains: (file: string) => git(repository, "ls-tree", "--name-only", "main", file),
  };
}

const told = /The work contains commits of the open task \w+#1 \(\w{10}/;

test("work with another open task's commits is merged only after a person was told; the other does not end as done without its changes", async () => {
  const { git, two, cup, merge, mains, explain, store, create, core, repository, until } = await start();
  git(two, "merge", "-q", "-s", "ours", "-m", "tidy", cup);
  expect((await merge("b2222", { dryRun: true })).warnings.join("\n")).toMatch(told);
  await expect(merge("b2222")).rejects.toThrow(told);
  expect((await store.getTask("b2222"))?.task.protectedChanges?.join("\n")).toContain("commits of the open task");
  expect([mains("pot.md"), mains("cup.md")]).toEqual(["", ""]);
  // The person merges it nevertheless: git considers the other task's work merged.
  expect(await merge("b2222")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect([mains("pot.md"), mains("cup.md")]).toEqual(["pot.md", ""]);
  const lost = 'are in "main", but their changes are not: cup.md.';
  expect(await merge("b1111", { dryRun: true })).toMatchObject({
    state: "refused",
    reason: expect.stringContaining(lost),
  });
  expect(await explain("b1111")).toContain(lost);
  const refused = await merge("b1111");
  expect(refused).toMatchObject({ state: "refused", task: { status: "busy" } });
  expect(refused.reason).toContain(lost);
  expect((await core.look((await store.getTask("b1111"))?.task as never)).facts.numbers.merged).toBe(0);
  // What the answer proposes brings the changes back.
  await core.submit("b1111", { kind: "move", to: "dropped", actor: { role: "human" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  const { task } = (await create({ project: "coffee", summary: "Cup again", from: "b1111" })) as {
    task: { branch: string };
  };
  expect(git(repository, "ls-tree", "--name-only", task.branch, "cup.md")).toBe("cup.md");
});

test("a task does not end as done if the merge of another has brought in some of its commits without some of their changes", async () => {
  const { git, one, two, merge, commit, collect, mains } = await start();
  const both = commit(one, "spoon.md");
  await collect("b1111");
  git(two, "merge", "-q", "--no-commit", both);
  git(two, "rm", "-qf", "spoon.md");
  git(two, "commit", "-qm", "tidy");
  commit(one, "saucer.md");
  await collect("b1111");
  await expect(merge("b2222")).rejects.toThrow(told);
  await merge("b2222");
  expect(await merge("b1111")).toMatchObject({
    state: "refused",
    reason: expect.stringContaining("but their changes are not: spoon.md."),
  });
  expect(mains("saucer.md")).toBe("");
});

test("the task whose commits were taken is merged without a question; then the other's merge would remove its changes, and a person is told", async () => {
  const { git, two, cup, merge, mains } = await start();
  git(two, "merge", "-q", "-s", "ours", "-m", "tidy", cup);
  expect(await merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
  await expect(merge("b2222")).rejects.toThrow('commits of "main" without their changes (cup.md)');
  expect([mains("pot.md"), mains("cup.md")]).toEqual(["", "cup.md"]);
});

test("a task that starts at another task's branch, and work that a person has merged by hand, are merged as ever", async () => {
  const { git, one, cup, merge, mains, repository, add, commit, store, goOn } = await start();
  git(repository, "fetch", "-q", one, `${cup}:refs/heads/shared`);
  await add("b3333", { base: "shared" });
  const { workspace } = await goOn("b3333");
  commit(workspace, "lid.md");
  expect(await merge("b3333")).toMatchObject({ state: "merged", target: "shared" });
  git(repository, "merge", "-q", "--no-ff", "-m", "by hand", "shared");
  commit(repository, "later.md");
  expect(await merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect(mains("cup.md")).toBe("cup.md");
  expect((await store.merges.get("b1111"))?.before).toBe((await store.merges.get("b1111"))?.after);
});

test("work that has merged a branch of a person's without its changes is merged only after the person was told the branch's name", async () => {
  const { git, repository, two, merge, warnings, commit, mains } = await start();
  git(repository, "checkout", "-q", "-b", "colleague");
  const weeks = commit(repository, "weeks.md");
  commit(repository, "later.md");
  git(repository, "checkout", "-q", "main");
  git(two, "fetch", "-q", repository, "colleague");
  git(two, "merge", "-q", "-s", "ours", "-m", "sync", weeks);
  const line = 'commits of "colleague" without their changes (weeks.md)';
  expect((await merge("b2222", { dryRun: true })).warnings.join("\n")).toContain(line);
  await expect(merge("b2222")).rejects.toThrow(line);
  expect(await warnings("b2222")).toContain(line);
  expect(mains("pot.md")).toBe("");
});

test("work that has merged a branch of a person's with its changes, or has a branch of its own commits, is merged as ever", async () => {
  const { git, repository, two, merge, commit, mains } = await start();
  git(repository, "checkout", "-q", "-b", "colleague");
  commit(repository, "weeks.md");
  git(repository, "checkout", "-q", "main");
  git(two, "fetch", "-q", repository, "colleague");
  git(two, "merge", "-q", "-m", "sync", "FETCH_HEAD");
  git(repository, "fetch", "-q", two, "HEAD:refs/heads/backup");
  expect(await merge("b2222")).toMatchObject({ state: "merged" });
  expect([mains("pot.md"), mains("weeks.md")]).toEqual(["pot.md", "weeks.md"]);
});

test("a workflow does not merge another open task's commits by itself", async () => {
  const { git, two, cup, core, until } = await start(`
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: merging }
  merging: { do: [merge], next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
`);
  git(two, "merge", "-q", "-s", "ours", "-m", "tidy", cup);
  await core.submit("b2222", { kind: "move", to: "merging", actor: { role: "engine" } });
  const { held } = await until("b2222", ({ task }) => task.held !== undefined);
  expect(held).toMatchObject({ word: "protected", reason: expect.stringMatching(told) });
});

test("a finished task contains no foreign commits because another one continues it, which names it", async () => {
  const { merge, create, core, store, until } = await start();
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  await until("b1111", ({ isOpen }) => !isOpen);
  const { task } = (await create({ project: "coffee", summary: "More cups", from: "b1111" })) as {
    task: { id: string };
  };
  await core.submit(task.id, { kind: "continue", actor: { role: "human" } });
  const { workspace, branch } = await until(task.id, ({ task: now }) => now.workspace !== "");
  const own = await core.repositories?.workspacesOf((await store.getProject("coffee")) as never);
  await own?.control.collect({ folder: workspace, branch, task: task.id });
  const ask = <Body>(id: string, body: Body) =>
    ({ params: { task: id }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" }) as never;
  expect((await explainTask(core)(ask("b1111", undefined))).warnings.join(" ")).not.toContain("open task");
  expect(await getTask(core)(ask(task.id, undefined))).toMatchObject({ continues: "b1111" });
});
