import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { cancelMerge, mergeTask, undoTaskMerge } from "../../src/daemon/requests/merge-task.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { human, startGitStage } from "./git-stage.ts";

const id = "b1111";
const minute = 60_000;

/** A task with a cup, in a project with a remote. The user's branch is locked, so that it cannot follow the remote's. */
async function start() {
  const clock = createScriptedClock();
  const stage = await startGitStage({ poolSize: 3, ports: { clock } });
  const { core, git, repository, store } = stage;
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  const asked = <Body>(body: Body): Asked<object, Body> => ({
    ...{ params: { task: id }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const { workspace } = await stage.begin(id);
  writeFileSync(join(workspace, "cup.md"), "full\n");
  git(workspace, "add", "cup.md");
  git(workspace, "commit", "-qm", "cup");
  const lock = join(repository, ".git", "refs", "heads", "main.lock");
  writeFileSync(lock, "");
  return {
    ...{ ...stage, clock },
    unlock: () => rmSync(lock),
    merge: () => mergeTask(core)(asked({})),
    stop: () => cancelMerge(core)(asked({})),
    undo: () => undoTaskMerge(core)(asked({})),
    explain: async () => (await explainTask(core)(asked(undefined))).blocked.map(({ reason }) => reason).join("\n"),
    record: () => store.merges.get(id),
    cups: () => [remote, repository].map((folder) => git(folder, "ls-tree", "--name-only", "main", "cup.md")),
    /** Lets time pass until something is true. */
    async later(isSo: () => Promise<boolean> | boolean) {
      for (let tries = 0; !(await isSo()); tries++) {
        if (tries > 400) throw new Error("It did not become true.");
        await clock.pass(minute);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

const published = `The remote's "main" has`;

test("a merge that the remote has says so while your branch cannot follow, and continues by itself", async () => {
  const { merge, cups, explain, unlock, later, store } = await start();
  const answer = await merge();
  expect(answer).toMatchObject({
    state: "waits",
    reason: expect.stringContaining(published),
    task: { status: "busy" },
  });
  expect(cups()).toEqual(["cup.md", ""]);
  expect(await explain()).toContain(published);
  unlock();
  await later(async () => (await store.getTask(id))?.task.status === "done");
  expect(cups()).toEqual(["cup.md", "cup.md"]);
  expect((await store.merges.get(id))?.onRemote).toBeUndefined();
});

test("a merge that the remote has cannot be stopped any more: it is published, and can be undone", async () => {
  const { merge, stop, cups, explain, unlock, later, record, undo } = await start();
  await merge();
  expect(await stop()).toMatchObject({ state: "merged", reason: expect.stringContaining(published) });
  expect(await explain()).toContain("--undo");
  unlock();
  await later(async () => (await record())?.onRemote === undefined);
  expect(cups()).toEqual(["cup.md", "cup.md"]);
  expect(await undo()).toMatchObject({ state: "undone" });
  expect(cups()).toEqual(["", ""]);
});

test("your branch follows a merge that only the remote has also after a restart", async () => {
  const { merge, stop, cups, unlock, later, record, core, start: startAgain } = await start();
  await merge();
  await stop();
  await core.close();
  const next = startAgain();
  onTestFinished(() => next.close());
  await next.recover();
  expect(cups()).toEqual(["cup.md", ""]);
  unlock();
  await later(async () => (await record())?.onRemote === undefined);
  expect(cups()).toEqual(["cup.md", "cup.md"]);
});

test("the merge of a task that is cancelled after the push is recorded as published", async () => {
  const { merge, core, explain, record, later, store } = await start();
  await merge();
  await core.submit(id, { kind: "move", to: "dropped", actor: human });
  await later(async () => (await record())?.endedAt !== undefined);
  expect(await record()).toMatchObject({ state: "merged", onRemote: true });
  expect(await explain()).toContain(published);
  const types = (await store.listEvents({ task: id }, 0, 200)).map(({ event }) => event.type);
  expect(types.filter((type) => type.startsWith("merge."))).toEqual(["merge.asked", "merge.waits", "merge.landed"]);
});

test("an undo that the remote has counts as undone, and your branch follows it", async () => {
  const { merge, stop, undo, cups, unlock, later, record } = await start();
  await merge();
  await stop();
  expect(await undo()).toMatchObject({ state: "undone", reason: expect.stringContaining(published) });
  expect(cups()).toEqual(["", ""]);
  unlock();
  await later(async () => (await record())?.onRemote === undefined);
  expect(await record()).toMatchObject({ state: "undone", undo: { after: expect.any(String) } });
});
