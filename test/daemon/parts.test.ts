import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { asideRef, taskRef } from "../../src/ports/control-repository.ts";
import { partStage } from "./part-stage.ts";

describe.each(["clone", "worktree"] as const)("in workspaces of kind %s", (workspaces) => {
  test("a part is merged into its parent's branch, and the user's repository does not change", async () => {
    const stage = await partStage({ workspaces });
    const { begin, part, move, commit, git, repository, tip, show, merges } = stage;
    const parent = await begin();
    expect(parent).toMatchObject({ workspace: "", status: "parent" });
    const before = { main: git(repository, "rev-parse", "main"), tip: await tip() };
    const first = await part("b1111", 1);
    expect(first).toMatchObject({ branch: "team/x-agent-1" });
    const work = commit(first.workspace, { "cup.md": "full\n" });
    expect(await move("b1111", "merging")).toMatchObject({ status: "done", workspace: "" });
    const { folder } = await stage.control();
    expect(git(folder, "log", "-1", "--format=%P|%s", await tip())).toBe(
      `${before.tip} ${work}|Merge team/x-agent-1: Brew`,
    );
    expect(await show("cup.md")).toBe("full");
    expect(git(repository, "rev-parse", "main")).toBe(before.main);
    if (workspaces === "clone") expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
    else expect(git(repository, "rev-parse", "team/x")).toBe(before.tip);
    expect(await merges("b1111")).toEqual(["merge.asked", "merge.landed"]);

    // The next part of the slot finds the work of the first, on a branch that begins at the parent's commit.
    const second = await part("b2222", 1);
    expect(second.branch).toBe("team/x-agent-1");
    expect(git(second.workspace, "rev-parse", "HEAD")).toBe(await tip());
    expect(git(second.workspace, "branch", "--show-current")).toBe("team/x-agent-1");
    expect(readFileSync(join(second.workspace, "cup.md"), "utf8")).toBe("full\n");
    expect(await (await stage.control()).commitAt(taskRef("b1111"))).toBe(work);
    expect((await stage.core.look(second)).facts.numbers).toMatchObject({ commits: 0 });
    commit(second.workspace, { "saucer.md": "flat\n" });
    expect((await stage.core.look(second)).facts.numbers).toMatchObject({ commits: 1 });
    expect(await move("b2222", "merging")).toMatchObject({ status: "done" });

    // The parent's next workspace has everything.
    const joined = await move("ppppp", "whole");
    expect(joined).toMatchObject({ status: "joined", branch: "team/x" });
    expect(git(joined.workspace, "rev-parse", "HEAD")).toBe(await tip());
    expect(git(joined.workspace, "status", "--porcelain")).toBe("");
    expect(readFileSync(join(joined.workspace, "saucer.md"), "utf8")).toBe("flat\n");
    expect(stage.complaints).toEqual([]);
  });

  test("a part that conflicts with its parent's branch is given that branch, and is merged once it is mended", async () => {
    const stage = await partStage({ workspaces });
    const { begin, part, move, commit, git, tip, show, store } = stage;
    await begin();
    const [first, second] = [await part("b1111", 1), await part("b2222", 2)];
    commit(first.workspace, { "recipe.md": "tea\n" });
    commit(second.workspace, { "recipe.md": "cocoa\n" });
    await move("b1111", "merging");
    const before = await tip();
    const conflicted = await move("b2222", "merging");
    expect(conflicted).toMatchObject({ status: "conflicted" });
    expect(conflicted.reason).toContain('conflicts with "team/x" in recipe.md');
    expect(await tip()).toBe(before);
    expect(await store.merges.get("b2222")).toMatchObject({ state: "conflict", files: ["recipe.md"], parent: "ppppp" });
    const [, command = ""] = /In the workspace, run: git (.+)$/.exec(conflicted.reason) ?? [];
    expect((await stage.store.merges.get(conflicted.id))?.command).toBe(`git ${command}`);
    expect(() => git(second.workspace, ...command.split(" "))).toThrow();
    commit(second.workspace, { "recipe.md": "tea, then cocoa\n" }, "both");
    expect(await move("b2222", "merging")).toMatchObject({ status: "done" });
    expect(await show("recipe.md")).toBe("tea, then cocoa");
  });

  test("the commits of a part that failed stay under its own ref when the next part takes its slot", async () => {
    const { begin, part, move, commit, git, control, tip, ask } = await partStage({ workspaces });
    await begin();
    const failed = await part("b1111", 1);
    const lost = commit(failed.workspace, { "recipe.md": "salt\n" });
    await move("b1111", "dropped");
    const next = await part("b2222", 1, { item: "b1111", try: 2 });
    expect(next.branch).toBe("team/x-agent-1");
    expect(git(next.workspace, "rev-parse", "HEAD")).toBe(await tip());
    expect(await (await control()).commitAt(taskRef("b1111"))).toBe(lost);
    expect(await ask("diffTask", "b1111")).toMatchObject({ commit: lost, target: "team/x" });
    expect(await ask("fetchTask", "b1111", { as: "rescued" })).toMatchObject({ commit: lost, how: "created" });
  });
});

