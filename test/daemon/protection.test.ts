import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCommands } from "../../src/adapters/system.ts";
import { projectFiles } from "../../src/home/project-files.ts";
import { startGitCore } from "./git-core.ts";

const flow = `
name: flow
version: 1
initial: queued
states:
  queued: { waits_for: human, ask: Start, next: built }
  built: { waits_for: human, ask: Test, next: checked }
  checked: { do: [run_tests], outcomes: [{ on: failed, then: built }], next: merged }
  merged: { do: [merge], outcomes: [{ on: failed, then: built }], next: done }
  done: { terminal: true, outcome: done }
transitions:
  - { from: queued, to: built, by: human, hooks: [acquire_workspace] }
  - { from: built, to: merged, by: human }
`;
const strong = '{ "scripts": { "test": "sh check.sh" } }\n';
const weak = '{ "scripts": { "test": "exit 0" } }\n';

async function start() {
  const { PATH = "", HOME = "" } = process.env;
  const stage = await startGitCore({
    name: "protection",
    flow,
    poolSize: 3,
    files: { "package.json": strong, "check.sh": "grep -q beans recipe.md\n", "held/a.txt": "1\n" },
    ports: {
      commands: spawnCommands,
      commandEnvironment: { PATH, HOME },
      config: () => ({ values: { protect: ["held"] }, problems: [] }),
    },
  });
  const { repository, git, put, core } = stage;
  const protection = core.repositories?.protection;
  if (protection === undefined) throw new Error("There is no git.");
  const begin = async (id: string, identity: object = {}) => {
    await stage.create(id, identity);
    return stage.move(id, "built");
  };
  const commit = (folder: string, files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) put(join(folder, path), text);
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "work");
    return git(folder, "rev-parse", "HEAD");
  };
  const collected = async (id: string) => {
    const task = (await stage.store.getTask(id))?.task;
    if (task === undefined) throw new Error(`There is no task ${id}.`);
    const { control } = await stage.workspaces();
    const { commit } = await control.collect({ folder: task.workspace, branch: task.branch, task: id });
    return { task, commit };
  };
  const linesOf = async (id: string) => {
    const { task, commit } = await collected(id);
    return (await protection.of(task, commit)).lines;
  };
  return { ...stage, protection, begin, commit, collected, linesOf, repository };
}

test("work is compared with the newest commit of the target that it contains", async () => {
  const { begin, commit, linesOf, repository, git } = await start();
  const { workspace } = await begin("b1111");
  commit(workspace, { "recipe.md": "beans and water\n" });
  // The user changes the script; that is no change of the work, before and after the work contains it.
  commit(repository, { "package.json": weak });
  expect(await linesOf("b1111")).toEqual([]);
  git(workspace, "fetch", "-q", repository, "main");
  git(workspace, "merge", "-q", "--no-edit", "FETCH_HEAD");
  expect(await linesOf("b1111")).toEqual([]);
});

test("a branch that was moved to an older commit, with other scripts, is compared with where the work began", async () => {
  const { begin, commit, linesOf, repository, git } = await start();
  const first = git(repository, "rev-parse", "HEAD");
  commit(repository, {
    "package.json": '{ "scripts": { "test": "sh check.sh && sh more.sh" } }\n',
    "more.sh": "true\n",
  });
  const { workspace } = await begin("b1111");
  git(workspace, "reset", "-q", "--hard", first);
  commit(workspace, { "recipe.md": "beans and water\n" });
  expect(await linesOf("b1111")).toContain("package.json (the scripts that run the tests)");
});

test("a child is compared with where its root began, not with its parent's branch", async () => {
  const { begin, commit, linesOf, git } = await start();
  const parent = await begin("b1111");
  commit(parent.workspace, { "package.json": weak });
  const child = await begin("b2222", { parent: "b1111" });
  git(child.workspace, "fetch", "-q", parent.workspace, parent.branch);
  git(child.workspace, "reset", "-q", "--hard", "FETCH_HEAD");
  commit(child.workspace, { "recipe.md": "beans and milk\n" });
  expect(await linesOf("b2222")).toEqual(["package.json (the scripts that run the tests)"]);
});

