import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { spawnCommands } from "../../src/adapters/system.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { createPredictions } from "../../src/daemon/merging/conflicts.ts";
import { lineOf } from "../../src/daemon/merging/merge-queue.ts";
import { syncTask } from "../../src/daemon/requests/branch-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { cancelMerge, mergeTask, undoTaskMerge } from "../../src/daemon/requests/merge-task.ts";
import { approveTask } from "../../src/daemon/requests/person.ts";
import { Fault } from "../../src/fault.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import type { Merge } from "../../src/ports/records.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { type GitStage, type GitStageOptions, human, startGitStage } from "./git-stage.ts";

async function startStage(options: GitStageOptions = {}) {
  const stage = await startGitStage({ poolSize: 30, ...options });
  const { core, repository, git, begin, store } = stage;
  const asked = <Body>(task: string, body: Body): Asked<object, Body> => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  return {
    ...stage,
    merge: (task: string, body: { strategy?: "merge" | "ff"; dryRun?: boolean; giveBack?: boolean } = {}) =>
      mergeTask(core)(asked(task, body)),
    approve: (task: string, commit?: string) => approveTask(core)(asked(task, commit === undefined ? {} : { commit })),
    undo: (task: string, dryRun = false) => undoTaskMerge(core)(asked(task, { dryRun })),
    stop: (task: string) => cancelMerge(core)(asked(task, {})),
    sync: (task: string) => syncTask(core)(asked(task, {})),
    explain: (task: string) => explainTask(core)(asked(task, undefined)),
    types: async (task: string) =>
      (await store.listEvents({ task }, 0, 100)).map(({ event }) => event.type).filter((type) => /^merge/.test(type)),
    task: (task: string) => stage.until(task, () => true),
    /** A task whose agent has committed these files. */
    async work(id: string, files: Readonly<Record<string, string>>) {
      const { workspace } = await begin(id);
      commit(stage, workspace, files);
      return workspace;
    },
    show: (path: string) => git(repository, "show", `main:${path}`),
    tip: () => git(repository, "rev-parse", "main"),
  };
}

function commit({ git }: GitStage, folder: string, files: Readonly<Record<string, string>>, message = "work") {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  git(folder, "add", ...Object.keys(files));
  git(folder, "commit", "-qm", message);
  return git(folder, "rev-parse", "HEAD");
}

test("merged work is in the user's branch and checkout before the task is done, as a merge that names the task", async () => {
  const { work, merge, show, repository, git, until, store, types } = await startStage();
  await work("b1111", { "cup.md": "full\n" });
  const before = git(repository, "rev-parse", "main");
  expect(await merge("b1111")).toMatchObject({ state: "merged", target: "main", before, task: { status: "done" } });
  expect(show("cup.md")).toBe("full");
  expect(readFileSync(join(repository, "cup.md"), "utf8")).toBe("full\n");
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(git(repository, "log", "-1", "--format=%s|%P|%an")).toMatch(/^Merge signalbox\/b1111: Brew\|\w+ \w+\|/);
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ workspace: "" });
  expect(await types("b1111")).toEqual(["merge.asked", "merge.landed"]);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
});

test("the user's changes in other files stay; in the same file the merge waits for them, and continues by itself", async () => {
  const { work, merge, show, repository, git, until, explain, tip, types } = await startStage();
  await work("b1111", { "recipe.md": "more beans\n" });
  await work("b2222", { "cup.md": "full\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  const before = tip();
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "waits", files: ["recipe.md"], task: { status: "busy" } });
  expect(tip()).toBe(before);
  expect((await explain("b1111")).blocked).toContainEqual(
    expect.objectContaining({ reason: expect.stringContaining("recipe.md") }),
  );
  // A second request gives the same answer, and another task does not wait.
  expect(await merge("b1111")).toMatchObject({ state: "waits", files: ["recipe.md"] });
  expect(await merge("b2222")).toMatchObject({ state: "merged" });
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("mine\n");
  git(repository, "stash");
  await until("b1111", ({ task }) => task.status === "done");
  expect(show("recipe.md")).toBe("more beans");
  expect(git(repository, "stash", "show", "-p")).toContain("+mine");
  expect(await types("b1111")).toEqual(["merge.asked", "merge.waits", "merge.landed"]);
});

test("a conflict changes nothing, and names the files", async () => {
  const stage = await startStage();
  const { work, merge, repository, tip, explain, store } = stage;
  await work("b1111", { "recipe.md": "tea\n" });
  commit(stage, repository, { "recipe.md": "cocoa\n" });
  const before = tip();
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "conflict", files: ["recipe.md"], task: { status: "busy" } });
  expect(answer.reason).toContain('conflicts with "main" in recipe.md');
  expect(tip()).toBe(before);
  expect((await explain("b1111")).blocked[0]?.reason).toContain("recipe.md");
  expect((await store.getTask("b1111"))?.task.status).toBe("busy");
});

test("if main moves during the tests, the work is merged onto it and tested again", async () => {
  const tested: string[] = [];
  const stage: Awaited<ReturnType<typeof startStage>> = await startStage({
    ports: {
      landing: {
        async test(commitId) {
          tested.push(commitId);
          if (tested.length === 1) commit(stage, stage.repository, { "sugar.md": "none\n" }, "mine");
          return "passed";
        },
      },
    },
  });
  await stage.work("b1111", { "cup.md": "full\n" });
  expect(await stage.merge("b1111")).toMatchObject({ state: "merged" });
  expect(tested.length).toBe(2);
  expect(tested[1]).toBe(stage.tip());
  expect([stage.show("cup.md"), stage.show("sugar.md")]).toEqual(["full", "none"]);
});

/** Runs something while the first merge is being tested. */
async function startMeddledStage(meddle: (stage: Awaited<ReturnType<typeof startStage>>, folder: string) => unknown) {
  let count = 0;
  const stage: Awaited<ReturnType<typeof startStage>> = await startStage({
    flow: thereAndBack,
    ports: {
      landing: {
        async test() {
          if (++count === 1) await meddle(stage, folder);
          return "passed";
        },
      },
    },
  });
  const folder = await stage.work("b1111", { "cup.md": "full\n" });
  const short = stage.git(folder, "rev-parse", "HEAD").slice(0, 10);
  return { ...stage, folder, short };
}

test("a commit that is made while its task is tested is not merged, and keeps the task from ending", async () => {
  const { merge, show, short, tip, types, git, repository, explain } = await startMeddledStage((stage, folder) =>
    commit(stage, folder, { "sugar.md": "two\n" }, "late"),
  );
  const before = tip();
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "merged", before, after: tip(), task: { status: "busy" } });
  expect(answer.reason).toBe(
    `${short} is merged into main. 1 later commit is not, so the task stays in busy. Merge it: signalbox task merge b1111`,
  );
  expect(show("cup.md")).toBe("full");
  expect(() => show("sugar.md")).toThrow();
  expect((await explain("b1111")).blocked).toContainEqual({ reason: answer.reason, fix: "" });
  expect(git(repository, "log", "--merges", "--format=%s", `${before}..main`).split("\n")).toHaveLength(1);
  expect(await merge("b1111")).toMatchObject({ state: "merged", reason: "", task: { status: "done" } });
  expect(show("sugar.md")).toBe("two");
  expect(await types("b1111")).toEqual(["merge.asked", "merge.landed", "merge.asked", "merge.landed"]);
});

