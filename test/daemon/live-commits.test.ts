import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLiveCommits } from "../../src/daemon/workspaces/live-commits.ts";
import { Fault } from "../../src/fault.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import type { Log } from "../../src/ports/system.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";
const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log, close: async () => {} };

/** A task at work, and its commits as they are collected when its run is checked. */
async function start(kind: "clone" | "worktree", fails = () => false) {
  const stage = await startGitStage({ workspaces: kind });
  const { store, core, git } = stage;
  const { workspace } = await stage.begin(id);
  const clock = createScriptedClock();
  const pools = core.pools;
  if (pools === undefined) throw new Error("There are no pools.");
  let collected = 0;
  const live = createLiveCommits({
    ...{ store, clock, log },
    workspacesOf: async (project) => {
      const own = await pools.workspacesOf(project);
      const collect: typeof own.control.collect = async (order) => {
        collected += 1;
        if (fails()) throw new Fault("git.busy", "Later.", { retry: "later" });
        return own.control.collect(order);
      };
      return { ...own, control: { ...own.control, collect } };
    },
  });
  const control = await stage.control();
  return {
    ...{ ...stage, workspace },
    count: () => collected,
    commit(name: string) {
      writeFileSync(join(workspace, name), "full\n");
      git(workspace, "add", name);
      git(workspace, "commit", "-qm", name);
      return git(workspace, "rev-parse", "HEAD");
    },
    /** Checks the run this many milliseconds after the last check. */
    async check(after = 3_000) {
      await clock.pass(after);
      live.looked(id);
      await live.idle();
    },
    kept: () => control.commitAt(taskRef(id)),
  };
}

for (const kind of ["clone", "worktree"] as const) {
  test(`${kind}: a working agent's commit is collected without a request, and survives its folder`, async () => {
    const { workspace, commit, check, kept, core, git, until } = await start(kind);
    commit("cup.md");
    await check();
    const second = commit("saucer.md");
    await check();
    expect(await kept()).toBe(second);
    rmSync(workspace, { recursive: true });
    await check();
    await core.submit(id, { kind: "respawn", actor: { role: "human" } });
    await expect.poll(async () => (await core.store.openEffects(id)).length, { timeout: 30_000 }).toBe(0);
    await until(id, ({ task }) => task.phase === "waiting");
    expect(git(workspace, "rev-parse", "HEAD")).toBe(second);
  });
}

test("nothing is collected while no branch moves, and not twice in two seconds", async () => {
  const { commit, check, count, kept } = await start("clone");
  await check();
  const before = count();
  for (let times = 0; times < 5; times++) await check();
  expect(count()).toBe(before);
  commit("cup.md");
  await check();
  const second = commit("saucer.md");
  await check(500);
  expect(count()).toBe(before + 1);
  await check();
  expect([count(), await kept()]).toEqual([before + 2, second]);
});

test("a commit that cannot be collected is tried again after a minute", async () => {
  let isBusy = true;
  const { commit, check, count, kept } = await start("clone", () => isBusy);
  const first = commit("cup.md");
  await check();
  await check();
  expect([count(), (await kept()) === first]).toEqual([1, false]);
  isBusy = false;
  await check(61_000);
  expect(await kept()).toBe(first);
});