test("an automatic merge of protected changes is held, and a person's continue lets it go on", async () => {
  const { begin, commit, until, core, repository, git } = await start();
  const { workspace } = await begin("b1111");
  commit(workspace, { "package.json": weak, "recipe.md": "beans\nmilk\n" });
  await core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  const held = await until("b1111", ({ task }) => task.held !== undefined);
  expect(held).toMatchObject({ status: "merged", held: { word: "protected" } });
  expect(held.protectedChanges).toEqual(["package.json (the scripts that run the tests)"]);
  await core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(git(repository, "show", "main:package.json")).toBe(weak.trim());
});

test("a person who moves a task to its merge before it was marked has not seen the changes", async () => {
  const { begin, commit, until, core } = await start();
  const { workspace } = await begin("b1111");
  commit(workspace, { "held/a.txt": "2\n" });
  await core.submit("b1111", { kind: "move", to: "merged", actor: { role: "human" } });
  const held = await until("b1111", ({ task }) => task.held !== undefined);
  expect(held.held?.reason).toContain('held/a.txt (protected by "protect")');
});

test("tests run with the base's command and its files, and work that fails them is sent back", async () => {
  const { begin, commit, until, core, store } = await start();
  const { workspace } = await begin("b1111");
  commit(workspace, { "package.json": weak, "recipe.md": "tea\n" });
  await core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  const task = await until("b1111", (stored) => stored.task.status === "built" && stored.task.phase === "waiting");
  expect(task.reason).toContain("The tests were run with the base's protected files");
  const events = (await store.listEvents({ task: "b1111" }, 0, 100)).map(({ event }) => event);
  expect(events.find(({ type }) => type === "protected.tested")?.data).toMatchObject({ base: "tests", work: "ok" });
});

test("protected files that differ from the commit fail the tests, whatever git is told to ignore", async () => {
  const { begin, put, git, protection, collected } = await start();
  const { workspace } = await begin("b1111");
  const look = async () => {
    const { task, commit } = await collected("b1111");
    return protection.uncommitted(task, commit, projectFiles(workspace));
  };
  expect(await look()).toEqual([]);
  put(join(workspace, "recipe.md"), "tea\n");
  expect(await look()).toEqual([]);
  git(workspace, "update-index", "--assume-unchanged", "package.json");
  put(join(workspace, "package.json"), weak);
  put(join(workspace, ".npmrc"), "script-shell=true\n");
  put(join(workspace, "check.sh"), "exit 0\n");
  expect(await look()).toEqual([
    ".npmrc (the settings of the test runner)",
    "check.sh (the script that runs the tests)",
    "package.json (the scripts that run the tests)",
  ]);
  rmSync(join(workspace, "package.json"));
  expect(await look()).toContain("package.json (the scripts that run the tests)");
});

test("the commit that is tested has the base's protected files, and everything else of the work", async () => {
  const { begin, commit, collected, protection, workspaces } = await start();
  const { workspace } = await begin("b1111");
  commit(workspace, {
    "package.json": '{ "dependencies": { "milk": "1.0.0" }, "scripts": { "test": "exit 0" } }\n',
    "recipe.md": "tea\n",
    "held/a.txt": "2\n",
    "held/new.txt": "3\n",
  });
  const { task, commit: at } = await collected("b1111");
  const tested = await protection.asTheBaseHas(task, await protection.of(task, at));
  const { control } = await workspaces();
  const text = async (path: string) => {
    const bytes = await control.fileAt(tested, path, 1000);
    return bytes === undefined ? undefined : String(Buffer.from(bytes));
  };
  expect(JSON.parse((await text("package.json")) ?? "")).toEqual({
    dependencies: { milk: "1.0.0" },
    scripts: { test: "sh check.sh" },
  });
  expect(await text("recipe.md")).toBe("tea\n");
  expect(await text("held/a.txt")).toBe("1\n");
  expect(await text("held/new.txt")).toBeUndefined();
  expect(await protection.asTheBaseHas(task, await protection.of(task, at))).toBe(tested);
});
