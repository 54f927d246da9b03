import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName, type Scene, statusOf } from "../stage.ts";
import { leftovers } from "./leftovers.ts";

const keep = ["node_modules"];
const free = { at: "main", keep, isFree: async () => true };

export function parkContract(kind: KindName): void {
  const { open } = createScenes(kind, "park");

  /** A workspace that a task has used and released, and that was then parked. */
  async function parked(changes = {}): Promise<Scene> {
    const scene = await open();
    const { at, control, folder, prepare, user } = scene;
    user.commit({ ".gitignore": "node_modules/\n*.log\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ base: user.at("HEAD") });
    at().commit({ "committed.txt": "committed\n" });
    await control.collect({ folder, branch: "task", task: "t1" });
    for (const file of ["a.txt", "new.txt", "x.log", "TASK.md"]) at().write(file, "former\n");
    await scene.salvage();
    expect(await scene.kind.park({ folder, ...free, ...changes })).toBe(true);
    return scene;
  }

  test("a parked workspace has the files of the base branch, no branch, and nothing of the former task", async () => {
    const { at, folder, kind, trashed, user } = await parked();
    const head = user.at("main");
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", branch: undefined, head, dirty: false });
    expect(statusOf(at())).toBe("");
    expect(at().read("a.txt")).toBe("a\n");
    expect(existsSync(join(folder, "committed.txt"))).toBe(false);
    expect(trashed()).toEqual(expect.arrayContaining(["a.txt", "new.txt", "x.log", "TASK.md"]));
    // The branch of the former task can be checked out elsewhere.
    if (kind.kind === "worktree") user.git("checkout", "--quiet", "task");
    else expect(at().git("branch", "--format=%(refname:short)", "--list", "task")).toBe("");
  });

  test("a named pipe that was created in a parked workspace is gone for the next task", async () => {
    const { folder, prepare, user } = await parked();
    const pipe = join(folder, "TASK.md");
    execFileSync("mkfifo", [pipe]);
    await prepare({ branch: "next", base: user.at("main"), keep });
    expect(existsSync(pipe)).toBe(false);
  });

  test("the next task gets a parked workspace without anything moved to the trash", async () => {
    const { at, base, folder, kind, prepare, trashed, user } = await parked();
    const before = trashed().filter((name) => !name.startsWith(".git"));
    const head = user.at("main");
    expect(await prepare({ branch: "next", base: head, keep })).toEqual({ commit: head, how: "recycled" });
    expect(await kind.inspect(folder)).toMatchObject({ branch: "next", head, dirty: false });
    expect(statusOf(at())).toBe("");
    expect(trashed().filter((name) => !name.startsWith(".git"))).toEqual(before);
    expect(at().read("a.txt")).toBe("a\n");
    expect(base).not.toBe(head);
  });

  test("a task may start from another commit than the parked one", async () => {
    const { at, base, control, prepare, user } = await parked();
    const later = user.commit({ "later.txt": "later\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    expect(await prepare({ branch: "next", base: later, keep })).toMatchObject({ commit: later });
    expect([statusOf(at()), at().read("later.txt")]).toEqual(["", "later\n"]);
    expect(await prepare({ branch: "earlier", base, keep })).toMatchObject({ commit: base });
    expect(statusOf(at())).toBe("");
  });

  test("a folder in `keep` survives both parking and preparing", async () => {
    const scene = await open();
    const { at, control, folder, prepare, user } = scene;
    user.commit({ ".gitignore": "node_modules/\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    const base = user.at("HEAD");
    await prepare({ base });
    at().write("node_modules/dep/x.js", "kept\n");
    expect(await scene.kind.park({ folder, ...free })).toBe(true);
    expect(at().read("node_modules/dep/x.js")).toBe("kept\n");
    await prepare({ branch: "next", base, keep });
    expect(at().read("node_modules/dep/x.js")).toBe("kept\n");
    expect(statusOf(at())).toBe("");
  });

  // Other tests cover commits on a branch that an agent created there.
  const late = leftovers.filter(([what]) => what !== "an unfinished merge");
  test.each(late)("%s in a parked workspace is not lost", async (_, leave, file, text) => {
    const scene = await parked();
    const { at, folder, prepare, user } = scene;
    leave(at());
    const order = { branch: "next", base: user.at("main"), keep };
    expect((await faultOf(prepare(order))).code).toBe("workspace.dirty");
    expect(at().read(file)).toBe(text);
    await scene.salvage();
    await prepare({ ...order, salvaged: true });
    expect(await scene.kind.inspect(folder)).toMatchObject({ branch: "next", dirty: false });
    expect(statusOf(at())).toBe("");
  });

  test("ignored files that appear in a parked workspace are gone for the next task", async () => {
    const { at, folder, prepare, trashed, user } = await parked();
    at().write("late.log", "late\n");
    await prepare({ branch: "next", base: user.at("main"), keep });
    expect(existsSync(join(folder, "late.log"))).toBe(false);
    expect(trashed()).toContain("late.log");
  });

  test("commits in a parked workspace are not lost", async () => {
    const { at, folder, prepare, user } = await parked();
    at().commit({ "lost.txt": "lost\n" });
    const order = { branch: "next", base: user.at("main"), keep };
    expect((await faultOf(prepare(order))).code).toBe("workspace.unsaved");
    expect((await faultOf(prepare({ ...order, salvaged: true }))).code).toBe("workspace.unsaved");
    expect(existsSync(join(folder, "lost.txt"))).toBe(true);
  });

  test("commits in a parked workspace that only its reflog has are not lost", async () => {
    const scene = await parked();
    const { at, control, folder, kind, prepare, user } = scene;
    expect(await kind.inspect(folder)).toMatchObject({ parked: true });
    const lost = at().commit({ "lost.txt": "lost\n" });
    at().git("reset", "--quiet", "--hard", "HEAD~1");
    expect(await kind.inspect(folder)).toMatchObject({ parked: false, dirty: false });
    const order = { branch: "next", base: user.at("main"), keep };
    expect((await faultOf(prepare(order))).code).toBe("workspace.unsaved");
    const { saved } = await scene.salvage();
    expect(await control.isAncestor(lost, saved?.commit ?? "")).toBe(true);
    expect(await prepare({ ...order, salvaged: true })).toMatchObject({ how: "recycled" });
  });

  test("a workspace is not parked if a task has it, if it has unsaved commits, or if the branch does not exist", async () => {
    const scene = await open();
    const { at, folder, kind, prepare, trashed } = scene;
    await prepare();
    at().write("a.txt", "mine\n");
    expect(await kind.park({ folder, ...free, isFree: async () => false })).toBe(false);
    expect(await kind.park({ folder, ...free, at: "no-such-branch" })).toBe(false);
    at().git("checkout", "--quiet", "--detach");
    at().commit({ "lost.txt": "lost\n" });
    expect(await kind.park({ folder, ...free })).toBe(false);
    expect(await kind.park({ folder: scene.place("nothing"), ...free })).toBe(false);
    expect(at().read("a.txt")).toBe("mine\n");
    expect(readdirSync(folder)).toContain("lost.txt");
    expect(trashed()).toEqual([]);
  });

  test("parking is idempotent", async () => {
    const { at, folder, kind, prepare, user } = await parked();
    expect(await kind.park({ folder, ...free })).toBe(true);
    expect(statusOf(at())).toBe("");
    await prepare({ branch: "next", base: user.at("main"), keep });
    expect(statusOf(at())).toBe("");
  });
}