test.each([
  ["a file that is not committed", "not committed", (folder: string) => writeFileSync(join(folder, "late.txt"), "x\n")],
  [
    "a workspace that leaves its branch",
    "on no branch",
    (folder: string) => execFileSync("git", ["-C", folder, "checkout", "-q", "--detach"]),
  ],
])("%s while the task is tested does not hide that its work has landed", async (_, told, meddle) => {
  const { merge, show, short, types, undo, git, folder } = await startMeddledStage((_stage, at) => meddle(at));
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "merged", task: { status: "busy" } });
  expect(answer.reason).toMatch(
    `${short} is merged into main. Some of the task's work is not, so the task stays in busy.`,
  );
  expect(answer.reason).toContain(told);
  expect(answer.reason).toMatch(/Then: signalbox task merge b1111$/);
  expect([show("cup.md"), await types("b1111")]).toEqual(["full", ["merge.asked", "merge.landed"]]);
  expect(await undo("b1111")).toMatchObject({ state: "undone" });
  expect(() => show("cup.md")).toThrow();
  rmSync(join(folder, "late.txt"), { force: true });
  git(folder, "checkout", "-q", "signalbox/b1111");
  expect(await merge("b1111")).toMatchObject({ state: "merged", reason: "", task: { status: "done" } });
  expect(show("cup.md")).toBe("full");
});

