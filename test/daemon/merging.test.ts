import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { spawnCommands } from "../../src/adapters/commands/spawn-commands.ts";
import type { Asked } from "../../src/daemon/asked.ts";
import { lineOf } from "../../src/daemon/merging/merging.ts";
import { createPredictions } from "../../src/daemon/merging/predict-conflicts.ts";
import { approveTask } from "../../src/daemon/requests/approve-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { mergeTask, undoTaskMerge } from "../../src/daemon/requests/merge-task.ts";
import { syncTask } from "../../src/daemon/requests/sync-task.ts";
import { Fault } from "../../src/fault.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import type { Merge } from "../../src/ports/records.ts";
import { createScriptedClock } from "../../src/testing/scripted-clock.ts";
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
    undo: (task: string) => undoTaskMerge(core)(asked(task, {})),
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

test("changes of the user's elsewhere stay; in the same file they are waited for, and it goes on by itself", async () => {
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
  // Asking again says the same, and another task is not kept waiting.
  expect(await merge("b1111")).toMatchObject({ state: "waits", files: ["recipe.md"] });
  expect(await merge("b2222")).toMatchObject({ state: "merged" });
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("mine\n");
  git(repository, "stash");
  await until("b1111", ({ task }) => task.status === "done");
  expect(show("recipe.md")).toBe("more beans");
  expect(git(repository, "stash", "show", "-p")).toContain("+mine");
  expect(await types("b1111")).toEqual(["merge.asked", "merge.waits", "merge.landed"]);
});