describe.each(["before", "after"] as const)("a part commits to its parent's branch %s another is merged", (when) => {
  test.each(["done", "dropped"] as const)("the commit is set aside, noted, and not taken in: %s", async (end) => {
    const stage = await partStage({ workspaces: "worktree" });
    const { begin, part, move, commit, git, repository, tip, ask, control, store } = stage;
    await begin();
    const [foreign, other] = [await part("b1111", 1), await part("b2222", 2)];
    if (when === "before") git(foreign.workspace, "checkout", "-qB", "team/x");
    commit(other.workspace, { "cup.md": "full\n" });
    if (when === "after") {
      await move("b2222", "merging");
      git(foreign.workspace, "checkout", "-qB", "team/x");
    }
    const planted = commit(foreign.workspace, { "evil.md": "unreviewed\n" });
    git(foreign.workspace, "checkout", "-q", "team/x-agent-1");
    await move("b1111", "dropped");
    if (when === "before") await move("b2222", end === "done" ? "merging" : "dropped");
    const before = await tip();
    const joined = await move("ppppp", "whole");
    expect(joined).toMatchObject({ status: "joined" });
    expect(git(joined.workspace, "rev-parse", "HEAD")).toBe(await tip());
    expect(await tip()).toBe(before);
    expect(git(repository, "rev-parse", "team/x")).toBe(before);
    expect(git(joined.workspace, "ls-files")).not.toContain("evil.md");
    const ref = asideRef("ppppp", planted);
    expect(await (await control()).commitAt(ref)).toBe(planted);
    expect((await store.getProject("coffee"))?.movedBranches).toMatchObject([
      { branch: "team/x", before: expect.any(String), after: planted, blocks: false, setAside: ref, tasks: ["ppppp"] },
    ]);
    const { warnings } = (await ask("explainTask", "ppppp")) as { warnings: readonly string[] };
    expect(warnings.join()).toContain(`keeps them as ${ref}`);
    const events = await store.listEvents({ task: "ppppp" }, 0, 1_000);
    expect(events.filter(({ event }) => event.type === "branch.moved")).toHaveLength(1);
  });
});

test("the parts of a parent are merged in one line, each with its own merge commit", async () => {
  const { begin, part, move, commit, control, git, tip } = await partStage();
  await begin();
  const ids = ["b1111", "b2222", "b3333"];
  for (const [index, id] of ids.entries()) {
    const { workspace } = await part(id, index + 1);
    commit(workspace, { [`${id}.md`]: "done\n" });
  }
  const ended = await Promise.all(ids.map((id) => move(id, "merging")));
  expect(ended.map(({ status }) => status)).toEqual(["done", "done", "done"]);
  const { folder } = await control();
  const merges = git(folder, "log", "--first-parent", "--merges", "--format=%s", await tip()).split("\n");
  expect(merges.sort()).toEqual([1, 2, 3].map((slot) => `Merge team/x-agent-${slot}: Brew`));
});

