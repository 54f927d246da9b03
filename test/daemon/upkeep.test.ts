import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { CleanedView, SalvagedView, WorkspaceView } from "../../src/api/workspaces.ts";
import { createUpkeepTimer } from "../../src/daemon/workspaces/upkeep.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { gitStage } from "./upkeep-stage.ts";

/** `over` ends a task without releasing its workspace. */
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

test("deleting a task saves the contents of its workspace, and releases the folder", async () => {
  const { work, move, ask, store, list, salvaged, places } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "over");
  expect(await list()).toMatchObject([{ path: workspace, state: "dirty", task: { id: "b1111", number: 1 } }]);
  await ask("deleteTask", {}, { task: "b1111" });
  expect(await store.getTask("b1111")).toBeUndefined();
  expect(await list()).toMatchObject([{ path: workspace, task: null }]);
  const on = expect.stringMatching(/^[0-9a-f]{10} first$/);
  expect(await salvaged()).toMatchObject([{ task: "b1111", project: "coffee", files: 1, size: 6, on }]);
  expect(JSON.parse(readFileSync(places.agents, "utf8")).folders).toEqual([]);
});

test("deleting a task with unmerged commits names a command that brings them back", async () => {
  const { work, move, ask, git, repository } = await stageWith({ poolSize: 2 });
  const commit = (folder: string) => {
    git(folder, "add", "idea.md");
    git(folder, "commit", "-qm", "work");
    return git(folder, "rev-parse", "HEAD");
  };
  const tip = commit(await work("b1111"));
  await work("b2222");
  for (const id of ["b1111", "b2222"]) await move(id, "done");
  const { unmerged } = (await ask("deleteTask", {}, { task: "b1111" })) as { unmerged: string };
  const [, said, command = ""] = /^(.*) To get it back as a branch: (git .+)$/.exec(unmerged) ?? [];
  expect(said).toBe('1 commit of it is not in "main".');
  execFileSync("sh", ["-c", command], { stdio: "ignore" });
  expect(git(repository, "rev-parse", "signalbox/b1111")).toBe(tip);
  expect(await ask("deleteTask", {}, { task: "b2222" })).toMatchObject({ unmerged: "" });
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

test("a removed project leaves nothing in the repository, and all work where the answer says", async () => {
  const { work, move, ask, store, git, repository, places } = await stageWith({ poolSize: 2, workspaces: "worktree" });
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

test("a project whose repository is missing can be removed, and its workspaces stay", async () => {
  const { work, move, ask, repository } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "over");
  rmSync(repository, { recursive: true });
  expect(await ask("removeProject", {}, { project: "coffee" })).toMatchObject({ left: [workspace] });
  expect(readFileSync(join(workspace, "idea.md"), "utf8")).toBe("b1111\n");
});

test("after a restart, workspaces of ended tasks are free, and unrecorded ones are adopted", async () => {
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
  expect(complaints).toMatchObject([
    [expect.stringContaining("is not a workspace"), { path: join(forgotten, "../own") }],
  ]);
});

test("gc lists what it would do, does that, and lists what it keeps and why", async () => {
  const { work, move, ask, core, list, gc, salvaged, places, complaints, git, repository } = await stageWith({
    poolSize: 4,
    workspaces: "worktree",
  });
  const [busy, over, broken, free] = [
    await work("b1111"),
    await work("b2222"),
    await work("b3333"),
    await work("b4444"),
  ];
  await move("b2222", "over");
  await move("b3333", "done");
  await move("b4444", "done");
  // The branches of the released workspaces have no commits.
  const branches = () => git(repository, "branch", "--format=%(refname:short)").split("\n");
  await vi.waitFor(() => expect(branches()).toEqual(["main", "signalbox/b1111", "signalbox/b2222"]), 10_000);
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
    ["delete", "the branch signalbox/b2222"],
  ]);
  expect(dry[1]?.reason).toBe('coffee#1 "Brew" uses it.');
  expect(dry[4]?.reason).toBe("It is free, and the pool has 4 of 2.");
  const done = await gc();
  expect(done.slice(0, 6)).toEqual(dry);
  expect(done[6]).toMatchObject({ what: "keep", path: join(places.trash, "coffee") });
  expect([busy, over, broken, free].map((path) => existsSync(path))).toEqual([true, true, false, false]);
  expect((await salvaged()).map(({ task }) => task).sort()).toEqual(["b2222", "b3333", "b4444"]);
  // Free workspaces may have been parked by then, which adds to the trash.
  const { trash } = (await ask("listWorkspaces", {})) as { trash: { folders: number } };
  expect(trash.folders).toBeGreaterThanOrEqual(2);
  const rest = await gc();
  expect(rest, JSON.stringify(rest)).toMatchObject([{ what: "keep" }, { what: "keep" }, { what: "keep" }]);
  expect(complaints).toEqual([]);
});

test("free workspaces of other projects are saved and removed if a new one would exceed the limit", async () => {
  const limit = { bytes: Number.POSITIVE_INFINITY };
  const { work, create, move, store, git, base, repository, list, salvaged } = await stageWith({
    poolSize: 2,
    limits: () => ({ keepEnded: Number.POSITIVE_INFINITY, trashDays: 30, trashBytes: 1e9, diskBytes: limit.bytes }),
  });
  const tea = join(base, "tea");
  git(base, "clone", "-q", repository, tea);
  const coffee = await store.getProject("coffee");
  if (coffee === undefined) throw new Error("There is coffee.");
  // The task of the other project has ended, and its files are still in its workspace.
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

test("a full disk limit is reported; a free workspace is still reused", async () => {
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
  expect(effect).toMatchObject({ state: "owed", failure: { reason: expect.stringContaining("the limit is 1 MB") } });
  expect(existsSync(first)).toBe(true);
  await move("b1111", "done");
  expect(await until("b2222", ({ task }) => task.workspace !== "")).toMatchObject({ workspace: first });
  expect((await list()).length).toBe(1);
});

test("old trash is deleted, and objects are repacked, on a timer", async () => {
  const { work, move, gc, core, places, git } = await stageWith();
  const workspace = await work("b1111");
  await move("b1111", "done");
  for (const name of [".git", "idea.md"]) rmSync(join(workspace, name), { recursive: true });
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

/** Enough loose objects for git to repack, in the folder that git counts. */
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

test.each([
  ["worktree", ".git does not"],
  ["clone", "Its repository is gone."],
] as const)(
  "a broken %s is saved before it is removed, and the record of a missing one is deleted",
  async (workspaces, reason) => {
    const { work, move, gc, list, salvaged, git, places } = await stageWith({ poolSize: 2, workspaces });
    const workspace = await work("b1111");
    const other = await work("b2222");
    await move("b1111", "done");
    await move("b2222", "done");
    writeFileSync(join(workspace, "later.md"), "later\n");
    rmSync(join(workspace, ".git"), { recursive: true });
    expect((await gc())[0]).toMatchObject({ what: "remove", path: workspace, reason: expect.stringContaining(reason) });
    expect(existsSync(workspace)).toBe(false);
    const kept = (await salvaged()).map(({ ref }) =>
      git(join(places.control, "coffee.git"), "ls-tree", "--name-only", `refs/signalbox/salvage/${ref}`).split("\n"),
    );
    expect(kept).toContainEqual(expect.arrayContaining(["idea.md", "later.md", "recipe.md"]));
    rmSync(other, { recursive: true });
    expect(await list()).toMatchObject([{ state: "missing", size: 0 }]);
    expect((await gc())[0]).toMatchObject({ what: "remove", reason: "Its folder is missing." });
    expect(await list()).toEqual([]);
  },
);

test("salvage is restored as a folder or as a branch, overwrites nothing, and is dropped only on request", async () => {
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