test.each([
  ["sent away", "away"],
  ["cancelled", "dropped"],
])("a task that is %s while it is tested is not merged, and the request is answered with the reason", async (_, to) => {
  const { merge, move, tip, types, task, until } = await startMeddledStage((stage) => stage.move("b1111", to));
  const before = tip();
  const reason = `The task has moved to "${to}" since the merge was requested, so its work is not merged.`;
  expect(await merge("b1111")).toMatchObject({ state: "refused", reason, task: { status: to } });
  expect([tip(), (await task("b1111")).status, await types("b1111")]).toEqual([
    ...[before, to],
    ["merge.asked", "merge.failed"],
  ]);
  if (to === "dropped") return void (await until("b1111", ({ isOpen }) => !isOpen));
  await move("b1111", "busy");
  expect(await merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
});

test("while a task is tested, explain shows who asked for the merge, since when and how far it is, and the task needs no person", async () => {
  const seen: Awaited<ReturnType<typeof explainTask>>[] = [];
  const { merge, short, explain, folder } = await startMeddledStage(async (stage) => {
    const [explained, stored] = [await stage.explain("b1111"), await stage.store.getTask("b1111")];
    expect(stored && (await stage.core.needs.of(stored))).toEqual([]);
    seen.push(explained as never);
  });
  writeFileSync(join(folder, "idea.md"), "cold brew\n");
  expect(await merge("b1111")).toMatchObject({ state: "refused" });
  const refused = (await explain("b1111")).blocked.map(({ reason }) => reason).join("\n");
  expect(refused).toMatch(/Not merged at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: There are changes/);
  rmSync(join(folder, "idea.md"));
  await merge("b1111");
  const told = `A person asked at .* UTC to merge ${short} into "main": its result is being tested.`;
  expect(seen).toMatchObject([{ where: expect.stringMatching(told), blocked: [] }]);
});

test("a person stops a merge while it is tested: nothing is merged, nobody is called for it, and it can be requested again", async () => {
  let stopping: Promise<unknown> | undefined;
  const { merge, stop, tip, types, task, explain, store, core, show } = await startMeddledStage(async (stage) => {
    const { merging } = stage.core.repositories ?? {};
    if (merging === undefined) throw new Error("The stage has no repositories.");
    const heard = vi.spyOn(merging, "cancel");
    stopping = stage.stop("b1111");
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 30_000);
  });
  const before = tip();
  const reason = "A person stopped the merge, so the task's work is not merged.";
  expect(await merge("b1111")).toMatchObject({ state: "refused", reason, task: { status: "busy" } });
  expect(await stopping).toMatchObject({ state: "refused", reason });
  expect([tip(), (await task("b1111")).status, await types("b1111")]).toEqual([
    ...[before, "busy"],
    ["merge.asked", "merge.failed"],
  ]);
  const stored = await store.getTask("b1111");
  expect(stored && (await core.needs.of(stored)).map((need) => need.reason)).toEqual(["approval"]);
  expect((await explain("b1111")).blocked.map((each) => each.reason).join()).not.toContain("Not merged at");
  await expect(stop("b1111")).rejects.toMatchObject({ message: "No merge of coffee#1 is in progress." });
  expect(await merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect(show("cup.md")).toBe("full");
  await expect(stop("b1111")).rejects.toMatchObject({ hint: expect.stringContaining("task merge b1111 --undo") });
});

test("stopping a merge ends its tests at once, also those of a batch, and the rest of the batch is tested again", async () => {
  const values = { testMerges: true, testCommand: ["sh", "-c", "test -e go || exec sleep 600"] };
  const stage = await startStage({ ports: { commands: spawnCommands, config: () => ({ values, problems: [] }) } });
  const { work, merge, stop, explain, git, repository } = stage;
  await work("b1111", { "cup.md": "full\n" });
  await work("b2222", { "pot.md": "full\n" });
  await work("b3333", { "milk.md": "full\n" });
  await work("b4444", { go: "\n" });
  const isTested = (task: string) =>
    expect
      .poll(async () => (await explain(task)).where, { timeout: 20_000 })
      .toMatch(new RegExp(`its result is being tested\\. To stop the merge: signalbox task merge ${task} --cancel$`));
  const asked = [merge("b1111")];
  await isTested("b1111");
  // These two wait for the first one, and are then tested together.
  asked.push(merge("b2222"), merge("b3333"));
  await expect.poll(async () => (await explain("b3333")).where).toMatch(/queued after/);
  expect(await stop("b1111")).toMatchObject({ state: "refused" });
  await isTested("b3333");
  expect(await stop("b3333")).toMatchObject({ state: "refused" });
  await isTested("b2222");
  expect(await stop("b2222")).toMatchObject({ state: "refused" });
  expect((await Promise.all(asked)).map(({ state }) => state)).toEqual(["refused", "refused", "refused"]);
  expect(await merge("b4444")).toMatchObject({ state: "merged" });
  expect(git(repository, "ls-tree", "--name-only", "main").split("\n").sort()).toEqual(["go", "recipe.md"]);
});

test("a merge that is published before it can be stopped is reported as merged", async () => {
  const stage = await startStage();
  const { work, merge, stop, repository, git } = stage;
  await work("b1111", { "recipe.md": "tea\n" });
  await work("b2222", { "cup.md": "full\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  // A merge that waits for a file of the user's can be stopped too.
  expect(await merge("b1111")).toMatchObject({ state: "waits" });
  expect(await stop("b1111")).toMatchObject({ state: "refused" });
  git(repository, "checkout", "-q", "recipe.md");
  const [merged, stopped] = await Promise.allSettled([merge("b2222"), moment().then(() => stop("b2222"))]);
  // Whichever comes first, both answers agree with the branch.
  const isMerged = git(repository, "ls-tree", "--name-only", "main").includes("cup.md");
  expect(merged).toMatchObject({ value: { state: isMerged ? "merged" : "refused" } });
  if (stopped.status === "fulfilled") expect(stopped.value.state).toBe(isMerged ? "merged" : "refused");
  else expect([isMerged, stopped.reason.message]).toEqual([true, "No merge of coffee#2 is in progress."]);
});

const moment = () => new Promise((resolve) => setTimeout(resolve, 60));

test("a merge that waits for a file of the user's merges the requested commit, also after a restart", async () => {
  const stage = await startStage();
  const { work, merge, repository, git, show, store, task, explain } = stage;
  const folder = await work("b1111", { "recipe.md": "tea\n" });
  const asked = git(folder, "rev-parse", "HEAD");
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  expect(await merge("b1111")).toMatchObject({ state: "waits" });
  expect(await store.merges.get("b1111")).toMatchObject({ only: asked });
  commit(stage, folder, { "cup.md": "full\n" });
  await explain("b1111");
  git(repository, "checkout", "-q", "recipe.md");
  await expect.poll(async () => (await store.merges.get("b1111"))?.endedAt, { timeout: 20_000 }).toBeDefined();
  expect(await store.merges.get("b1111")).toMatchObject({
    state: "merged",
    reason: expect.stringMatching(/1 later commit is not, so the task stays in busy/),
  });
  expect([show("recipe.md"), (await task("b1111")).status]).toEqual(["tea", "busy"]);
  expect(() => show("cup.md")).toThrow();
});

test("a merge that is given up leaves nothing in the user's checkout, even if git was killed while it wrote the files", async () => {
  const { work, merge, stop, repository, git, store, tip, control } = await startStage();
  await work("b1111", { "recipe.md": "changed\n", "cup.md": "full\n" });
  const before = tip();
  const lock = join(repository, ".git", "HEAD.lock");
  writeFileSync(lock, "");
  expect(await merge("b1111")).toMatchObject({ state: "waits" });
  expect(git(repository, "status", "--porcelain")).toBe("");
  const { after = "" } = (await store.merges.get("b1111")) ?? {};
  const notes = join((await control()).folder, "updates");
  writeFileSync(join(notes, createHash("sha256").update(repository).digest("hex").slice(0, 32)), `${after}\n`);
  git(repository, "read-tree", "-m", "-u", "HEAD", after);
  expect(git(repository, "status", "--porcelain")).not.toBe("");
  expect(await stop("b1111")).toMatchObject({ state: "refused" });
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(tip()).toBe(before);
  rmSync(lock);
});

test("with test_merges the project's tests are run on the result of the merge, in a separate checkout", async () => {
  const values = {
    testMerges: true,
    testCommand: ["sh", "-c", "test -e set-up && test ! -e bad.md"],
    setup: ["touch", "set-up"],
  };
  const stage = await startStage({ ports: { commands: spawnCommands, config: () => ({ values, problems: [] }) } });
  const { work, merge, tip, show, repository, git } = stage;
  commit(stage, repository, { ".gitignore": "set-up\n" });
  await work("b1111", { "cup.md": "full\n" });
  await work("b2222", { "bad.md": "cold\n" });
  await work("b3333", { "pot.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  const before = tip();
  const answer = await merge("b2222");
  expect(answer).toMatchObject({ state: "tests", task: { status: "busy" } });
  expect(answer.reason).toContain("The tests fail on the result of the merge.");
  expect(tip()).toBe(before);
  expect(await merge("b3333")).toMatchObject({ state: "merged" });
  expect([show("cup.md"), show("pot.md")]).toEqual(["full", "full"]);
  expect([git(repository, "status", "--porcelain"), git(repository, "branch", "--list", "merging/*")]).toEqual([
    "",
    "",
  ]);
});

test("of many queued tasks those whose tests fail are found, and the others are merged", async () => {
  let gate: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => {
    gate = resolve;
  });
  let runs = 0;
  const stage: Awaited<ReturnType<typeof startStage>> = await startStage({
    ports: {
      landing: {
        async test(commitId) {
          runs += 1;
          await opened;
          const { folder } = await stage.control();
          return stage.git(folder, "ls-tree", "--name-only", commitId).includes("bad.md")
            ? { failing: "2 tests failed" }
            : "passed";
        },
      },
    },
  });
  const ids = ["b1111", "b2222", "b3333", "b4444", "b5555", "b6666"];
  for (const id of ids) await stage.work(id, { [id === "b4444" ? "bad.md" : `${id}.md`]: "x\n" });
  const answers = Promise.all(ids.map((id) => stage.merge(id)));
  await stage.until("b6666", () => true);
  gate?.();
  expect((await answers).map(({ state }) => state)).toEqual([
    "merged",
    "merged",
    "merged",
    "tests",
    "merged",
    "merged",
  ]);
  expect(existsSync(join(stage.repository, "bad.md"))).toBe(false);
  for (const id of ids) if (id !== "b4444") expect(stage.show(`${id}.md`)).toBe("x");
  expect(runs).toBeLessThan(12);
  expect((await stage.store.merges.get("b4444"))?.reason).toBe("2 tests failed");
});

test("uncommitted changes keep a task from being merged, and the refusal says what to do", async () => {
  const { work, merge, tip } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  writeFileSync(join(workspace, "idea.md"), "cold brew\n");
  const before = tip();
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "refused", task: { status: "busy" } });
  expect(answer.reason).toContain("not committed");
  expect(tip()).toBe(before);
  rmSync(join(workspace, "idea.md"));
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
});

test("a task whose work is already in the branch only moves", async () => {
  const { work, merge, repository, git, tip } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  git(repository, "pull", "-q", "--no-rebase", "--no-edit", workspace, "HEAD");
  const before = tip();
  const there = { state: "merged", before, after: before, empty: false };
  expect(await merge("b1111", { dryRun: true })).toMatchObject(there);
  expect(await merge("b1111")).toMatchObject({ ...there, task: { status: "done" } });
  expect(tip()).toBe(before);
});

test.each(["worktree", "clone"] as const)(
  "a %s whose branch has no commit of its own is merged as empty, even if its agent has committed in the user's checkout",
  async (workspaces) => {
    const stage = await startStage();
    const { merge, repository, tip, begin, core } = stage;
    await core.store.updateProject("coffee", { workspaces });
    await begin("b1111");
    commit(stage, repository, { "cup.md": "full\n" });
    const before = tip();
    const nothing = { state: "merged", before, after: before, empty: true };
    expect(await merge("b1111", { dryRun: true })).toMatchObject(nothing);
    expect(await merge("b1111")).toMatchObject(nothing);
  },
);

test("an approval after which the workflow merges says whether there is nothing to merge", async () => {
  const flow = `
version: 1
states:
  todo: { waits_for: human, next: merge }
  merge: { waits_for: human, ask: Merge, do: [merge, release_workspace], next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: merge, hooks: [acquire_workspace] }
`;
  const { begin, work, approve, until } = await startStage({ flow });
  await begin("b1111");
  expect(await approve("b1111")).toMatchObject({ change: { task: { status: "merge" } }, merge: null, empty: true });
  await until("b1111", ({ isOpen }) => !isOpen);
  await work("b2222", { "cup.md": "full\n" });
  expect(await approve("b2222")).toMatchObject({ merge: null, empty: false });
});

test("a branch that was recreated at its last commit is not empty", async () => {
  const { work, merge, repository, git } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  git(repository, "pull", "-q", "--no-rebase", "--no-edit", workspace, "HEAD");
  git(workspace, "checkout", "-q", "--detach");
  git(workspace, "branch", "-qD", "signalbox/b1111");
  git(workspace, "switch", "-qC", "signalbox/b1111");
  expect(await merge("b1111")).toMatchObject({ state: "merged", empty: false });
});

test("a fast-forward makes no commit, and is refused if the branches have diverged", async () => {
  const stage = await startStage();
  const workspace = await stage.work("b1111", { "cup.md": "full\n" });
  await stage.work("b2222", { "pot.md": "full\n" });
  expect(await stage.merge("b1111", { strategy: "ff" })).toMatchObject({ state: "merged" });
  expect(stage.tip()).toBe(stage.git(workspace, "rev-parse", "signalbox/b1111"));
  const answer = await stage.merge("b2222", { strategy: "ff" });
  expect(answer).toMatchObject({ state: "refused", task: { status: "busy" } });
  expect(answer.reason).toContain("signalbox task sync");
  expect(await stage.sync("b2222")).toMatchObject({ from: "main", commits: 1 });
  expect(readFileSync(join((await stage.store.getTask("b2222"))?.task.workspace ?? "", "cup.md"), "utf8")).toBe(
    "full\n",
  );
  expect(await stage.merge("b2222", { strategy: "ff" })).toMatchObject({ state: "merged" });
});

test("a clone is synchronised as well, and a conflict changes nothing there", async () => {
  const stage = await startStage();
  const { begin, core, repository, sync, git } = stage;
  await core.store.updateProject("coffee", { workspaces: "clone" });
  const { workspace } = await begin("b1111");
  commit(stage, workspace, { "cup.md": "full\n" });
  commit(stage, repository, { "sugar.md": "none\n" });
  expect(await sync("b1111")).toMatchObject({ from: "main", commits: 1 });
  expect(readFileSync(join(workspace, "sugar.md"), "utf8")).toBe("none\n");
  expect(git(workspace, "status", "--porcelain")).toBe("");
  expect(git(workspace, "log", "-1", "--format=%s")).toBe("Merge main into signalbox/b1111");
  expect(await sync("b1111")).toMatchObject({ commits: 0 });
  commit(stage, repository, { "cup.md": "empty\n" });
  const before = git(workspace, "rev-parse", "HEAD");
  await expect(sync("b1111")).rejects.toThrow('"main" conflicts with "signalbox/b1111" in cup.md');
  expect(git(workspace, "rev-parse", "HEAD")).toBe(before);
  // The agent that resolves it finds the branch to merge under its name.
  expect(git(workspace, "rev-parse", "main")).toBe(stage.tip());
});

const asked = `
version: 1
roles: { worker: { mode: session, prompt: work } }
states:
  todo: { waits_for: human, next: looked-at }
  looked-at: { waits_for: human, ask: Merge, next: done }
  redone: { agent: { role: worker, prompt: work } }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: looked-at, hooks: [acquire_workspace] }
  - { from: looked-at, to: redone, by: human }
  - { from: redone, to: looked-at, by: worker }
  - { from: looked-at, to: done, by: human, when: merged == true, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
prompts: { work: Work. }
`;

test("if the workflow itself merges after an approval, a request to merge names that command", async () => {
  const flow = asked.replace("ask: Merge, next", "ask: Merge, do: [merge], next").replace(/.*merged == true.*\n/, "");
  const { work, merge } = await startStage({ flow });
  await work("b1111", { "recipe.md": "tea\n" });
  const refused = await merge("b1111").catch((error) => error);
  const fix =
    "See what it would merge: signalbox task merge b1111 --dry-run\nLet it merge: signalbox task approve b1111";
  expect(refused.reasons).toEqual([expect.objectContaining({ fix })]);
});

test("a conflict is given to the agent if a person has one way back, unless the person declines", async () => {
  const stage = await startStage({ flow: asked });
  const { work, merge, sync, repository, store, tip, explain } = stage;
  await work("b1111", { "recipe.md": "tea\n" });
  await work("b2222", { "recipe.md": "water\n" });
  commit(stage, repository, { "recipe.md": "cocoa\n" });
  const before = tip();
  const kept = await merge("b1111", { giveBack: false });
  expect(kept).toMatchObject({ state: "conflict", givenBack: null, task: { status: "looked-at" } });
  const given = { to: "redone", run: "worker#1", how: "start" };
  expect(await merge("b1111")).toMatchObject({ state: "conflict", givenBack: given, task: { status: "redone" } });
  const told = 'The task\'s work conflicts with "main" in recipe.md. worker#1 was told to resolve the conflict';
  expect((await explain("b1111")).blocked.map(({ reason }) => reason).join("\n")).toContain(told);
  expect((await store.getDocument("b1111")).text).toMatch(/^## Feedback\n\n[\s\S]*- recipe\.md[\s\S]*git merge main/m);
  expect(await sync("b2222")).toMatchObject({ files: ["recipe.md"], givenBack: given, task: { status: "redone" } });
  expect(tip()).toBe(before);
  const [started] = await store.openEffects("b1111");
  expect(started?.effect).toMatchObject({
    action: "spawn_agent",
    agent: { message: expect.stringContaining("## Feedback") },
  });
});

test("an approval is for one commit: later commits are not merged, and need an approval of their own", async () => {
  const stage = await startStage({ flow: asked });
  const { work, approve, repository, store, git, tip, show, until } = stage;
  const folder = await work("b1111", { "recipe.md": "tea\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  expect(await approve("b1111")).toMatchObject({ change: null, merge: { state: "waits" } });
  commit(stage, folder, { "cup.md": "full\n" });
  const before = tip();
  git(repository, "checkout", "-q", "recipe.md");
  await expect.poll(async () => (await store.merges.get("b1111"))?.endedAt, { timeout: 20_000 }).toBeDefined();
  expect((await store.merges.get("b1111"))?.reason).toMatch(
    /^\w+ is merged into main\. 1 later commit is not, so the task stays in looked-at\./,
  );
  expect([tip() === before, show("recipe.md")]).toEqual([false, "tea"]);
  expect(() => show("cup.md")).toThrow();
  const head = git(folder, "rev-parse", "HEAD");
  await expect(approve("b1111", "0".repeat(40))).rejects.toThrow("not at 0000");
  expect(await approve("b1111", head)).toMatchObject({ commit: head, merge: { state: "merged" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(show("cup.md")).toBe("full");
});

const thereAndBack = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  away: { waits_for: human, next: busy }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace] }
  - { from: busy, to: away, by: human }
  - { from: away, to: busy, by: human }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

test("a task that moves while it is merged is not merged, and a new request gets its own answer", async () => {
  const isTested = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<"passed">();
  const stage = await startStage({
    flow: thereAndBack,
    ports: {
      landing: {
        test: () => {
          isTested.resolve();
          return goOn.promise;
        },
      },
    },
  });
  const { work, merge, move, store, until, show, types } = stage;
  await work("b1111", { "cup.md": "full\n" });
  const first = merge("b1111");
  await isTested.promise;
  await move("b1111", "away");
  await move("b1111", "busy");
  const second = merge("b1111");
  goOn.resolve("passed");
  const reason = 'The task has moved to "busy" since the merge was requested, so its work is not merged.';
  expect(await first).toMatchObject({ state: "refused", reason });
  expect(await second).toMatchObject({ state: "merged", reason: "", task: { status: "done" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(show("cup.md")).toBe("full");
  expect(await types("b1111")).toEqual(["merge.asked", "merge.failed", "merge.asked", "merge.landed"]);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
});

describe("after a crash", () => {
  const landed = (after: string): Merge => ({
    ...{ id: "b1111", project: "coffee", task: "b1111", at: 5, target: "main", strategy: "merge", to: "done" },
    ...{ by: "human", state: "merged", reason: "", files: [], commit: "c", before: "b", after, endedAt: undefined },
  });
  const ended = { state: "merged", reason: "", endedAt: expect.any(Number) };

  test("landed work is not merged again, even if the branch does not have its commits; the task only moves", async () => {
    const { work, store, core, until, tip, types } = await startStage();
    await work("b1111", { "cup.md": "full\n" });
    const before = tip();
    // As if a forge has squashed it.
    await store.pullRequests.put({
      ...{ id: "b1111", project: "coffee", task: "b1111", at: 5, number: 1, url: "https://example.test/1" },
      ...{ head: "signalbox/b1111", headCommit: "c", base: "main", title: "Brew", body: "", isDraft: false },
      ...{ state: "merged", mergedCommit: "c9", review: "none", checks: "none", comments: {}, seenAt: 5, told: {} },
    });
    await store.merges.put(landed("c9"));
    await core.repositories?.merging.recover();
    await until("b1111", ({ isOpen }) => !isOpen);
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, after: "c9" });
    expect([tip(), await types("b1111")]).toEqual([before, []]);
  });

  test("a merge that a person requested before the task moved on is cancelled", async () => {
    const { work, move, store, core, tip, types, task } = await startStage({ flow: thereAndBack });
    await work("b1111", { "cup.md": "full\n" });
    const before = tip();
    const asked: Merge = { ...landed(""), state: "lined-up", commit: "", before: "" };
    await store.merges.put({ ...asked, entry: (await task("b1111")).entry });
    await move("b1111", "away");
    await core.repositories?.merging.recover();
    const reason = 'The task has moved to "away" since the merge was requested, so its work is not merged.';
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, state: "refused", reason });
    expect([tip(), (await task("b1111")).status, await types("b1111")]).toEqual([before, "away", ["merge.failed"]]);
  });

  test.each([
    ["a person", "done"],
    ["its workflow", ""],
  ])(
    "a merge that %s requested and that was published is recorded as merged, although its task has moved on",
    async (_, to) => {
      const { work, move, store, core, tip, types, git, repository, task } = await startStage({ flow: thereAndBack });
      const workspace = await work("b1111", { "cup.md": "full\n" });
      const before = tip();
      const commitId = git(workspace, "rev-parse", "HEAD");
      git(repository, "fetch", "-q", workspace, commitId);
      git(repository, "merge", "-q", "--no-ff", "--no-edit", commitId);
      const { entry } = await task("b1111");
      await store.merges.put({ ...landed(tip()), state: "lined-up", commit: commitId, before, entry, to });
      await move("b1111", "away");
      await core.repositories?.merging.recover();
      const told = to === "" ? "" : 'The work is merged, but the task had moved to "away" before.';
      await expect
        .poll(() => store.merges.get("b1111"))
        .toMatchObject({ ...ended, reason: told, after: tip(), before });
      expect([(await task("b1111")).status, await types("b1111")]).toEqual(["away", ["merge.landed"]]);
    },
  );

  test("work that was published before its workflow was told is neither merged nor reported twice", async () => {
    const { work, merge, store, core, tip, types, task } = await startStage({ flow: thereAndBack });
    await work("b1111", { "cup.md": "full\n" });
    await work("b2222", { "recipe.md": "tea\n" });
    // As the effect does it, and again because it could not be marked done.
    const wanted = { target: "main", strategy: "merge", to: "", by: "engine" } as const;
    const ask = async () => core.repositories?.merging.askAndWait(await task("b1111"), wanted);
    const first = await ask();
    const after = tip();
    expect(first).toMatchObject({ state: "merged", after });
    await merge("b2222");
    const told = await types("b1111");
    expect(await ask()).toMatchObject({ state: "merged", after });
    expect(await store.merges.get("b1111")).toMatchObject({ ...ended, after });
    expect(await types("b1111")).toEqual(told);
  });

  test.each([
    ["a person", "done"],
    ["its workflow", ""],
  ])(
    "a merge that %s requested merges the commit that was checked, although the branch has moved since",
    async (_, to) => {
      const stage = await startStage();
      const { work, store, core, task, explain, git, show } = stage;
      const folder = await work("b1111", { "cup.md": "full\n" });
      const only = git(folder, "rev-parse", "HEAD");
      const { entry } = await task("b1111");
      await store.merges.put({ ...landed(""), state: "lined-up", commit: "", before: "", entry, to, only });
      commit(stage, folder, { "unseen.md": "never reviewed\n" });
      await explain("b1111");
      if (to !== "") await core.repositories?.merging.recover();
      else {
        const wanted = { target: "main", strategy: "merge", to, by: "engine" } as const;
        await core.repositories?.merging.askAndWait(await task("b1111"), wanted);
      }
      await expect.poll(async () => (await store.merges.get("b1111"))?.endedAt).toBeDefined();
      expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", only, commit: only });
      expect(show("cup.md")).toBe("full");
      expect(() => show("unseen.md")).toThrow();
    },
  );

  test("a task that had moved already stays merged", async () => {
    const { work, merge, store, core, types, until } = await startStage();
    await work("b1111", { "cup.md": "full\n" });
    const { after } = await merge("b1111");
    await until("b1111", ({ isOpen }) => !isOpen);
    await store.merges.put(landed(after));
    await core.repositories?.merging.recover();
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, after });
    expect(await types("b1111")).toEqual(["merge.asked", "merge.landed"]);
    const refused = (await store.listEvents({ task: "b1111" }, 0, 100)).filter(
      ({ event }) => event.type === "request.rejected",
    );
    expect(refused).toEqual([]);
  });

  test("a merge that was only planned does not count as the merge of the work", async () => {
    const { work, store, core, until, git, repository, control, tip, explain } = await startStage();
    const workspace = await work("b1111", { "cup.md": "full\n" });
    await explain("b1111");
    const { folder } = await control();
    const planned = git(
      folder,
      "commit-tree",
      "-p",
      git(workspace, "rev-parse", "HEAD"),
      "-p",
      tip(),
      "-m",
      "planned",
      `${tip()}^{tree}`,
    );
    await store.merges.put({ ...landed(planned), state: "lined-up" });
    git(repository, "pull", "-q", "--no-rebase", "--no-edit", workspace, "HEAD");
    await core.repositories?.merging.recover();
    await until("b1111", ({ isOpen }) => !isOpen);
    const merge = await store.merges.get("b1111");
    expect(merge?.before).toBe(merge?.after);
  });
});

test("a remote with a path relative to the repository gets the merge too", async () => {
  const { work, merge, repository, git, tip } = await startStage();
  execFileSync("git", ["clone", "-q", "--bare", repository, join(repository, "..", "remote.git")]);
  git(repository, "remote", "add", "origin", "../remote.git");
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect(git(join(repository, "..", "remote.git"), "rev-parse", "main")).toBe(tip());
});

test("a merge, its undo and their dry runs report the push, and how many of the user's own commits go with it", async () => {
  const stage = await startStage();
  const { work, merge, undo, repository, git, tip } = stage;
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  await work("b1111", { "cup.md": "full\n" });
  await work("b2222", { "pot.md": "full\n" });
  // Nobody has fetched from the remote or pushed to it yet.
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ pushed: { remote: "origin", commits: null } });
  git(repository, "fetch", "-q", "origin");
  commit(stage, repository, { "sugar.md": "none\n" }, "mine");
  commit(stage, repository, { "milk.md": "none\n" }, "mine too");
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ pushed: { remote: "origin", commits: 2 } });
  expect(await merge("b1111")).toMatchObject({ state: "merged", pushed: { remote: "origin", commits: 2 } });
  expect(git(remote, "rev-parse", "main")).toBe(tip());
  // The daemon pushed, so the user's own record of the remote is older than the daemon's.
  expect(await merge("b2222", { dryRun: true })).toMatchObject({ pushed: { remote: "origin", commits: 0 } });
  expect(await merge("b2222")).toMatchObject({ pushed: { remote: "origin", commits: 0 } });
  commit(stage, repository, { "tea.md": "none\n" }, "mine again");
  expect(await undo("b2222", true)).toMatchObject({ dryRun: true, pushed: { remote: "origin", commits: 1 } });
  expect(await undo("b2222")).toMatchObject({ state: "undone", pushed: { remote: "origin", commits: 1 } });
});