test("a merge waits while the parent has a workspace, and continues when that is released", async () => {
  const { begin, part, move, commit, create, until, core, store, show, tip } = await partStage();
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  // The parent goes on before its parts have ended: no workflow does that, but a person can.
  const joined = await move("ppppp", "whole");
  const before = await tip();
  await core.submit("b1111", { kind: "move", to: "merging", actor: { role: "human" } });
  for (let i = 0; i < 200 && (await store.merges.get("b1111"))?.state !== "waits"; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await store.merges.get("b1111")).toMatchObject({
    state: "waits",
    reason: expect.stringContaining(`in its workspace ${joined.workspace}`),
  });
  expect(await tip()).toBe(before);
  await move("ppppp", "parent");
  await until("b1111", ({ task }) => task.status === "done");
  expect(await show("cup.md")).toBe("full");
  expect(await create("b2222")).toMatchObject({ status: "todo" });
});

test("nothing is merged into the branch of a parent that has ended", async () => {
  const { begin, part, move, commit, until, tip } = await partStage();
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  await move("ppppp", "dropped");
  await until("ppppp", ({ isOpen }) => !isOpen);
  const before = await tip();
  const refused = await move("b1111", "merging");
  expect(refused).toMatchObject({ status: "refused" });
  expect(refused.reason).toContain("has ended, so its branch");
  expect(await tip()).toBe(before);
});

test("nothing is merged into the branch of a parent that is at its end but still owes effects there", async () => {
  const { begin, part, move, commit, core, tip } = await partStage();
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  const { task, revision } = (await core.store.getTask("ppppp")) ?? expect.fail();
  await core.store.saveDecision({
    task: { ...task, status: "dropped", phase: "entering" },
    ...{ revision, isOpen: true, events: [], effects: [], at: 0 },
  });
  const before = await tip();
  const refused = await move("b1111", "merging");
  expect(refused).toMatchObject({ status: "refused" });
  expect(refused.reason).toContain("has ended, so its branch");
  expect(await tip()).toBe(before);
});

test("work whose tests fail together with the parent's branch goes back with the command that shows it", async () => {
  const stage = await partStage({
    ports: {
      landing: { test: async () => ({ failing: "The tests fail on the result." }) },
    },
  });
  const { begin, part, move, commit, git, tip } = stage;
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  const before = await tip();
  const failing = await move("b1111", "merging");
  expect(failing).toMatchObject({ status: "failing" });
  expect(failing.reason).toBe("The tests fail on the result.\nIn the workspace, run: git merge origin/team/x");
  expect(git(workspace, "rev-parse", "origin/team/x")).toBe(before);
});

test("a merge of a part can be undone in its parent's branch, and merged again", async () => {
  const stage = await partStage({ workspaces: "worktree" });
  const { begin, part, move, commit, ask, show, git, repository } = stage;
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  await move("b1111", "merging");
  const main = git(repository, "rev-parse", "main");
  expect(await ask("undoMerge", "b1111")).toMatchObject({ state: "undone", target: "team/x" });
  await expect(show("cup.md")).rejects.toThrow();
  expect(git(repository, "rev-parse", "main")).toBe(main);
});

test("a branch of the user's with the name of a slot is left alone", async () => {
  const { begin, part, git, repository } = await partStage({ workspaces: "worktree" });
  await begin();
  git(repository, "branch", "team/x-agent-1");
  const before = git(repository, "rev-parse", "team/x-agent-1");
  expect((await part("b1111", 1)).branch).toBe("team/x-agent-1-2");
  expect(git(repository, "rev-parse", "team/x-agent-1")).toBe(before);
});

