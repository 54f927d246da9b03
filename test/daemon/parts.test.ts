import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { taskRef } from "../../src/ports/control-repository.ts";
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