test("a dry run changes nothing, and lists what would change", async () => {
  const { work, merge, tip, types, store } = await startStage();
  await work("b1111", { "cup.md": "full\n", "pot.md": "full\n" });
  const before = tip();
  expect(await merge("b1111", { dryRun: true })).toMatchObject({
    ...{ state: "merged", commits: 1, changed: ["cup.md", "pot.md"], dryRun: true, task: { status: "busy" } },
  });
  expect(tip()).toBe(before);
  expect(await types("b1111")).toEqual([]);
  expect(await store.merges.get("b1111")).toBeUndefined();
});

test("a merge and its dry run report that nothing is tested although there is a test command, until test_merges is on", async () => {
  let values: PartialConfig = { testCommand: ["true"] };
  const ports = { commands: spawnCommands, config: () => ({ values, problems: [] }) };
  const { work, merge } = await startStage({ ports });
  for (const id of ["b1111", "b2222", "b3333"]) await work(id, { [`${id}.md`]: "full\n" });
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ state: "merged", untested: "off" });
  expect(await merge("b1111")).toMatchObject({ state: "merged", untested: "off" });
  values = { testCommand: ["true"], testMerges: true };
  expect(await merge("b2222", { dryRun: true })).toMatchObject({ state: "merged", untested: null });
  expect(await merge("b2222")).toMatchObject({ state: "merged", untested: null });
  values = {};
  expect(await merge("b3333")).toMatchObject({ state: "merged", untested: null });
});