describe("merging from the children into the task", () => {
  test("merges what is left of the parts that are done, and only that", async () => {
    const stage = await partStage({ workspaces: "clone" });
    const { begin, part, move, commit, git, tip, control } = stage;
    await begin();
    const [done, failed] = [await part("b1111", 1), await part("b2222", 2)];
    const work = commit(done.workspace, { "cup.md": "full\n" });
    const lost = commit(failed.workspace, { "salt.md": "no\n" });
    await move("b2222", "dropped");
    // Done without a merge: a person ends it.
    await move("b1111", "finished");
    const joined = await move("ppppp", "whole");
    expect(joined).toMatchObject({ status: "joined" });
    expect(git(joined.workspace, "rev-parse", "HEAD")).toBe(await tip());
    const { isAncestor } = await control();
    expect(await isAncestor(work, await tip())).toBe(true);
    expect(await isAncestor(lost, await tip())).toBe(false);
  });

  test("a part that no person has seen is not joined if it changes how the work is tested", async () => {
    const stage = await partStage({
      workspaces: "clone",
      files: { "package.json": '{ "scripts": { "test": "sh check.sh" } }' },
    });
    const { begin, part, move, commit, tip } = stage;
    await begin();
    const done = await part("b1111", 1);
    commit(done.workspace, { "package.json": '{ "scripts": { "test": "exit 0" } }' });
    await move("b1111", "finished");
    const before = await tip();
    expect(await move("ppppp", "whole")).toMatchObject({ status: "whole", held: { word: "protected" } });
    expect(await tip()).toBe(before);
  });

  test("a part that conflicts ends it with the files and the command that merges it in the parent's workspace", async () => {
    const stage = await partStage({ workspaces: "clone" });
    const { begin, part, move, commit, git, store } = stage;
    await begin();
    const [first, second] = [await part("b1111", 1), await part("b2222", 2)];
    commit(first.workspace, { "recipe.md": "tea\n" });
    commit(second.workspace, { "recipe.md": "cocoa\n" });
    await move("b1111", "merging");
    await move("b2222", "finished");
    const conflicted = await move("ppppp", "whole");
    expect(conflicted).toMatchObject({ status: "conflicted" });
    expect(conflicted.reason).toContain('The work of coffee#3 (Part b2222) conflicts with "team/x" in recipe.md');
    expect(await store.merges.get("ppppp")).toMatchObject({
      state: "conflict",
      files: ["recipe.md"],
      command: expect.stringMatching(/^git merge /),
    });
    const [, command = ""] = /In the workspace, run: git (.+)$/.exec(conflicted.reason) ?? [];
    expect(() => git(conflicted.workspace, ...command.split(" "))).toThrow();
    commit(conflicted.workspace, { "recipe.md": "both\n" }, "both");
    expect(await move("ppppp", "whole")).toMatchObject({ status: "joined" });
    expect(await store.merges.get("ppppp")).toBeUndefined();
  });
});

