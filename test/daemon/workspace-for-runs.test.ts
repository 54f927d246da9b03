import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnCommands } from "../../src/adapters/system.ts";
import { runCommand } from "../../src/daemon/effects/commands.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { boundFolder } from "../../src/daemon/workspaces/trouble.ts";
import { removeFolder } from "../remove-folder.ts";
import { startGitCore } from "./git-core.ts";

const patience = { timeout: 30_000 };
const env = { PATH: process.env.PATH ?? "" };

/** A workflow that neither acquires a workspace nor ends a run. */
const forgetful = `
version: 1
states:
  work: { do: [{ action: run_tests, command: [sh, -c, "pwd >> made"] }], next: look }
  look: { waits_for: human, next: over }
  over: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: look, to: over, by: human, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

function start(flow: string, poolSize = 1, scratch = tmpdir()) {
  return startGitCore({
    ...{ name: "forgetful", flow, poolSize },
    ports: {
      commands: spawnCommands,
      performers: (folderOf) => ({
        run_command: runCommand({ commands: spawnCommands, folderOf, scratch, env }),
        spawn_agent: async () => {},
      }),
    },
  });
}

test("tests run in a workspace, never in the user's checkout, even if the workflow acquires none", async () => {
  const { create, repository, store, git } = await start(forgetful);
  const task = await create("b1111");
  expect(task).toMatchObject({ status: "look" });
  expect(task.workspace).not.toBe("");
  expect(readFileSync(join(task.workspace, "made"), "utf8").trim()).toBe(task.workspace);
  expect(existsSync(join(repository, "made"))).toBe(false);
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect((await store.workspaces.list({ task: "b1111" })).map(({ path }) => path)).toEqual([task.workspace]);
});

test("a command of a task without a workspace runs in an empty folder, which is removed", async () => {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-scratch-")));
  onTestFinished(() => removeFolder(scratch));
  const flow = `
version: 1
states:
  first: { do: [{ action: run_command, command: [sh, -c, "pwd > ../seen; ls -A >> ../seen; touch litter"] }], next: look }
  look: { waits_for: human, next: over }
  over: { terminal: true }
`;
  const { create, repository, git } = await start(flow, 1, scratch);
  expect(await create("b1111")).toMatchObject({ status: "look", workspace: "" });
  const [folder = "", ...files] = readFileSync(join(scratch, "seen"), "utf8").trim().split("\n");
  expect([dirname(folder), files, existsSync(folder)]).toEqual([scratch, [], false]);
  expect(git(repository, "status", "--porcelain")).toBe("");
});

test("while all workspaces are taken a task waits for one, explain says so, and it continues by itself", async () => {
  const { create, core, move, until } = await start(forgetful);
  const first = await create("b1111");
  const waiting = create("b2222");
  const explain = async () => {
    const asked = { params: { task: "b2222" }, query: {}, body: {}, caller: { kind: "human" } };
    const answer = (await createHandlers(core).explainTask?.(asked as never, {} as never)) as
      | { blocked: readonly { reason: string }[] }
      | undefined;
    return answer?.blocked.map(({ reason }) => reason);
  };
  await expect.poll(() => core.store.getTask("b2222"), patience).toBeDefined();
  await expect
    .poll(explain, patience)
    .toContainEqual(
      "The only slot of coffee is taken by a task that has begun; a task that waits for a person keeps its slot.",
    );
  expect((await core.store.getTask("b2222"))?.task.held).toBeUndefined();
  await move("b1111", "over");
  expect(await waiting).toMatchObject({ status: "look", workspace: first.workspace });
  await until("b1111", ({ isOpen }) => !isOpen);
});

test("a larger pool lets a task that waits for a workspace continue immediately", async () => {
  const { create, core } = await start(forgetful);
  await create("b1111");
  const waiting = create("b2222");
  await expect.poll(async () => core.pools?.room.waits("b2222"), patience).toBe(true);
  const asked = { params: { project: "coffee" }, query: {}, body: { poolSize: 2 }, caller: { kind: "human" } };
  await createHandlers(core).updateProject?.(asked as never, {} as never);
  expect(core.pools?.room.waits("b2222")).toBe(false);
  expect(await waiting).toMatchObject({ status: "look" });
});

test("a task that is cancelled while it waits for a workspace ends without one", async () => {
  const { create, core, until } = await start(forgetful);
  await create("b1111");
  void create("b2222");
  await expect.poll(async () => core.pools?.room.waits("b2222"), patience).toBe(true);
  await core.submit("b2222", { kind: "move", to: "dropped", actor: { role: "human" } });
  expect(await until("b2222", ({ isOpen }) => !isOpen)).toMatchObject({ status: "dropped", workspace: "" });
});

test("a daemon that stops does not wait for a workspace, and acquires it after the start", async () => {
  const { create, core, start: again, until } = await start(forgetful);
  await create("b1111");
  void create("b2222").catch(() => {});
  await expect.poll(async () => core.pools?.room.waits("b2222"), patience).toBe(true);
  await core.close();
  const next = again();
  await next.recover();
  await expect.poll(async () => next.pools?.room.waits("b2222"), patience).toBe(true);
  await next.submit("b1111", { kind: "move", to: "over", actor: { role: "human" } });
  expect(await until("b2222", ({ task }) => task.status === "look")).toMatchObject({ status: "look" });
  await next.close();
});

test("the user's checkout is never the folder of a run, whatever is recorded", async () => {
  const { create, store, repository } = await start(forgetful);
  const task = await create("b1111");
  expect(await boundFolder(store, task)).toBe(task.workspace);
  await expect(boundFolder(store, { ...task, workspace: "" })).rejects.toMatchObject({ code: "workspace.none" });
  const [bound] = await store.workspaces.list({ task: "b1111" });
  if (bound !== undefined) await store.workspaces.put({ ...bound, path: repository });
  await expect(boundFolder(store, { ...task, workspace: repository })).rejects.toMatchObject({
    code: "workspace.none",
  });
});

test("a workspace is released only when no run of its task is recorded as alive", async () => {
  const { create, store, core, until } = await start(forgetful);
  const { workspace } = await create("b1111");
  const run = { id: "b1111/worker#1", project: "coffee", task: "b1111", at: 0, key: "worker#1", role: "worker" };
  const more = { harness: "scripted", model: "", session: "", folder: workspace, pid: 0, endedAt: undefined, word: "" };
  await store.runs.put({ ...run, ...more });
  await core.submit("b1111", { kind: "move", to: "dropped", actor: { role: "human" } });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(await store.runs.get(run.id)).toMatchObject({ word: "killed" });
});