test("a merge and its dry run report that nothing is tested although test_merges is on, if there is no test command", async () => {
  const ports = { commands: spawnCommands, config: () => ({ values: { testMerges: true }, problems: [] }) };
  const { work, merge } = await startStage({ ports });
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ state: "merged", untested: "no-command" });
  expect(await merge("b1111")).toMatchObject({ state: "merged", untested: "no-command" });
});

test("a dry run names the user's file that would block the merge", async () => {
  const { work, merge, repository, tip } = await startStage();
  await work("b1111", { "cup.md": "full\n" });
  writeFileSync(join(repository, "cup.md"), "mine\n");
  const before = tip();
  const preview = await merge("b1111", { dryRun: true });
  expect(preview).toMatchObject({ state: "waits", files: ["cup.md"], commits: 1, changed: ["cup.md"], dryRun: true });
  // The file is new in the branch and untracked here: git stash alone would leave it.
  const aside = `git -C ${repository} stash --include-untracked`;
  expect(preview.reason).toBe(
    `Untracked files in ${repository} are in the way: cup.md. Move them away or, unless git ignores them: ${aside}`,
  );
  execFileSync("sh", ["-c", aside], { stdio: "ignore" });
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ state: "merged" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  await work("b2222", { "recipe.md": "tea\n" });
  const changed = await merge("b2222", { dryRun: true });
  expect(changed.reason).toContain("Your own changes");
  expect(tip()).toBe(before);
});

