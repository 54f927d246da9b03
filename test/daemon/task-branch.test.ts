import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitStage } from "./upkeep-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
`;

async function atWork(poolSize = 1) {
  const stage = await gitStage(flow, { poolSize });
  await stage.create("b1111");
  const { workspace } = await stage.move("b1111", "busy");
  const setBranch = (branch: string, id = "b1111") => stage.ask("editTask", { branch }, { task: id });
  const branchOf = async (id = "b1111") => (await stage.store.getTask(id))?.task.branch;
  const there = () => stage.git(workspace, "branch", "--show-current");
  return { ...stage, workspace, setBranch, branchOf, there };
}

test("a new name renames the branch in the workspace", async () => {
  const { setBranch, branchOf, there, git, repository, workspace, until } = await atWork();
  expect(await setBranch("strong-coffee")).toMatchObject({ kind: "stayed", task: { branch: "strong-coffee" } });
  expect([await branchOf(), there()]).toEqual(["strong-coffee", "strong-coffee"]);
  expect(git(repository, "branch", "--list", "signalbox/*")).toBe("");
  await until("b1111", () => readFileSync(join(workspace, "TASK.md"), "utf8").includes("branch: strong-coffee"));
});

test("an existing branch is checked out, but not over uncommitted work", async () => {
  const { setBranch, branchOf, there, git, repository, workspace } = await atWork();
  git(repository, "checkout", "-qb", "begun");
  writeFileSync(join(repository, "recipe.md"), "begun\n");
  git(repository, "commit", "-qam", "begun");
  git(repository, "checkout", "-q", "main");
  writeFileSync(join(workspace, "recipe.md"), "mine\n");
  await expect(setBranch("begun")).rejects.toMatchObject({
    code: "workspace.dirty",
    message: expect.stringContaining("recipe.md"),
  });
  expect([await branchOf(), there()]).toEqual(["signalbox/b1111", "signalbox/b1111"]);
  git(workspace, "commit", "-qam", "mine");
  await setBranch("begun");
  expect([await branchOf(), there()]).toEqual(["begun", "begun"]);
  expect(readFileSync(join(workspace, "recipe.md"), "utf8")).toBe("begun\n");
  git(repository, "checkout", "-qb", "held");
  await expect(setBranch("held")).rejects.toMatchObject({ code: "workspace.branch-elsewhere" });
});

test("the target branch, a branch of another open task, or an invalid name is refused, and nothing changes", async () => {
  const { setBranch, branchOf, there, create, store, git, repository } = await atWork(2);
  // It is checked out nowhere, so git would let an agent work in it.
  git(repository, "checkout", "-q", "--detach");
  await expect(setBranch("main")).rejects.toMatchObject({
    reasons: [{ text: '"main" is the branch that work is merged into. A task needs its own branch.' }],
  });
  await create("b2222", { branch: "taken" });
  await expect(setBranch("taken")).rejects.toMatchObject({
    reasons: [{ code: "bad-value", text: 'coffee#2 (b2222) is working on the branch "taken".' }],
  });
  await expect(setBranch("signalbox/b1111", "b2222")).rejects.toMatchObject({
    reasons: [{ text: expect.stringContaining("coffee#1 (b1111)") }],
  });
  await expect(setBranch("no good")).rejects.toMatchObject({ reasons: [{ code: "bad-value" }] });
  expect([await branchOf(), there()]).toEqual(["signalbox/b1111", "signalbox/b1111"]);
  const refused = (await store.listEvents({ task: "b1111" }, 0, 100)).filter(
    ({ event }) => event.type === "request.rejected",
  );
  expect(refused.length).toBe(3);
});

test("a branch that the agent changed with git is adopted when the agent reports it, and noticed when it does not", async () => {
  const { setBranch, branchOf, there, git, workspace, core, until, complaints } = await atWork();
  git(workspace, "branch", "-m", "by-hand");
  expect(await setBranch("")).toMatchObject({ task: { branch: "by-hand" } });
  git(workspace, "checkout", "-qb", "another");
  git(workspace, "commit", "-q", "--allow-empty", "-m", "work");
  // Any request reads the workspace.
  await core.submit("b1111", { kind: "edit", actor: { role: "human" }, set: { priority: 3 } });
  await until("b1111", ({ task }) => task.branch === "another");
  expect([await branchOf(), there()]).toEqual(["another", "another"]);
  expect(complaints).toEqual([]);
});

test("a task never follows its agent to the target branch", async () => {
  const { branchOf, git, workspace, repository, core, complaints, until } = await atWork();
  git(repository, "checkout", "-qb", "elsewhere");
  git(workspace, "checkout", "-q", "main");
  await core.submit("b1111", { kind: "edit", actor: { role: "human" }, set: { priority: 3 } });
  await until("b1111", () => complaints.length > 0);
  expect(await branchOf()).toBe("signalbox/b1111");
  expect(complaints[0]).toMatchObject([expect.stringContaining("cannot have"), { branch: "main" }]);
});
