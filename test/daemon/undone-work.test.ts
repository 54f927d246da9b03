import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { diffTask } from "../../src/daemon/requests/diff-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { mergeTask, undoTaskMerge } from "../../src/daemon/requests/merge-task.ts";
import { createTask } from "../../src/daemon/requests/tasks.ts";
import { startGitStage } from "./git-stage.ts";

const flow = `
name: plain
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

async function startStage(kind: "worktree" | "clone" = "worktree", text = flow) {
  let count = 0;
  const ids = { task: () => `c000${++count}`, secret: () => "0".repeat(48) };
  const stage = await startGitStage({ poolSize: 9, flow: text, ports: { ids } });
  const { core, repository, git, places } = stage;
  await core.store.updateProject("coffee", { workspaces: kind });
  mkdirSync(places.workflows, { recursive: true });
  writeFileSync(join(places.workflows, "plain.yml"), text);
  const asked = <Body>(task: string, body: Body): Asked<object, Body> => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const commit = (folder: string, files: Readonly<Record<string, string>>, message = "work") => {
    for (const [path, content] of Object.entries(files)) stage.put(join(folder, path), content);
    git(folder, "add", "-A", ...Object.keys(files));
    git(folder, "commit", "-qm", message);
  };
  const own = {
    commit,
    /** A task at work, which may continue another one. */
    async begin(from?: string, branch?: string) {
      const body = { project: "coffee", workflow: "plain", summary: "Brew" };
      const more = { ...(from === undefined ? {} : { from }), ...(branch === undefined ? {} : { branch }) };
      const { task, warnings } = await createTask(core)(asked("", { ...body, ...more }) as never);
      const { workspace } = await stage.goOn(task.id);
      return { id: task.id, workspace, warnings, branch: task.branch };
    },
    /** A task whose agent has committed these files, merged. */
    async merged(files: Readonly<Record<string, string>>) {
      const { id, workspace, branch } = await own.begin();
      commit(workspace, files);
      expect(await own.merge(id)).toMatchObject({ state: "merged" });
      await stage.until(id, ({ isOpen }) => !isOpen);
      return { id, branch };
    },
    merge: (task: string, body: { strategy?: "merge" | "ff"; dryRun?: boolean } = {}) =>
      mergeTask(core)(asked(task, body)),
    undo: (task: string) => undoTaskMerge(core)(asked(task, {})),
    changed: async (task: string) =>
      (await diffTask(core)(asked(task, undefined))).committed.files.map(({ path }) => path).sort(),
    files: () => git(repository, "ls-tree", "-r", "--name-only", "main").split("\n").sort(),
    show: (path: string) => git(repository, "show", `main:${path}`),
  };
  return { ...stage, ...own };
}

const broughtBack = [
  'The merge of coffee#1 into "main" was undone. The first commit of the new task restores its work.',
];

describe.each(["worktree", "clone"] as const)("with workspaces of kind %s", (kind) => {
  test("a task that continues one whose merge was undone has all of its work, and merges all of it", async () => {
    const { merged, undo, begin, commit, changed, merge, files, show } = await startStage(kind);
    const first = await merged({ "cup.md": "full\n", "recipe.md": "beans\nmilk\n" });
    await undo(first.id);
    expect(files()).toEqual(["recipe.md"]);
    const second = await begin(first.id);
    expect(second.warnings).toEqual(broughtBack);
    commit(second.workspace, { "spoon.md": "one\n" });
    expect(await changed(second.id)).toEqual(["cup.md", "recipe.md", "spoon.md"]);
    const preview = await merge(second.id, { dryRun: true });
    expect(preview).toMatchObject({ state: "merged", changed: ["cup.md", "recipe.md", "spoon.md"], commits: 2 });
    expect(await merge(second.id)).toMatchObject({ state: "merged" });
    expect(files()).toEqual(["cup.md", "recipe.md", "spoon.md"]);
    expect(show("recipe.md")).toBe("beans\nmilk");
  });
});

test("work that was undone twice is restored completely, from either task", async () => {
  const { merged, undo, begin, commit, merge, files, move } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  await undo(first.id);
  const second = await begin(first.id);
  commit(second.workspace, { "spoon.md": "one\n" });
  await merge(second.id);
  await undo(second.id);
  expect(files()).toEqual(["recipe.md"]);
  const third = await begin(second.id);
  await merge(third.id);
  expect(files()).toEqual(["cup.md", "recipe.md", "spoon.md"]);
  // The branch has the work again: there is nothing to restore.
  const fourth = await begin(first.id, "signalbox/fourth");
  expect(fourth.warnings).toEqual([]);
  await move(fourth.id, "dropped");
  await undo(third.id);
  const fifth = await begin(first.id, "signalbox/fifth");
  await merge(fifth.id);
  expect(files()).toEqual(["cup.md", "recipe.md"]);
});

test("a task that continues a cancelled one, which continued undone work, has all of it", async () => {
  const { merged, undo, begin, commit, merge, files, move } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  await undo(first.id);
  const second = await begin(first.id);
  commit(second.workspace, { "spoon.md": "one\n" });
  await move(second.id, "dropped");
  await merge((await begin(second.id)).id);
  expect(files()).toEqual(["cup.md", "recipe.md", "spoon.md"]);
});

test("work that was fast-forwarded and then undone below other merges is restored", async () => {
  const { begin, merged, undo, commit, merge, files } = await startStage();
  const first = await begin();
  commit(first.workspace, { "cup.md": "full\n" });
  commit(first.workspace, { "spoon.md": "one\n" });
  await merge(first.id, { strategy: "ff" });
  await merged({ "pot.md": "large\n" });
  await undo(first.id);
  expect(files()).toEqual(["pot.md", "recipe.md"]);
  await merge((await begin(first.id)).id);
  expect(files()).toEqual(["cup.md", "pot.md", "recipe.md", "spoon.md"]);
});

test("undone work that conflicts with later commits is restored as a conflict, and is not lost", async () => {
  const { merged, undo, begin, commit, merge, changed, repository } = await startStage();
  const first = await merged({ "recipe.md": "tea\n", "cup.md": "full\n" });
  await undo(first.id);
  commit(repository, { "recipe.md": "cocoa\n" });
  const second = await begin(first.id);
  expect(await changed(second.id)).toEqual(["cup.md", "recipe.md"]);
  expect(await merge(second.id)).toMatchObject({ state: "conflict", files: ["recipe.md"] });
});

test.each([
  ["the merge", (git: Git, after: string) => git("revert", "-m", "1", "--no-edit", after)],
  [
    "each commit, squashed with another change",
    (git: Git, after: string) => {
      git("revert", "-n", `${after}^2`);
      git("commit", "--quiet", "-m", "We want no cups");
    },
  ],
])("work that a person reverted with git is restored: %s", async (_, revert) => {
  const { merged, begin, merge, files, git, repository } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  revert((...args) => git(repository, ...args), git(repository, "rev-parse", "main"));
  expect(files()).toEqual(["recipe.md"]);
  const second = await begin(first.id);
  expect(second.warnings).toEqual(broughtBack);
  await merge(second.id);
  expect(files()).toEqual(["cup.md", "recipe.md"]);
});

type Git = (...args: readonly string[]) => void;

test("a branch with commits after its merge keeps them when its work is restored", async () => {
  const { merged, undo, begin, merge, files, git, repository, commit } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  await undo(first.id);
  const tip = git(repository, "rev-parse", "main^1^2");
  git(repository, "branch", "--force", "mine", tip);
  git(repository, "checkout", "-q", "mine");
  commit(repository, { "spoon.md": "one\n" });
  git(repository, "checkout", "-q", "main");
  await merge((await begin(first.id, "mine")).id);
  expect(files()).toEqual(["cup.md", "recipe.md", "spoon.md"]);
});

test("a task whose work is unchanged in its branch is continued from there, without a commit of the daemon's", async () => {
  const { merged, begin } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  const second = await begin(first.id);
  expect(second.warnings).toEqual([]);
});

test("explain reports that the merge of an ended task was undone or its branch moved back, until the work is merged again", async () => {
  const stage = await startStage();
  const { merged, undo, begin, merge, git, repository, commit, until } = stage;
  const told = async (task: string) => {
    const asked = { params: { task }, query: {}, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
    return (await explainTask(stage.core)(asked as never)).blocked;
  };
  const back = (id: string) => `To bring its work back in a new task: signalbox task create --from ${id}`;
  const first = await merged({ "cup.md": "full\n" });
  expect(await told(first.id)).toEqual([]);
  await undo(first.id);
  const takenBack = (id: string) => [{ reason: 'The task\'s merge into "main" was undone.', fix: back(id) }];
  expect(await told(first.id)).toEqual(takenBack(first.id));
  const second = await begin(first.id);
  await merge(second.id);
  await until(second.id, ({ isOpen }) => !isOpen);
  expect(await told(first.id)).toEqual([]);
  git(repository, "revert", "-m", "1", "--no-edit", "HEAD");
  expect(await told(second.id)).toEqual(takenBack(second.id));
  const before = git(repository, "rev-parse", "HEAD");
  const third = await merged({ "pot.md": "full\n" });
  git(repository, "reset", "-q", "--hard", before);
  commit(repository, { "spoon.md": "one\n" });
  expect(await told(third.id)).toEqual([
    {
      reason: 'The task was merged, but "main" no longer contains its work: the branch was moved back.',
      fix: back(third.id),
    },
  ]);
});

test("a task that was merged just now is continued as soon as it has settled, with its harnesses, model and settings", async () => {
  const text = flow.replace("states:", "settings: { sugar: { default: 1 } }\nstates:");
  const { core, goOn, merge, commit, store } = await startStage("worktree", text);
  const make = (body: object) =>
    createTask(core)({
      ...{ params: {}, query: {}, caller: { kind: "human" }, folder: "", lastEvent: "" },
      body: { project: "coffee", ...body },
    } as never);
  const set = { harness: "codex", reviewHarness: "claude", model: "large" };
  const { task: first } = await make({ workflow: "plain", summary: "Brew", settings: { sugar: 3 }, ...set });
  const { workspace } = await goOn(first.id);
  commit(workspace, { "cup.md": "full\n" });
  await merge(first.id);
  const { task: second } = await make({ from: first.id });
  expect(second).toMatchObject({ ...set, workflow: "plain", branch: first.branch, summary: "Brew" });
  expect((await store.getTask(second.id))?.task.settings).toEqual({ sugar: 3 });
  const more = { from: first.id, harness: "gemini", branch: "other", settings: { sugar: 5 } };
  const { task: third } = await make(more);
  expect(third).toMatchObject({ harness: "gemini", reviewHarness: "claude", model: "large" });
  expect((await store.getTask(third.id))?.task.settings).toEqual({ sugar: 5 });
  await expect(make({ from: second.id })).rejects.toMatchObject({
    message: `The task ${second.id} is not over, so its branch cannot be continued yet.`,
  });
});

test("a second undo says how to restore the work", async () => {
  const { merged, undo } = await startStage();
  const first = await merged({ "cup.md": "full\n" });
  await undo(first.id);
  await expect(undo(first.id)).rejects.toMatchObject({
    message: "The merge of coffee#1 was already undone.",
    hint: `To bring its work back in a new task: signalbox task create --from ${first.id}`,
  });
});

test("a merge that is undone while its task is open is made complete when it is requested again", async () => {
  const open = flow
    .replace("busy: { waits_for: human, next: done }", "busy: { waits_for: human, next: shipped }")
    .replace("  done: {", "  shipped: { waits_for: human, next: done }\n  done: {")
    .replace(
      "  - { from: any",
      "  - { from: busy, to: shipped, hooks: [merge] }\n  - { from: shipped, to: busy, by: human }\n  - { from: any",
    );
  const { begin, commit, goOn, undo, merge, files, move, changed } = await startStage("worktree", open);
  const { id, workspace } = await begin();
  commit(workspace, { "cup.md": "full\n" });
  await goOn(id);
  expect(files()).toEqual(["cup.md", "recipe.md"]);
  await undo(id);
  expect(files()).toEqual(["recipe.md"]);
  await move(id, "busy");
  commit(workspace, { "spoon.md": "one\n" });
  expect(await changed(id)).toContain("spoon.md");
  expect(await merge(id, { dryRun: true })).toMatchObject({ changed: ["cup.md", "spoon.md"] });
  await goOn(id);
  expect(files()).toEqual(["cup.md", "recipe.md", "spoon.md"]);
});

/** A task that was merged, then got a commit, and was merged again. */
const twice = flow
  .replace("busy: { waits_for: human, next: done }", "busy: { waits_for: human, next: shipped }")
  .replace("  done: {", "  shipped: { waits_for: human, next: done }\n  done: {")
  .replace(
    "  - { from: any",
    "  - { from: busy, to: shipped, hooks: [merge] }\n  - { from: shipped, to: busy, by: human }\n  - { from: any",
  );

async function mergeTwice() {
  const stage = await startStage("worktree", twice);
  const { begin, commit, goOn, move, repository, git } = stage;
  const { id, workspace } = await begin();
  const landings: string[] = [];
  const ship = async (files: Readonly<Record<string, string>>) => {
    commit(workspace, files);
    const before = git(repository, "rev-parse", "main");
    await goOn(id);
    landings.push(`${before.slice(0, 10)} → ${git(repository, "rev-parse", "main").slice(0, 10)}`);
  };
  await ship({ "cup.md": "full\n" });
  commit(repository, { "pot.md": "large\n" }, "mine");
  await move(id, "busy");
  await ship({ "spoon.md": "one\n" });
  expect(stage.files()).toEqual(["cup.md", "pot.md", "recipe.md", "spoon.md"]);
  return { ...stage, id, workspace, landings };
}

test("a merge of undone work that a restart interrupts is complete", async () => {
  const stage = await startStage("worktree", twice);
  const { begin, commit, goOn, undo, files, move, core, store, repository } = stage;
  const { id, workspace } = await begin();
  commit(workspace, { "cup.md": "full\n" });
  await goOn(id);
  await undo(id);
  await move(id, "busy");
  commit(workspace, { "spoon.md": "one\n" });
  // A file of the user's is in the way.
  writeFileSync(join(repository, "spoon.md"), "mine\n");
  await core.submit(id, { kind: "continue", actor: { role: "human" } });
  await expect.poll(async () => (await store.merges.get(id))?.state, { timeout: 20_000 }).toBe("waits");
  await core.close();
  const next = stage.start();
  onTestFinished(() => next.close());
  await next.recover();
  rmSync(join(repository, "spoon.md"));
  await expect.poll(files, { timeout: 20_000 }).toEqual(["cup.md", "recipe.md", "spoon.md"]);
});

test("several merges of a task are undone together, named, and restored together", async () => {
  const { id, undo, files, landings, move, begin, until, goOn } = await mergeTwice();
  expect(await undo(id)).toMatchObject({ state: "undone", reason: `2 merges were undone: ${landings.join(", ")}.` });
  expect(files()).toEqual(["pot.md", "recipe.md"]);
  await expect(undo(id)).rejects.toThrow("was already undone");
  await move(id, "dropped");
  await until(id, ({ isOpen }) => !isOpen);
  const second = await begin(id);
  expect(second.warnings).toEqual(broughtBack);
  await goOn(second.id);
  expect(files()).toEqual(["cup.md", "pot.md", "recipe.md", "spoon.md"]);
});

test("merges that changed the same lines are undone together, the last one first", async () => {
  const { begin, commit, goOn, move, undo, show } = await startStage("worktree", twice);
  const { id, workspace } = await begin();
  commit(workspace, { "recipe.md": "tea\n" });
  await goOn(id);
  await move(id, "busy");
  commit(workspace, { "recipe.md": "green tea\n" });
  await goOn(id);
  expect(show("recipe.md")).toBe("green tea");
  expect(await undo(id)).toMatchObject({ state: "undone" });
  expect(show("recipe.md")).toBe("beans");
});

test("the work of both merges is restored, also if a person reverted it with git", async () => {
  const { id, files, move, begin, until, goOn, git, repository } = await mergeTwice();
  for (const each of git(repository, "log", "--first-parent", "--merges", "--format=%H", "main").split("\n"))
    git(repository, "revert", "-m", "1", "--no-edit", each);
  expect(files()).toEqual(["pot.md", "recipe.md"]);
  await move(id, "dropped");
  await until(id, ({ isOpen }) => !isOpen);
  await goOn((await begin(id)).id);
  expect(files()).toEqual(["cup.md", "pot.md", "recipe.md", "spoon.md"]);
});

test("commits after an undone merge are continued together with it", async () => {
  const { id, workspace, undo, files, move, commit, begin, until, goOn } = await mergeTwice();
  commit(workspace, { "sugar.md": "two\n" });
  await undo(id);
  await move(id, "dropped");
  await until(id, ({ isOpen }) => !isOpen);
  await goOn((await begin(id)).id);
  expect(files()).toEqual(["cup.md", "pot.md", "recipe.md", "spoon.md", "sugar.md"]);
});

test("undoing a merge that found all of its work in the branch already says so", async () => {
  const { begin, commit, merge, undo, git, repository } = await startStage();
  const { id, workspace } = await begin();
  commit(workspace, { "cup.md": "full\n" });
  git(repository, "merge", "-q", "--no-edit", git(workspace, "rev-parse", "HEAD"));
  await merge(id);
  await expect(undo(id)).rejects.toMatchObject({
    message: '"main" already contained the work of coffee#1 when it was merged here, so there is no merge to undo.',
  });
});

test("sections that the earlier task's agents wrote for gates are kept below one heading, where they are not evidence", async () => {
  const gated = flow.replace(
    "  - { from: any",
    '  - { from: busy, to: todo, by: worker, gate: { section: "## Handoff" } }\n  - { from: any',
  );
  const { core, begin, until } = await startStage("worktree", gated);
  const first = await begin();
  const written = "## Context\n\nBeans first.\n\n## Handoff\n\nDONE: all\n\n## Notes\n\nx\n";
  const worker = { role: "worker", run: "worker#1", commit: "c0ffee", fingerprint: "" };
  const authors = { Context: { ...worker, role: "human" }, Handoff: worker, Notes: worker };
  await core.submit(first.id, { kind: "move", to: "dropped", actor: { role: "human" } });
  await until(first.id, ({ isOpen }) => !isOpen);
  await core.store.saveDocument(first.id, { text: written, authors }, [], 0);
  const second = await begin(first.id);
  const { text, authors: kept } = await core.store.getDocument(second.id);
  expect(text).toContain("## Context\n\nBeans first.");
  expect(text).toContain("## Earlier work\n\nWritten by the agents of coffee#1.\n\n### Handoff\n\nDONE: all");
  expect(text).not.toMatch(/^## Handoff/m);
  expect(Object.keys(kept)).toEqual(["Context", "Notes"]);
});