test("a merge can be undone, also below later merges, and only once", async () => {
  const { work, merge, undo, repository, show, tip, explain } = await startStage();
  await work("b1111", { "recipe.md": "tea\n" });
  await work("b2222", { "cup.md": "full\n" });
  await merge("b1111");
  await merge("b2222");
  expect(await undo("b1111")).toMatchObject({ state: "undone" });
  expect([show("recipe.md"), show("cup.md")]).toEqual(["beans", "full"]);
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("beans\n");
  const before = tip();
  await expect(undo("b1111")).rejects.toThrow("was already undone");
  // Git has the commits already, so fetching and merging them would bring nothing back.
  const back = "To bring its work back in a new task: signalbox task create --from b1111";
  await expect(merge("b1111")).rejects.toMatchObject({
    reasons: [{ text: expect.stringContaining('Its merge into "main" was undone.'), fix: back }],
  });
  const { where, blocked } = await explain("b1111");
  expect(`${where} ${JSON.stringify(blocked)}`).not.toContain("git merge");
  expect(blocked).toMatchObject([{ fix: back }]);
  expect(tip()).toBe(before);
});

test("the remote gets the merge too; if it refuses, nothing has moved and the task stays", async () => {
  const { work, merge, explain, repository, git, tip } = await startStage();
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect(git(remote, "rev-parse", "main")).toBe(tip());

  const hook = join(remote, "hooks", "pre-receive");
  writeFileSync(hook, "#!/bin/sh\necho only by pull request >&2\nexit 1\n", { mode: 0o755 });
  await work("b2222", { "pot.md": "full\n" });
  const before = tip();
  const answer = await merge("b2222");
  expect(answer).toMatchObject({ state: "refused", task: { status: "busy" } });
  expect(answer.reason).toContain("could not be pushed");
  expect([tip(), git(remote, "rev-parse", "main")]).toEqual([before, before]);
  // The remote's own words, and not only "git says:".
  const { blocked, task } = await explain("b2222");
  expect(blocked[0]?.reason).toContain("only by pull request");
  expect(task.needs[0]).toMatchObject({
    text: expect.stringContaining("Read the remote's message"),
    brief: expect.stringMatching(/^Not merged at [^\n]*only by pull request[^\n]*$/),
  });
});