test("a conflict leaves everything as it is, and names the files", async () => {
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

test("main that moves while it is tested is merged onto again, and tested again", async () => {
  const tested: string[] = [];
  const stage: Awaited<ReturnType<typeof startStage>> = await startStage({
    ports: {
      landing: {
        async test(commitId) {
          tested.push(commitId);
          if (tested.length === 1) commit(stage, stage.repository, { "sugar.md": "none\n" }, "mine");
          return undefined;
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

test("what an agent commits while its task is tested is merged as well", async () => {
  let count = 0;
  const stage: Awaited<ReturnType<typeof startStage>> = await startStage({
    ports: {
      landing: {
        async test() {
          if (++count === 1) commit(stage, workspace, { "sugar.md": "two\n" }, "late");
          return undefined;
        },
      },
    },
  });
  const workspace = await stage.work("b1111", { "cup.md": "full\n" });
  expect(await stage.merge("b1111")).toMatchObject({ state: "merged", task: { status: "done" } });
  expect([stage.show("cup.md"), stage.show("sugar.md")]).toEqual(["full", "two"]);
});

test("with test_merges the project's tests are run on what the merge would make, in a checkout of its own", async () => {
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
  expect(answer.reason).toContain("The tests fail on what the merge would make.");
  expect(tip()).toBe(before);
  expect(await merge("b3333")).toMatchObject({ state: "merged" });
  expect([show("cup.md"), show("pot.md")]).toEqual(["full", "full"]);
  expect([git(repository, "status", "--porcelain"), git(repository, "branch", "--list", "merging/*")]).toEqual([
    "",
    "",
  ]);
});

test("of many in line those whose tests fail are found, and the others get in", async () => {
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
            ? "2 tests failed"
            : undefined;
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

test("what is not committed keeps a task from being merged, and who asks is told what to do", async () => {
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

test("work that is in the branch already is only moved on", async () => {
  const { work, merge, repository, git, tip } = await startStage();
  const workspace = await work("b1111", { "cup.md": "full\n" });
  git(repository, "merge", "-q", "--no-edit", git(workspace, "rev-parse", "HEAD"));
  const before = tip();
  expect(await merge("b1111")).toMatchObject({ state: "merged", before, after: before, task: { status: "done" } });
  expect(tip()).toBe(before);
});

test("a fast-forward makes no commit, and is refused where one would be needed", async () => {
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

test("a clone is brought up to date as well, and a conflict changes nothing there", async () => {
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
  // Whoever is to resolve it finds what to merge under its name.
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

test("where the workflow itself merges once a person says yes, a request to merge names that command", async () => {
  const flow = asked.replace("ask: Merge, next", "ask: Merge, do: [merge], next").replace(/.*merged == true.*\n/, "");
  const { work, merge } = await startStage({ flow });
  await work("b1111", { "recipe.md": "tea\n" });
  const refused = await merge("b1111").catch((error) => error);
  expect(refused.reasons).toEqual([expect.objectContaining({ fix: "Say yes: signalbox task approve b1111" })]);
});

test("a conflict goes back to the agent where a person has one way there, unless that is not wanted", async () => {
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
  const told = 'Its work conflicts with "main" in recipe.md. worker#1 was told to resolve it';
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

test("an approval is for one commit: what comes later is not merged with it, and has to be approved itself", async () => {
  const stage = await startStage({ flow: asked });
  const { work, approve, repository, store, git, tip, show, until } = stage;
  const folder = await work("b1111", { "recipe.md": "tea\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  expect(await approve("b1111")).toMatchObject({ change: null, merge: { state: "waits" } });
  commit(stage, folder, { "cup.md": "full\n" });
  const before = tip();
  git(repository, "checkout", "-q", "recipe.md");
  await expect.poll(async () => (await store.merges.get("b1111"))?.state, { timeout: 20_000 }).toBe("refused");
  expect((await store.merges.get("b1111"))?.reason).toContain("has moved since it was approved");
  expect(tip()).toBe(before);
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

test("what is being merged when its task moves on does not move it, and who asks anew gets an answer of their own", async () => {
  const isTested = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<undefined>();
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
  goOn.resolve(undefined);
  const reason = 'It is merged, but the task had moved on to "busy" before it was.';
  expect(await first).toMatchObject({ state: "merged", reason, task: { status: "busy" } });
  expect(await second).toMatchObject({ state: "merged", reason: "", task: { status: "done" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(show("cup.md")).toBe("full");
  expect(await types("b1111")).toEqual(["merge.asked", "merge.landed", "merge.asked"]);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
});

describe("after a crash", () => {
  const landed = (after: string): Merge => ({
    ...{ id: "b1111", project: "coffee", task: "b1111", at: 5, target: "main", strategy: "merge", to: "done" },
    ...{ by: "human", state: "merged", reason: "", files: [], commit: "c", before: "b", after, endedAt: undefined },
  });
  const ended = { state: "merged", reason: "", endedAt: expect.any(Number) };

  test("what had landed is only moved on, and not merged here once more, though the branch does not have its commits", async () => {
    const { work, store, core, until, tip, types } = await startStage();
    await work("b1111", { "cup.md": "full\n" });
    const before = tip();
    // As when a forge has squashed it.
    await store.merges.put(landed("c9"));
    await core.repositories?.merging.recover();
    await until("b1111", ({ isOpen }) => !isOpen);
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, after: "c9" });
    expect([tip(), await types("b1111")]).toEqual([before, []]);
  });

  test("what a person has asked for before the task moved on is not merged any more", async () => {
    const { work, move, store, core, tip, types, task } = await startStage({ flow: thereAndBack });
    await work("b1111", { "cup.md": "full\n" });
    const before = tip();
    const asked: Merge = { ...landed(""), state: "lined-up", commit: "", before: "" };
    await store.merges.put({ ...asked, entry: (await task("b1111")).entry });
    await move("b1111", "away");
    await core.repositories?.merging.recover();
    const reason = "It is not to be merged any more.";
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, state: "refused", reason });
    expect([tip(), (await task("b1111")).status, await types("b1111")]).toEqual([before, "away", ["merge.failed"]]);
  });

  test.each([
    ["a person", "done"],
    ["its workflow", ""],
  ])("what %s has asked for, and has arrived although its task has moved on, is known as merged", async (_, to) => {
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
    const told = to === "" ? "" : 'It is merged, but the task had moved on to "away" before it was.';
    await expect.poll(() => store.merges.get("b1111")).toMatchObject({ ...ended, reason: told, after: tip(), before });
    expect([(await task("b1111")).status, await types("b1111")]).toEqual(["away", ["merge.landed"]]);
  });

  test("what had arrived before its workflow was told is neither merged nor told a second time", async () => {
    const { work, merge, store, core, tip, types, task } = await startStage({ flow: thereAndBack });
    await work("b1111", { "cup.md": "full\n" });
    await work("b2222", { "recipe.md": "tea\n" });
    // As the effect does it, and once more where it could not be ticked off.
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

  test("what was only planned is not taken for how the work came in", async () => {
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
    git(repository, "merge", "-q", "--no-edit", git(workspace, "rev-parse", "HEAD"));
    await core.repositories?.merging.recover();
    await until("b1111", ({ isOpen }) => !isOpen);
    const merge = await store.merges.get("b1111");
    expect(merge?.before).toBe(merge?.after);
  });
});

test("a remote that is named by a path from the repository gets it too", async () => {
  const { work, merge, repository, git, tip } = await startStage();
  execFileSync("git", ["clone", "-q", "--bare", repository, join(repository, "..", "remote.git")]);
  git(repository, "remote", "add", "origin", "../remote.git");
  await work("b1111", { "cup.md": "full\n" });
  expect(await merge("b1111")).toMatchObject({ state: "merged" });
  expect(git(join(repository, "..", "remote.git"), "rev-parse", "main")).toBe(tip());
});

test("a rehearsal changes nothing, and tells what would", async () => {
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

test("a merge and its rehearsal tell that nothing is tested although there is a test command, until test_merges is on", async () => {
  let values: PartialConfig = { testCommand: ["true"] };
  const ports = { commands: spawnCommands, config: () => ({ values, problems: [] }) };
  const { work, merge } = await startStage({ ports });
  for (const id of ["b1111", "b2222", "b3333"]) await work(id, { [`${id}.md`]: "full\n" });
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ state: "merged", untested: true });
  expect(await merge("b1111")).toMatchObject({ state: "merged", untested: true });
  values = { testCommand: ["true"], testMerges: true };
  expect(await merge("b2222", { dryRun: true })).toMatchObject({ state: "merged", untested: false });
  expect(await merge("b2222")).toMatchObject({ state: "merged", untested: false });
  values = {};
  expect(await merge("b3333")).toMatchObject({ state: "merged", untested: false });
});

test("a rehearsal names the file of the user's that would be in the way", async () => {
  const { work, merge, repository, tip } = await startStage();
  await work("b1111", { "cup.md": "full\n" });
  writeFileSync(join(repository, "cup.md"), "mine\n");
  const before = tip();
  const preview = await merge("b1111", { dryRun: true });
  expect(preview).toMatchObject({ state: "waits", files: ["cup.md"], commits: 1, changed: ["cup.md"], dryRun: true });
  // It is new in the branch, and untracked here: a stash alone would leave it.
  const aside = `git -C ${repository} stash --include-untracked`;
  expect(preview.reason).toBe(
    `Files in ${repository} that git does not know are in the way: cup.md. Move them away or, unless git ignores them: ${aside}`,
  );
  execFileSync("sh", ["-c", aside], { stdio: "ignore" });
  expect(await merge("b1111", { dryRun: true })).toMatchObject({ state: "merged" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  await work("b2222", { "recipe.md": "tea\n" });
  const changed = await merge("b2222", { dryRun: true });
  expect(changed.reason).toContain("Changes of your own");
  expect(tip()).toBe(before);
});

test("a merge can be taken back, also when others came after it, and only once", async () => {
  const { work, merge, undo, repository, show, tip } = await startStage();
  await work("b1111", { "recipe.md": "tea\n" });
  await work("b2222", { "cup.md": "full\n" });
  await merge("b1111");
  await merge("b2222");
  expect(await undo("b1111")).toMatchObject({ state: "undone" });
  expect([show("recipe.md"), show("cup.md")]).toEqual(["beans", "full"]);
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("beans\n");
  const before = tip();
  await expect(undo("b1111")).rejects.toThrow("taken back already");
  expect(tip()).toBe(before);
});

test("the remote gets it too; where it refuses, nothing has moved and the task stays", async () => {
  const { work, merge, repository, git, tip } = await startStage();
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
});

test("what others pushed meanwhile is merged onto, and comes into the user's branch with it", async () => {
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

test("where the remote's branch counts, nothing of the user's is in the way, and theirs follows when it can", async () => {
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

/** They are worked out when there is time. */
const patience = { timeout: 60_000 };

test("tasks that will conflict are told so long before they are merged, and only while both are open", async () => {
  const stage = await startStage();
  const { work, core, explain, types, merge, git } = stage;
  await work("b1111", { "recipe.md": "tea\n" });
  const other = await work("b2222", { "recipe.md": "cocoa\n", "cup.md": "full\n" });
  await explain("b1111");
  await explain("b2222");
  await expect
    .poll(async () => (await explain("b1111")).warnings, patience)
    .toEqual(["It will conflict with coffee#2 (Brew) in recipe.md."]);
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

test("after a start too, nobody is told of a conflict with a task that has done nothing", async () => {
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
  // The newest is looked at first: when the other is found, nothing more can come.
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

test("a task whose work cannot be read is refused alone, not those who are merged with it", async () => {
  const stage = await startStage();
  const { work, merge, core, git, repository, show, store } = stage;
  const ids = ["b1111", "b2222", "b3333"];
  const [, folder = ""] = await Promise.all(ids.map((id) => work(id, { [`${id}.md`]: "full\n" })));
  // While the line is held up, the others gather behind the first.
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = core.inTurn(lineOf("coffee", "main"), () => promise);
  const asked: Promise<unknown>[] = [];
  for (const id of ids) {
    asked.push(merge(id));
    const isInLine = () => core.repositories?.merging.before(id) !== undefined;
    for (let i = 0; i < 1_000 && !isInLine(); i++) await new Promise((done) => setTimeout(done, 10));
  }
  commit(stage, folder, { "lost.md": "soon\n" });
  const lost = git(folder, "rev-parse", "HEAD");
  rmSync(join(repository, ".git", "objects", lost.slice(0, 2), lost.slice(2)));
  resolve();
  await held;
  await Promise.allSettled(asked);
  expect([show("b1111.md"), show("b3333.md")]).toEqual(["full", "full"]);
  expect(await store.merges.get("b2222")).toMatchObject({ state: "refused", endedAt: expect.any(Number) });
}, 30_000);

test("a merge that a person was told to wait for goes on, also where what became of it could not be noted at first", async () => {
  const { work, merge, repository, git, store, until, complaints } = await startStage();
  await work("b1111", { "recipe.md": "more beans\n" });
  writeFileSync(join(repository, "recipe.md"), "mine\n");
  expect(await merge("b1111")).toMatchObject({ state: "waits" });
  const merges = store.merges as { put: typeof store.merges.put };
  const { put } = merges;
  let isFull = true;
  merges.put = async (record) => {
    if (!isFull || record.state !== "merged") return put(record);
    isFull = false;
    throw new Fault("store.full", "The disk is full.", { retry: "later" });
  };
  git(repository, "stash");
  await until("b1111", ({ task }) => task.status === "done");
  expect(isFull).toBe(false);
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
  expect(complaints).toHaveLength(1);
}, 60_000);
