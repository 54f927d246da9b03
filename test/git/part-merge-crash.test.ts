import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createGit } from "../../src/adapters/git/git.ts";
import { systemClock } from "../../src/adapters/system.ts";
import { mergeEffect } from "../../src/daemon/merging/merge-effect.ts";
import { createMerging, type MergingPorts } from "../../src/daemon/merging/merging.ts";
import type { ProjectWorkspaces } from "../../src/daemon/workspaces/project-workspaces.ts";
import { createTurns } from "../../src/keyed.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import type { Git } from "../../src/ports/git.ts";
import type { Store } from "../../src/ports/store.ts";
import { sampleProject, sampleTask } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createCrashingGit } from "./crashing-git.ts";
import { cloneOf, createStage, repositoryAt } from "./stage.ts";

const stage = createStage("part-merge");
const ids = ["b1", "b2"];

/** A parent whose branch is collected, and two parts, each with a commit. */
async function prepare() {
  const user = stage.repository();
  const control = await stage.control(user);
  const parent = cloneOf(stage, user, "team");
  parent.commit({ "plan.txt": "plan\n" });
  await control.collect({ folder: parent.folder, branch: "team", task: "p1" });
  for (const id of ids) {
    const part = cloneOf(stage, parent, `part-${id}`);
    part.commit({ [`${id}.txt`]: `${id}\n` });
    await control.collect({ folder: part.folder, branch: `part-${id}`, task: id });
  }
  return { user, control, main: user.at("main") };
}

const prepared = await prepare();
let copies = 0;

/** A copy of the repositories for one crash, with tasks that are about to be merged. */
async function copy() {
  const folder = join(stage.base, `case-${++copies}`);
  mkdirSync(folder);
  const [user, control] = [join(folder, "user"), join(folder, "control.git")];
  cpSync(prepared.user.folder, user, { recursive: true });
  cpSync(prepared.control.folder, control, { recursive: true });
  const store = createMemoryStore();
  await store.addProject({ ...sampleProject(), path: user });
  await store.createTask("coffee", sampleTask("p1", { branch: "team", phase: "waiting" }));
  for (const id of ids) {
    const part = { stay: 1, item: id, try: 1, slot: 1, title: id, description: "", files: [], size: "M" } as const;
    await store.createTask("coffee", sampleTask(id, { parent: "p1", base: "team", part, phase: "doing" }));
  }
  return { folder, user, control, store };
}

type Copy = Awaited<ReturnType<typeof copy>>;

class Killed extends Error {}

/** Throws at the call with this number, counted over all calls that change something, and at every later one. */
function createFuse(at: number) {
  let calls = 0;
  const changing = /^(put|remove|add|save|finish|fail|merge|moveRef|collect|sync|publish)/;
  const guard = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === "object" && value !== null) return guard(value);
        if (typeof value !== "function") return value;
        if (!changing.test(String(name))) return value.bind(target);
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls >= at) throw new Killed();
          return value.apply(target, args);
        };
      },
    });
  return { guard, calls: () => calls };
}

/** One life of the daemon: all parts are merged at once, as their workflows ask. */
async function live({ user, control: folder }: Copy, git: Git, store: Store, guard = <T extends object>(it: T) => it) {
  const control = guard(await git.openControl(folder));
  const own = { control, git, repository: user } as unknown as ProjectWorkspaces;
  const signal = new AbortController().signal;
  const ports = {
    ...{ store, clock: systemClock, inTurn: createTurns(), workspacesOf: async () => own, signal },
    where: () => "here",
    landingOf: async () => ({ where: "here", workspaces: "/", signal, inTurn: ports.inTurn, test: undefined }),
    protection: { mustBeConfirmed: async () => {} },
    onError: () => {},
  } as unknown as MergingPorts & Parameters<typeof mergeEffect>[0];
  const merging = createMerging(ports);
  const perform = mergeEffect({ ...ports, merging });
  const effect = { action: "merge", params: { into: "parent", strategy: "no-ff" } };
  const ended = await Promise.allSettled(
    ids.map(async (id) => {
      const task = (await store.getTask(id))?.task;
      if (task !== undefined) await perform(effect, { task, key: id });
    }),
  );
  await merging.stop();
  return ended.map((each) => (each.status === "fulfilled" ? "done" : String(each.reason)));
}

/** Waits for no more than a dead daemon would be heard of. */
async function firstLife(life: Promise<unknown>) {
  await Promise.race([life, new Promise((resolve) => setTimeout(resolve, 700))]).catch(() => {});
}

async function check({ control, user, store }: Copy) {
  const at = repositoryAt(control, stage.env);
  const tip = at.at(taskRef("p1"));
  const merges = at.git("log", "--first-parent", "--merges", "--format=%s", tip).split("\n");
  expect(merges.sort()).toEqual(ids.map((id) => expect.stringContaining(`signalbox/${id}`)));
  expect(at.git("ls-tree", "--name-only", tip).split("\n")).toEqual([
    "a.txt",
    "b.txt",
    "b1.txt",
    "b2.txt",
    "folder",
    "plan.txt",
  ]);
  for (const id of ids) {
    const events = (await store.listEvents({ task: id }, 0, 100)).filter(({ event }) => event.type === "merge.landed");
    expect(events.map(({ event }) => event.data.target)).toEqual(["team"]);
    expect(await store.merges.get(id)).toMatchObject({ state: "merged", parent: "p1" });
  }
  // The user's repository is not involved.
  const users = repositoryAt(user, stage.env);
  expect(users.git("for-each-ref", "--format=%(refname) %(objectname)")).toBe(`refs/heads/main ${prepared.main}`);
}

test("parts that are merged at once make one merge commit each", async () => {
  const here = await copy();
  expect(await live(here, stage.git, here.store)).toEqual(["done", "done"]);
  await check(here);
});

/** At least as many as there are changes, whether the parts are merged together or one after the other. */
const deaths = 22;

describe("a daemon that dies before it changes something continues with the same result", () => {
  test.each(Array.from({ length: deaths }, (_, at) => at + 1))("at change %i", async (at) => {
    const here = await copy();
    const fuse = createFuse(at);
    await firstLife(live(here, stage.createGit(), fuse.guard(here.store), fuse.guard));
    expect(await live(here, stage.createGit(), here.store)).toEqual(["done", "done"]);
    await check(here);
  });

  test("there is no further change to die at", async () => {
    const here = await copy();
    const fuse = createFuse(Number.POSITIVE_INFINITY);
    await live(here, stage.createGit(), fuse.guard(here.store), fuse.guard);
    expect(fuse.calls()).toBeLessThan(deaths);
  });
});

/** The first two calls open the repository. */
const opening = 2;
const gitCalls = 9;

describe("git that is killed during the merge leaves nothing half-done", () => {
  test.each(Array.from({ length: gitCalls }, (_, at) => at + 1))("at call %i of git", async (at) => {
    const here = await copy();
    const { program } = createCrashingGit(here.folder, opening + at, at % 2 === 0 ? "during" : "before");
    await live(here, createGit({ env: stage.env, program }), here.store);
    expect(await live(here, stage.createGit(), here.store)).toEqual(["done", "done"]);
    await check(here);
  });
});