test("a merge waits for a remote whose folder is gone, says how to name another, and continues when it is back", async () => {
  const { work, merge, explain, repository, git, tip, until, core, adapter } = await startStage();
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  await work("b1111", { "cup.md": "full\n" });
  renameSync(remote, `${remote}-away`);
  const answer = await merge("b1111");
  expect(answer).toMatchObject({ state: "waits", task: { status: "busy" } });
  expect(answer.reason).toContain(`there is no folder ${remote}`);
  const rename = `git -C ${repository} remote set-url origin ADDRESS && signalbox project trust coffee`;
  expect(answer.reason).toContain(rename);
  expect((await explain("b1111")).task.needs[0]?.text).toContain("remote set-url");
  renameSync(`${remote}-away`, remote);
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(git(remote, "rev-parse", "main")).toBe(tip());

  // The advice.
  await work("b2222", { "pot.md": "full\n" });
  renameSync(remote, `${remote}-away`);
  expect(await merge("b2222")).toMatchObject({ state: "waits" });
  git(repository, "remote", "set-url", "origin", `${remote}-away`);
  await core.store.updateProject("coffee", { obeyed: await adapter.obeyed(repository) });
  await merge("b2222");
  await until("b2222", ({ isOpen }) => !isOpen);
  expect(git(`${remote}-away`, "rev-parse", "main")).toBe(tip());
}, 60_000);

test("the work is merged onto commits that others pushed meanwhile, and the user's branch gets both", async () => {
  const stage = await startStage();
  const { work, merge, repository, git, show, tip } = stage;
  const remote = join(repository, "..", "remote.git");
  const other = join(repository, "..", "other");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  execFileSync("git", ["clone", "-q", remote, other]);
  commit(stage, other, { "sugar.md": "none\n" });
  git(other, "push", "-q", "origin", "main");
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect([show("cup.md"), show("sugar.md")]).toEqual(["full", "none"]);
  expect(git(remote, "rev-parse", "main")).toBe(tip());

  commit(stage, other, { "milk.md": "oat\n" });
  git(other, "pull", "-q", "--no-rebase", "origin", "main");
  git(other, "push", "-q", "origin", "main");
  commit(stage, repository, { "milk.md": "cow\n" });
  await work("b2222", { "pot.md": "full\n" });
  const answer = await merge("b2222");
  expect(answer).toMatchObject({ state: "refused" });
  expect(answer.reason).toContain("git pull");
});

