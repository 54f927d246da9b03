import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName, type Scene, statusOf } from "../stage.ts";
import { leftovers } from "./leftovers.ts";

const keep = ["node_modules", ".venv", "target"];

export function recycleContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "recycle");
  const recycle = ({ prepare }: Scene, changes = {}) => prepare({ branch: "next", salvaged: true, keep, ...changes });

  test.each(leftovers)("a workspace with %s is not recycled without a salvage", async (_, leave, file, text) => {
    const scene = await open();
    const { at, folder, kind, prepare, trashed } = scene;
    await prepare();
    leave(at());
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", branch: "task", dirty: true });
    const fault = await faultOf(prepare({ branch: "next" }));
    expect(fault).toMatchObject({ code: "workspace.dirty", hint: expect.stringContaining("alvage") });
    expect((await faultOf(prepare())).code).toBe("workspace.dirty");
    expect(at().read(file)).toBe(text);
    expect(await kind.currentBranch(folder)).toBe("task");
    expect(trashed()).toEqual([]);
    await scene.salvage();
    expect(await recycle(scene)).toMatchObject({ how: "recycled" });
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", branch: "next", dirty: false });
    expect([at().read("a.txt"), at().read("b.txt")]).toEqual(["a\n", "b\n"]);
    expect(statusOf(at())).toBe("");
  });

  test("a file that the branch has lost, and that git cannot remove, is not left to the next task", async () => {
    const scene = await open();
    const { folder, prepare, again, user, control } = scene;
    await prepare();
    rmSync(join(user.folder, "b.txt"));
    const base = user.commit();
    await control.syncFrom({ from: user.folder, name: "user" });
    // Git only warns about such a file, and reports success.
    const program = stage.path("git");
    const warning = "warning: unable to unlink 'b.txt': Operation not permitted";
    writeFileSync(program, `#!/bin/sh\ncase "$*" in *" --reset "*) echo "${warning}" >&2 ;; esac\nexec git "$@"\n`);
    chmodSync(program, 0o755);
    const order = { folder, branch: "next", base, existing: false, salvaged: true };
    const fault = await faultOf(again({ program }).prepare(order));
    expect(fault).toMatchObject({ code: "workspace.stuck", message: expect.stringContaining("b.txt") });
    expect(await recycle(scene, { base })).toMatchObject({ how: "recycled" });
  });

  test("only the folders in `keep` are left of the former task, and everything else is in the trash", async () => {
    const scene = await open();
    const { at, base, control, folder, prepare, trashed, user } = scene;
    await prepare();
    const workspace = at();
    workspace.commit({ ".gitignore": "node_modules/\n*.log\n.env\nbuild/\n", "committed.txt": "committed\n" });
    await control.collect({ folder, branch: "task", task: "t1" });
    const files = ["a.txt", "new.txt", "empty/x", "x.log", ".env", "build/target/y", "target/not-ignored", "TASK.md"];
    for (const file of files) workspace.write(file, "former\n");
    for (const file of ["node_modules/dep/x.js", "folder/node_modules/y.js"]) workspace.write(file, "kept\n");
    symlinkSync("/etc", join(folder, ".venv"));
    await scene.salvage();
    user.commit({ ".gitignore": "node_modules/\n", "fresh.txt": "fresh\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    const fresh = user.at("HEAD");
    expect(await recycle(scene, { base: fresh })).toEqual({ commit: fresh, how: "recycled" });
    const list = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith(".git/"));
    expect(list.filter((name) => !lstatSync(join(folder, name)).isDirectory() && name !== ".git").sort()).toEqual(
      [".gitignore", "a.txt", "b.txt", "folder/c.txt", "folder/node_modules/y.js", "fresh.txt"].concat(
        "node_modules/dep/x.js",
      ),
    );
    expect(readdirSync(folder)).not.toContain("empty");
    expect(at().read("a.txt")).toBe("a\n");
    expect(statusOf(at())).toBe("");
    expect(trashed()).toEqual(expect.arrayContaining([...files, ".venv"]));
    expect(user.git("cat-file", "-t", base)).toBe("commit");
  });

  test("named pipes are removed, also in the place of files and inside folders", async () => {
    const scene = await open();
    const { at, folder, prepare } = scene;
    await prepare();
    rmSync(join(folder, "a.txt"));
    mkdirSync(join(folder, "sub/deep"), { recursive: true });
    const pipes = ["TASK.md", "pipe", "a.txt", "sub/p", "sub/deep/p", "folder/p"];
    execFileSync(
      "mkfifo",
      pipes.map((name) => join(folder, name)),
    );
    await scene.salvage();
    await recycle(scene);
    const left = readdirSync(folder, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFIFO()).map(({ name }) => name)).toEqual([]);
    expect(existsSync(join(folder, "sub"))).toBe(false);
    expect([at().read("a.txt"), at().read("folder/c.txt"), statusOf(at())]).toEqual(["a\n", expect.any(String), ""]);
  });

  test("a folder in `keep` goes to the trash if the new commit does not ignore it", async () => {
    const scene = await open();
    const { at, prepare, trashed } = scene;
    await prepare();
    at().write(".gitignore", "node_modules\n");
    at().write("node_modules/x", "x");
    await recycle(scene);
    expect(statusOf(at())).toBe("");
    expect(trashed()).toContain("node_modules/x");
  });

  test("settings and hooks that an agent planted are removed", async () => {
    const scene = await open();
    const { at, folder, prepare, user, kind } = scene;
    await prepare();
    at().git("stash", "list");
    at().git("branch", "leftover");
    at().git("bisect", "start");
    at().write("a.txt", "conflict\n");
    await scene.salvage();
    await recycle(scene);
    expect(await kind.inspect(folder)).toMatchObject({ operation: undefined, dirty: false });
    if (kind.kind === "clone") {
      expect(at().git("branch", "--format=%(refname:short)")).toBe("next");
      expect(at().git("reflog", "--format=%H")).toBe("");
    } else {
      // Branches of the user's repository stay.
      expect(user.git("branch", "--list", "leftover", "task", "--format=%(refname:short)")).toBe("leftover\ntask");
    }
  });

  test("a workspace with commits that no other ref contains is not recycled", async () => {
    const scene = await open();
    const { at, folder, kind, prepare, control } = scene;
    await prepare();
    at().git("checkout", "--quiet", "--detach");
    const lost = at().commit({ "lost.txt": "lost\n" });
    expect(await kind.inspect(folder)).toMatchObject({ branch: undefined, head: lost, dirty: false });
    expect(await kind.currentBranch(folder)).toBeUndefined();
    expect((await faultOf(recycle(scene))).code).toBe("workspace.unsaved");
    expect((await faultOf(kind.remove(folder, undefined))).code).toBe("workspace.unsaved");
    expect(at().read("lost.txt")).toBe("lost\n");
    const { saved } = await scene.salvage();
    expect(await control.isAncestor(lost, saved?.commit ?? "")).toBe(true);
    expect(await recycle(scene)).toMatchObject({ how: "recycled" });
    expect(existsSync(join(folder, "lost.txt"))).toBe(false);
  });

  test("a link in the place of a folder is not followed out of the workspace", async () => {
    const scene = await open();
    const { folder, at, prepare } = scene;
    await prepare();
    const outside = stage.path("outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "c.txt"), "the user's own\n");
    rmSync(join(folder, "folder"), { recursive: true });
    symlinkSync(outside, join(folder, "folder"));
    await scene.salvage();
    await recycle(scene);
    expect(readFileSync(join(outside, "c.txt"), "utf8")).toBe("the user's own\n");
    expect(lstatSync(join(folder, "folder")).isSymbolicLink()).toBe(false);
    expect(at().read("folder/c.txt")).toBe("c\n");
  });

  test("files with unusual names are checked out and removed", async () => {
    const scene = await open();
    const { folder, at, user, control, prepare, kind } = scene;
    const strange = ["new\nline", "-rf", "tab\there", 'quo"te', " ", "ünï", "#x", ":(top)y"];
    const base = user.commit(Object.fromEntries(strange.map((name) => [`strange/${name}`, "x\n"])));
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ base });
    for (const name of strange) at().write(`strange/${name}`, "changed\n");
    for (const name of strange) at().write(`new-${name}`, "new\n");
    const bytes = Buffer.concat([Buffer.from(`${folder}/`), Buffer.of(0xff, 0xfe, 0x0a)]);
    writeFileSync(bytes, "no UTF-8");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true, untracked: strange.length + 1 });
    await scene.salvage();
    await recycle(scene, { base });
    expect(statusOf(at())).toBe("");
    expect(existsSync(bytes)).toBe(false);
    for (const name of strange) expect(at().read(`strange/${name}`)).toBe("x\n");
  });

  test("files that became folders, and folders that became files, are restored", async () => {
    const scene = await open();
    const { folder, at, prepare } = scene;
    await prepare();
    rmSync(join(folder, "a.txt"));
    at().write("a.txt/inside", "x");
    rmSync(join(folder, "folder"), { recursive: true });
    at().write("folder", "x");
    await scene.salvage();
    await recycle(scene);
    expect([at().read("a.txt"), at().read("folder/c.txt")]).toEqual(["a\n", "c\n"]);
    expect(statusOf(at())).toBe("");
  });

  test("a workspace switches between branches and finds the committed work again", async () => {
    const scene = await open();
    const { at, control, folder, prepare } = scene;
    await prepare();
    const work = at().commit({ "work.txt": "work\n" });
    await control.collect({ folder, branch: "task", task: "t1" });
    await recycle(scene);
    expect(existsSync(join(folder, "work.txt"))).toBe(false);
    if (kind === "clone") {
      // Only the control repository has the branch now, so the task continues at its collected commit.
      expect(await prepare({ base: work })).toEqual({ commit: work, how: "recycled" });
    } else expect(await prepare({ existing: true })).toEqual({ commit: work, how: "recycled" });
    expect(at().read("work.txt")).toBe("work\n");
    expect(statusOf(at())).toBe("");
  });

  test("a workspace whose folder or .git was deleted is created again", async () => {
    const scene = await open();
    const { at, folder, prepare, kind, user } = scene;
    await prepare();
    rmSync(folder, { recursive: true });
    expect(await kind.inspect(folder)).toEqual({ kind: "missing" });
    expect(await prepare()).toMatchObject({ how: "new" });
    expect(statusOf(at())).toBe("");
    rmSync(join(folder, ".git"), { recursive: true });
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    expect(await recycle(scene)).toMatchObject({ how: "recycled" });
    expect(statusOf(at())).toBe("");
    if (kind.kind === "worktree") expect(user.git("worktree", "list").split("\n")).toHaveLength(2);
  });

  test("a workspace is inspected and recycled even if its record is lost or its index is damaged", async () => {
    const scene = await open();
    const { at, base, folder, prepare, state, again } = scene;
    await prepare();
    renameSync(state, `${state}-lost`);
    at().write("a.txt", "changed\n");
    const order = { folder, branch: "next", base, existing: false, salvaged: false };
    const kind = again();
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", dirty: true });
    expect((await faultOf(kind.prepare(order))).code).toBe("workspace.dirty");
    await scene.salvage();
    expect(await kind.prepare({ ...order, salvaged: true })).toMatchObject({ how: "recycled" });
    expect(at().read("a.txt")).toBe("a\n");
    // A power cut has damaged our index.
    for (const name of readdirSync(state)) {
      if (existsSync(join(state, name, "index"))) writeFileSync(join(state, name, "index"), "DIRC torn");
    }
    at().write("b.txt", "changed\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true });
    await kind.prepare({ ...order, branch: "third", salvaged: true });
    expect([at().read("b.txt"), statusOf(at())]).toEqual(["b\n", ""]);
  });
}