test.each(["worktree", "clone"] as const)(
  "a parent whose agent has reverted the work of a part is held until a person has brought it back (%s)",
  async (workspaces) => {
    const stage = await partStage({ workspaces });
    const { begin, part, move, commit, git, goOn, show } = stage;
    await begin();
    const [first, second] = [await part("b1111", 1), await part("b2222", 2)];
    commit(first.workspace, { "cup.md": "full\n" });
    commit(second.workspace, { "pot.md": "hot\n" });
    await move("b1111", "merging");
    await move("b2222", "merging");
    const { workspace } = await move("ppppp", "whole");
    git(workspace, "revert", "-m", "1", "--no-edit", "HEAD~1");
    await move("ppppp", "parent");
    const held = await move("ppppp", "whole");
    expect(held).toMatchObject({ status: "whole", held: { word: "dropped" } });
    expect(held.held?.reason).toContain(
      '"team/x" has the commits of the part coffee#2 (Part b1111), but not their changes: cup.md.',
    );
    const commands = [...(held.held?.reason ?? "").matchAll(/: git (.+)$/gm)].map(([, command = ""]) => command);
    expect(commands).toHaveLength(3);
    for (const command of commands) git(held.workspace, ...command.replace(/"[^"]*"/, "back").split(" "));
    expect(await goOn("ppppp")).toMatchObject({ status: "joined" });
    expect(await show("cup.md")).toBe("full");
  },
);

test("a parent's agent may remove some of the files of a part after they were merged", async () => {
  const { begin, part, move, commit, git } = await partStage();
  await begin();
  const first = await part("b1111", 1);
  commit(first.workspace, { "cup.md": "full\n", "pot.md": "hot\n" });
  await move("b1111", "merging");
  const { workspace } = await move("ppppp", "whole");
  git(workspace, "rm", "-q", "cup.md");
  git(workspace, "commit", "-qm", "Without the cup");
  await move("ppppp", "parent");
  expect(await move("ppppp", "whole")).toMatchObject({ status: "joined" });
});

test("a part may undo the work of a part that it was built on", async () => {
  const { begin, part, move, commit, git } = await partStage();
  await begin();
  const first = await part("b1111", 1);
  commit(first.workspace, { "cup.md": "full\n" });
  await move("b1111", "merging");
  const second = await part("b2222", 2);
  git(second.workspace, "rm", "-q", "cup.md");
  commit(second.workspace, { "pot.md": "hot\n" });
  await move("b2222", "merging");
  expect(await move("ppppp", "whole")).toMatchObject({ status: "joined" });
});

describe("a part that was reviewed", () => {
  async function reviewed() {
    const stage = await partStage();
    const { begin, part, move, commit, core, git } = stage;
    await begin();
    const [first, second] = [await part("b1111", 1), await part("b2222", 2)];
    const judge = async (id: string, folder: string) => {
      const judged = { commit: git(folder, "rev-parse", "HEAD"), role: "architect" };
      await core.submit(id, { kind: "edit", actor: { role: "human" }, set: { judged } });
    };
    return { ...stage, first, second, judge, finish: (text: string) => finish(text) };
    async function finish(text: string) {
      commit(first.workspace, { "recipe.md": text });
      await judge("b1111", first.workspace);
      return move("b1111", "merging");
    }
  }

  test("is merged without another review where git merges it alone, even if its agent has merged the parent's branch", async () => {
    const { finish, second, commit, judge, git, move, ask, show } = await reviewed();
    commit(second.workspace, { "cup.md": "full\n" });
    await judge("b2222", second.workspace);
    expect(await finish("tea\n")).toMatchObject({ status: "done" });
    expect(await ask("syncTask", "b2222")).toMatchObject({ from: "team/x", commits: 2 });
    expect(git(second.workspace, "show", "HEAD:recipe.md")).toBe("tea");
    expect(await move("b2222", "merging")).toMatchObject({ status: "done" });
    expect(await show("cup.md")).toBe("full");
  });

  test("is reviewed again after its agent has resolved a conflict", async () => {
    const { finish, second, commit, judge, git, move, tip } = await reviewed();
    commit(second.workspace, { "recipe.md": "cocoa\n" });
    await judge("b2222", second.workspace);
    await finish("tea\n");
    expect(await move("b2222", "merging")).toMatchObject({ status: "conflicted" });
    expect(() => git(second.workspace, "merge", "origin/team/x")).toThrow();
    commit(second.workspace, { "recipe.md": "tea, then cocoa\n" }, "both");
    const before = await tip();
    const refused = await move("b2222", "merging");
    expect(refused).toMatchObject({ status: "refused" });
    expect(refused.reason).toContain("Nobody has reviewed the difference.");
    expect(await tip()).toBe(before);
    await judge("b2222", second.workspace);
    expect(await move("b2222", "merging")).toMatchObject({ status: "done" });
  });
});

test("the branch of an ended part is deleted where its parent's branch has all of it, and stays otherwise", async () => {
  const { begin, part, move, commit, git, repository, until } = await partStage({ workspaces: "worktree" });
  await begin();
  const [done, failed] = [await part("b1111", 1), await part("b2222", 2)];
  commit(done.workspace, { "cup.md": "full\n" });
  const lost = commit(failed.workspace, { "salt.md": "no\n" });
  await move("b1111", "merging");
  await move("b2222", "dropped");
  const branches = () => git(repository, "branch", "--list", "team/x-agent-*", "--format=%(refname:short)");
  for (let i = 0; i < 300 && branches() !== "team/x-agent-2"; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(branches()).toBe("team/x-agent-2");
  expect(git(repository, "rev-parse", "team/x-agent-2")).toBe(lost);
  await until("b1111", ({ isOpen }) => !isOpen);
});

test("a new task continues the work of a part on a branch of its own, towards the default branch", async () => {
  const stage = await partStage();
  const { begin, part, move, commit, ask, git, repository, until } = stage;
  await begin();
  const failed = await part("b1111", 1);
  const lost = commit(failed.workspace, { "cup.md": "half\n" });
  await move("b1111", "dropped");
  await until("b1111", ({ isOpen }) => !isOpen);
  const made = (await ask("createTask", "", { project: "coffee", from: "b1111", workflow: "minimal" })) as unknown as {
    readonly task: { readonly branch: string; readonly base: string };
  };
  expect(made.task).toMatchObject({ branch: "signalbox/bbbbb", base: "" });
  expect(git(repository, "rev-parse", "signalbox/bbbbb")).toBe(lost);
});