test("if the remote's branch is authoritative, the user's changes do not block a merge, and the user's branch follows when it can", async () => {
  const config = () => ({ values: { land: "remote" as const }, problems: [] });
  const stage = await startStage({ ports: { config } });
  const { work, merge, repository, git, show, tip } = stage;
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  const there = () => git(remote, "rev-parse", "main");
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect([tip(), show("cup.md")]).toEqual([there(), "full"]);

  const before = tip();
  writeFileSync(join(repository, "cup.md"), "mine\n");
  await work("b2222", { "cup.md": "empty\n" });
  expect(await merge("b2222")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect([tip(), readFileSync(join(repository, "cup.md"), "utf8")]).toEqual([before, "mine\n"]);
  expect(git(remote, "show", "main:cup.md")).toBe("empty");

  commit(stage, repository, { "milk.md": "cow\n" });
  const own = tip();
  await work("b3333", { "pot.md": "full\n" });
  expect(await merge("b3333")).toMatchObject({ state: "merged" });
  expect(tip()).toBe(own);
  expect(git(remote, "show", "main:pot.md")).toBe("full");
});

/** Conflicts are predicted in the background. */
const patience = { timeout: 60_000 };

test("tasks that will conflict are warned long before they are merged, and only while both are open", async () => {
  const stage = await startStage();
  const { work, core, explain, types, merge, git } = stage;
  await work("b1111", { "recipe.md": "tea\n" });
  const other = await work("b2222", { "recipe.md": "cocoa\n", "cup.md": "full\n" });
  await explain("b1111");
  await explain("b2222");
  await expect
    .poll(async () => (await explain("b1111")).warnings, patience)
    .toEqual(["The task will conflict with coffee#2 (Brew) in recipe.md."]);
  expect(await types("b2222")).toEqual(["merge.predicted"]);
  git(other, "revert", "--no-edit", "HEAD");
  await explain("b2222");
  await expect.poll(async () => (await explain("b1111")).warnings, patience).toEqual([]);
  commit(stage, other, { "recipe.md": "cocoa\n" });
  await explain("b2222");
  await expect.poll(async () => (await explain("b1111")).warnings.length, patience).toBe(1);
  await merge("b2222");
  await stage.until("b2222", ({ isOpen }) => !isOpen);
  expect((await explain("b1111")).warnings).toEqual([]);
  expect(core.repositories?.predictions.of("b1111").length).toBeLessThan(2);
});

test("no conflict is predicted between tasks that change different files, wherever main was when each began", async () => {
  const stage = await startStage();
  const { work, explain, repository, git, store, workspacesOf } = stage;
  const folder = await work("b1111", { "recipe.md": "tea\n" });
  commit(stage, repository, { "recipe.md": "cocoa\n" });
  await work("b2222", { "cup.md": "full\n" });
  await work("b3333", { "recipe.md": "milk\n" });
  for (const id of ["b1111", "b2222", "b3333"]) await explain(id);
  const clock = createScriptedClock();
  const predictions = createPredictions({ store, clock, workspacesOf, onError: expect.unreachable });
  const { task } = (await store.getTask("b1111")) ?? {};
  if (task !== undefined) predictions.collected(task, git(folder, "rev-parse", "HEAD"), 1);
  const found = async () => {
    await clock.pass(1_000);
    return predictions.of("b1111");
  };
  await expect.poll(found, patience).toEqual([{ task: "b3333", files: ["recipe.md"] }]);
  await predictions.stop();
  expect(predictions.of("b1111")).toHaveLength(1);
});

test("also after a restart, no conflict is predicted with a task without commits", async () => {
  const stage = await startStage();
  const { work, begin, explain, repository, git, store, workspacesOf } = stage;
  const folder = await work("b1111", { "recipe.md": "tea\n" });
  await work("b3333", { "recipe.md": "milk\n" });
  commit(stage, repository, { "recipe.md": "cocoa\n" });
  await begin("b2222");
  for (const id of ["b1111", "b2222", "b3333"]) await explain(id);
  const { task } = (await store.getTask("b1111")) ?? {};
  const clock = createScriptedClock();
  const predictions = createPredictions({
    store,
    clock,
    workspacesOf,
    onError: expect.unreachable,
  });
  if (task !== undefined) predictions.collected(task, git(folder, "rev-parse", "HEAD"), 1);
  // The newest task is compared first: when the other conflict is found, no further one can follow.
  const found = async () => {
    await clock.pass(1_000);
    return predictions.of("b1111").map(({ task: other }) => other);
  };
  await expect.poll(found, patience).toContain("b3333");
  expect(predictions.of("b1111")).toHaveLength(1);
  await predictions.stop();
});

const byItself = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: merging }
  merging:
    do: [{ action: merge, strategy: no-ff }]
    next: done
    outcomes: [{ on: conflict, then: busy }]
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: merging, to: done, by: engine, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

test("a workflow can merge by itself: a conflict goes back with the files, and cancelling ends a wait", async () => {
  const stage = await startStage({ flow: byItself });
  const { work, core, until, repository, show, git } = stage;
  await work("b1111", { "cup.md": "full\n" });
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(show("cup.md")).toBe("full");

  await work("b2222", { "recipe.md": "tea\n" });
  commit(stage, repository, { "recipe.md": "cocoa\n" });
  await core.submit("b2222", { kind: "continue", actor: human });
  const back = await until(
    "b2222",
    ({ task }) => task.status === "busy" && task.phase === "waiting" && task.reason !== "",
  );
  expect(back.reason).toContain("recipe.md");

  await work("b3333", { "recipe.md": "cocoa with tea\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  await core.submit("b3333", { kind: "continue", actor: human });
  for (let i = 0; i < 500 && (await stage.types("b3333")).at(-1) !== "merge.waits"; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await core.submit("b3333", { kind: "move", to: "dropped", actor: human });
  await until("b3333", ({ isOpen }) => !isOpen);
  git(repository, "stash");
  expect(show("recipe.md")).toBe("cocoa");
});

test("a workflow merges the present commit, not the one that was checked for a merge of an earlier stay", async () => {
  const stage = await startStage({ flow: byItself });
  const { work, core, until, show, store, task, git, types } = stage;
  const folder = await work("b1111", { "cup.md": "full\n" });
  const old = git(folder, "rev-parse", "HEAD");
  const { entry } = await task("b1111");
  const interrupted: Merge = {
    ...{
      id: "b1111",
      project: "coffee",
      task: "b1111",
      at: 5,
      target: "main",
      strategy: "merge",
      to: "",
      by: "engine",
    },
    ...{ state: "lined-up", reason: "", files: [], commit: "", before: "", after: "", endedAt: undefined },
  };
  await store.merges.put({ ...interrupted, entry, only: old });
  const now = commit(stage, folder, { "saucer.md": "clean\n" });
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ isOpen, task: { held } }) => !isOpen || held !== undefined);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", only: now, commit: now });
  expect([show("cup.md"), show("saucer.md")]).toEqual(["full", "clean"]);
  // The earlier merge ends, and the first try of the new one succeeds.
  expect(await types("b1111")).toEqual(["merge.failed", "merge.asked", "merge.landed"]);
});

test("a task whose work cannot be read is refused alone, not the tasks that are merged with it", async () => {
  const stage = await startStage();
  const { work, merge, core, show, store } = stage;
  const ids = ["b1111", "b2222", "b3333"];
  await Promise.all(ids.map((id) => work(id, { [`${id}.md`]: "full\n" })));
  // While the queue is blocked, the others gather behind the first.
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = core.inTurn(lineOf("coffee", { target: "main" }), () => promise);
  const asked: Promise<unknown>[] = [];
  for (const id of ids) {
    asked.push(merge(id));
    const isInLine = () => core.repositories?.merging.before(id) !== undefined;
    for (let i = 0; i < 1_000 && !isInLine(); i++) await new Promise((done) => setTimeout(done, 10));
  }
  const record = await store.merges.get("b2222");
  if (record !== undefined) await store.merges.put({ ...record, only: "0".repeat(40) });
  resolve();
  await held;
  await Promise.allSettled(asked);
  expect([show("b1111.md"), show("b3333.md")]).toEqual(["full", "full"]);
  expect(await store.merges.get("b2222")).toMatchObject({ state: "refused", endedAt: expect.any(Number) });
}, 30_000);

test("a merge whose person was told to wait continues, even if its outcome could not be recorded at first", async () => {
  const { work, merge, repository, git, store, until, complaints } = await startStage();
  await work("b1111", { "recipe.md": "more beans\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  expect(await merge("b1111")).toMatchObject({ state: "waits" });
  const writing = store as { addEvents: typeof store.addEvents };
  const { addEvents } = writing;
  let isFull = true;
  writing.addEvents = async (...given) => {
    const [, , , recorded] = given;
    if (!isFull || recorded?.state !== "merged") return addEvents(...given);
    isFull = false;
    throw new Fault("store.full", "The disk is full.", { retry: "later" });
  };
  git(repository, "stash");
  await until("b1111", ({ task }) => task.status === "done");
  expect(isFull).toBe(false);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
  expect(complaints).toHaveLength(1);
}, 60_000);
