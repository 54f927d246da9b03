import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CleanedView, SalvagedView, WorkspaceView } from "../../src/api/workspace-wires.ts";
import { createUpkeepTimer } from "../../src/daemon/workspaces/upkeep-timer.ts";
import { createScriptedClock } from "../../src/testing/scripted-clock.ts";
import { gitStage } from "./upkeep-stage.ts";

/** `over` ends a task without giving its workspace back. */
const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  over: { terminal: true }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: over, by: human }
  - { from: any, to: done, by: human, hooks: [release_workspace] }
`;

const day = 24 * 60 * 60 * 1000;

async function stageWith(options: Parameters<typeof gitStage>[1] = {}) {
  const stage = await gitStage(flow, options);
  return {
    ...stage,
    /** A task that has uncommitted work in its workspace. */
    async work(id: string) {
      await stage.create(id);
      const { workspace } = await stage.move(id, "busy");
      writeFileSync(join(workspace, "idea.md"), `${id}\n`);
      return workspace;
    },
    list: async (): Promise<readonly WorkspaceView[]> =>
      ((await stage.ask("listWorkspaces", {})) as { workspaces: readonly WorkspaceView[] }).workspaces,
    salvaged: async (): Promise<readonly SalvagedView[]> =>
      ((await stage.ask("listSalvage", {})) as { salvaged: readonly SalvagedView[] }).salvaged,
    gc: async (dryRun = false): Promise<readonly CleanedView[]> =>
      ((await stage.ask("cleanWorkspaces", { dryRun })) as { done: readonly CleanedView[] }).done,
  };
}

test("deleting a task saves what is in its workspace, and gives the folder back", async () => {
  const { work, move, ask, store, list, salvaged, places } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "over");
  expect(await list()).toMatchObject([{ path: workspace, state: "dirty", task: { id: "b1111", number: 1 } }]);
  await ask("deleteTask", {}, { task: "b1111" });
  expect(await store.getTask("b1111")).toBeUndefined();
  expect(await list()).toMatchObject([{ path: workspace, task: null }]);
  expect(await salvaged()).toMatchObject([{ task: "b1111", project: "coffee", files: 1, size: 6, on: "first" }]);
  expect(JSON.parse(readFileSync(places.agents, "utf8")).folders).toEqual([]);
});

test("a task whose workspace cannot be saved is not deleted", async () => {
  const { work, move, ask, store, places } = await stageWith();
  await work("b1111");
  await move("b1111", "over");
  renameSync(join(places.control, "coffee.git"), join(places.control, "away.git"));
  writeFileSync(join(places.control, "coffee.git"), "in the way");
  await expect(ask("deleteTask", {}, { task: "b1111" })).rejects.toThrow();
  expect(await store.getTask("b1111")).toBeDefined();
  expect((await store.workspaces.list({})).map(({ task }) => task)).toEqual(["b1111"]);
});

test("a project that is removed leaves nothing behind in the repository, and all work where it says", async () => {
  const { work, move, ask, store, git, repository, places } = await stageWith({ poolSize: 2 });
  const first = await work("b1111");
  const second = await work("b2222");
  git(second, "add", "-A");
  git(second, "commit", "-qm", "committed");
  const exclude = join(repository, ".git/info/exclude");
  expect(readFileSync(exclude, "utf8")).toContain("signalbox");
  await expect(ask("removeProject", {}, { project: "coffee" })).rejects.toMatchObject({ code: "store.in-use" });
  expect(existsSync(first)).toBe(true);
  await move("b1111", "over");
  await move("b2222", "done");
  const control = join(places.control, "coffee.git");
  expect(await ask("removeProject", {}, { project: "coffee" })).toEqual({ control, salvaged: 1, left: [] });
  expect([existsSync(first), existsSync(second)]).toEqual([false, false]);
  expect(readFileSync(exclude, "utf8")).not.toContain("signalbox");
  expect(git(repository, "worktree", "list").split("\n").length).toBe(1);
  expect(await store.getProject("coffee")).toBeUndefined();
  const [ref = ""] = git(control, "for-each-ref", "--format=%(refname)", "refs/signalbox/salvage").split("\n");
  expect(git(control, "show", `${ref}:idea.md`)).toBe("b1111");
  expect(git(repository, "log", "-1", "--format=%s", "signalbox/b2222")).toBe("committed");
});

test("a project whose repository is gone can be removed, and its workspaces stay", async () => {
  const { work, move, ask, repository } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "over");
  rmSync(repository, { recursive: true });
  expect(await ask("removeProject", {}, { project: "coffee" })).toMatchObject({ left: [workspace] });
  expect(readFileSync(join(workspace, "idea.md"), "utf8")).toBe("b1111\n");
});

test("after a start, workspaces of tasks that are over are free, and forgotten ones are found again", async () => {
  const { work, move, core, store, start, salvaged, complaints } = await stageWith({ poolSize: 3 });
  const over = await work("b1111");
  const forgotten = await work("b2222");
  const open = await work("b3333");
  await move("b1111", "over");
  await move("b2222", "over");
  await store.workspaces.remove("coffee/2");
  mkdirSync(join(forgotten, "../own"));
  await core.close();
  const again = start();
  await again.recover();
  await again.close();
  expect((await store.workspaces.list({})).map(({ path, task }) => [path, task])).toEqual([
    [over, ""],
    [open, "b3333"],
    [forgotten, ""],
  ]);
  expect(await salvaged()).toMatchObject([{ task: "b1111" }]);
  expect(readFileSync(join(forgotten, "idea.md"), "utf8")).toBe("b2222\n");
  expect(complaints).toMatchObject([[expect.stringContaining("is none"), { path: join(forgotten, "../own") }]]);
});

test("cleaning up says what it would do, does that, and says what it keeps and why", async () => {
  const { work, move, ask, core, list, gc, salvaged, places, complaints } = await stageWith({ poolSize: 4 });
  const [busy, over, broken, free] = [
    await work("b1111"),
    await work("b2222"),
    await work("b3333"),
    await work("b4444"),
  ];
  await move("b2222", "over");
  await move("b3333", "done");
  await move("b4444", "done");
  rmSync(join(broken, ".git"));
  rmSync(join(broken, "idea.md"));
  await core.store.updateProject("coffee", { poolSize: 2 });
  const before = await list();
  const dry = await gc(true);
  expect(await list()).toEqual(before);
  expect(dry.map(({ what, path }) => [what, path])).toEqual([
    ["release", over],
    ["keep", busy],
    ["keep", over],
    ["remove", broken],
    ["remove", free],
    // Nothing was committed on them.
    ["delete", "the branch signalbox/b4444"],
    ["delete", "the branch signalbox/b3333"],
    ["delete", "the branch signalbox/b2222"],
  ]);
  expect(dry[1]?.reason).toBe('coffee#1 "Brew" has it.');
  expect(dry[4]?.reason).toBe("It is free, and the pool has 4 of 2.");
  const done = await gc();
  expect(done.slice(0, 8)).toEqual(dry);
  expect(done[8]).toMatchObject({ what: "keep", path: join(places.trash, "coffee") });
  expect([busy, over, broken, free].map((path) => existsSync(path))).toEqual([true, true, false, false]);
  expect((await salvaged()).map(({ task }) => task).sort()).toEqual(["b2222", "b3333", "b4444"]);
  // Those that were free may have been cleared ahead of time by then, which puts more there.
  const { trash } = (await ask("listWorkspaces", {})) as { trash: { folders: number } };
  expect(trash.folders).toBeGreaterThanOrEqual(2);
  expect((await gc()).map(({ what }) => what)).toEqual(["keep", "keep", "keep"]);
  expect(complaints).toEqual([]);
});

test("free workspaces of other projects go, saved, where a new one would be too much", async () => {
  const limit = { bytes: Number.POSITIVE_INFINITY };
  const { work, create, move, store, git, base, repository, list, salvaged } = await stageWith({
    poolSize: 2,
    limits: () => ({ keepEnded: Number.POSITIVE_INFINITY, trashDays: 30, trashBytes: 1e9, diskBytes: limit.bytes }),
  });
  const tea = join(base, "tea");
  git(base, "clone", "-q", repository, tea);
  const coffee = await store.getProject("coffee");
  if (coffee === undefined) throw new Error("There is coffee.");
  // The task of the other project is over, and what it left lies in its workspace.
  await store.addProject({ ...coffee, name: "tea", path: tea });
  const left = await work("b1111");
  await move("b1111", "done");
  const taken = (await list())[0]?.size ?? 0;
  expect(taken).toBeGreaterThan(0);
  limit.bytes = taken;
  await create("b2222", { project: "tea" });
  expect(await move("b2222", "busy")).toMatchObject({ workspace: expect.stringContaining("/tea/1"), phase: "waiting" });
  expect(existsSync(left)).toBe(false);
  expect((await list()).map(({ project }) => project)).toEqual(["tea"]);
  expect(await salvaged()).toMatchObject([{ task: "b1111", files: 1 }]);
});

test("where there is no room on the disk, it is said; a workspace that is free is used again all the same", async () => {
  const limit = { bytes: Number.POSITIVE_INFINITY };
  const { work, create, move, list, until, core } = await stageWith({
    poolSize: 2,
    limits: () => ({ keepEnded: Number.POSITIVE_INFINITY, trashDays: 30, trashBytes: 1e9, diskBytes: limit.bytes }),
  });
  const first = await work("b1111");
  limit.bytes = 1;
  await create("b2222");
  await core.submit("b2222", { kind: "move", to: "busy", actor: { role: "human" } });
  await until("b2222", ({ task }) => task.status === "busy");
  for (let i = 0; i < 500 && (await core.store.openEffects("b2222"))[0]?.failure === undefined; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const [effect] = await core.store.openEffects("b2222");
  expect(effect).toMatchObject({ state: "owed", failure: { reason: expect.stringContaining("may take 1 MB") } });
  expect(existsSync(first)).toBe(true);
  await move("b1111", "done");
  expect(await until("b2222", ({ task }) => task.workspace !== "")).toMatchObject({ workspace: first });
  expect((await list()).length).toBe(1);
});

test("old trash is deleted, and objects are brought together, on a timer", async () => {
  const { work, move, gc, core, places, git } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "done");
  for (const name of [".git", "idea.md"]) rmSync(join(workspace, name));
  await gc();
  const heaps = () => readdirSync(join(places.trash, "coffee")).length;
  const { pools } = core;
  if (pools === undefined) throw new Error("There are workspaces.");
  expect(heaps()).toBe(1);
  const control = join(places.control, "coffee.git");
  const blobs = writeLoose(places.control, (path) => git(control, "hash-object", "-w", path));
  const clock = createScriptedClock(Date.now());
  const timer = createUpkeepTimer({ ...pools, clock });
  timer.start();
  await clock.pass(day);
  expect(heaps()).toBe(1);
  await clock.pass(30 * day);
  // Files are deleted in real time, whatever the clock says.
  for (let i = 0; i < 500 && (heaps() > 0 || existsSync(join(control, "objects/17"))); i++) {
    await clock.pass(day / 24);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(heaps()).toBe(0);
  expect(existsSync(join(control, "objects/17"))).toBe(false);
  expect(git(control, "cat-file", "-t", blobs[0] ?? "").trim()).toBe("blob");
  await timer.stop();
});

/** As many objects as git finds too many, by the folder in which it counts them. */
function writeLoose(folder: string, write: (path: string) => string): readonly string[] {
  const path = join(folder, "loose");
  const ids: string[] = [];
  for (let i = 0; ids.length < 10; i++) {
    const text = `loose ${i}`;
    if (!createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex").startsWith("17")) continue;
    writeFileSync(path, text);
    ids.push(write(path).trim());
  }
  return ids;
}

test("a broken workspace is saved before it goes, and one that is gone is forgotten", async () => {
  const { work, move, gc, list, salvaged, git, places } = await stageWith({ poolSize: 2 });
  const workspace = await work("b1111");
  const other = await work("b2222");
  await move("b1111", "done");
  await move("b2222", "done");
  writeFileSync(join(workspace, "later.md"), "later\n");
  rmSync(join(workspace, ".git"));
  expect((await gc())[0]).toMatchObject({
    what: "remove",
    path: workspace,
    reason: expect.stringContaining(".git does not"),
  });
  expect(existsSync(workspace)).toBe(false);
  const kept = (await salvaged()).map(({ ref }) =>
    git(join(places.control, "coffee.git"), "ls-tree", "--name-only", `refs/signalbox/salvage/${ref}`).split("\n"),
  );
  expect(kept).toContainEqual(["idea.md", "later.md", "recipe.md"]);
  rmSync(other, { recursive: true });
  expect(await list()).toMatchObject([{ state: "missing", size: 0 }]);
  expect((await gc())[0]).toMatchObject({ what: "remove", reason: "Its folder is gone." });
  expect(await list()).toEqual([]);
});

test("what was salvaged comes back as a folder or as a branch, over nothing, and goes only when asked", async () => {
  const { work, move, ask, salvaged, git, repository, base } = await stageWith();
  await work("b1111");
  await move("b1111", "done");
  const [{ ref, commit } = { ref: "", commit: "" }] = await salvaged();
  expect(ref).toMatch(/^b1111\/\d{4}-/);
  const folder = join(base, "found");
  expect(await ask("restoreSalvage", { ref, folder })).toEqual({ ref, commit, folder, branch: null });
  expect(readdirSync(folder).sort()).toEqual(["idea.md", "recipe.md"]);
  await expect(ask("restoreSalvage", { ref, folder })).rejects.toMatchObject({ code: "restore.exists" });
  await ask("restoreSalvage", { ref: `refs/signalbox/salvage/${ref}`, branch: "found" });
  expect(git(repository, "show", "found:idea.md")).toBe("b1111");
  expect(git(repository, "branch", "--show-current")).toBe("main");
  await expect(ask("restoreSalvage", { ref, branch: "main" })).rejects.toMatchObject({ code: "salvage.exists" });
  await expect(ask("restoreSalvage", { ref, branch: "no good" })).rejects.toMatchObject({ code: "salvage.invalid" });
  await expect(ask("restoreSalvage", { ref })).rejects.toMatchObject({ code: "salvage.invalid" });
  expect(await ask("dropSalvage", { ref })).toEqual({ ref, commit });
  expect(await salvaged()).toEqual([]);
  await expect(ask("dropSalvage", { ref })).rejects.toMatchObject({ code: "salvage.missing" });
});
