import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cloneOf, controlGit, createStage, date, faultOf, worktreeOf } from "./stage.ts";

const stage = createStage("salvaged");

test("salvages are listed with task, time, files and parent commit, the newest first", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  expect(await control.listSalvaged()).toEqual([]);
  const clone = cloneOf(stage, user);
  clone.commit({ "a.txt": "work\n" }, "Brew stronger");
  await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  clone.write("b.txt", "12345\n");
  clone.write("new.txt", "new\n");
  clone.git("rm", "--quiet", "folder/c.txt");
  const first = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const tree = worktreeOf(stage, user, "other");
  tree.write("a.txt", "other\n");
  const second = await control.salvage({ folder: tree.folder, task: "t2", at: date + 5_000 });
  const parent = (of: typeof tree) => of.git("rev-parse", "HEAD").slice(0, 10);
  expect(await control.listSalvaged()).toEqual([
    { ...second.saved, task: "t2", at: date + 5_000, files: 1, size: 6, repositories: [], on: `${parent(tree)} first` },
    {
      ...first.saved,
      task: "t1",
      at: date,
      files: 3,
      size: 10,
      repositories: [],
      on: `${parent(clone)} Brew stronger`,
    },
  ]);
});

test("files are restored byte for byte, into a new folder and nowhere else", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.write(".gitattributes", "* text eol=crlf filter=none\n");
  clone.write("a.txt", "one\r\ntwo\n");
  clone.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(clone.folder, "run.sh"), 0o755);
  symlinkSync("a.txt", join(clone.folder, "link"));
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const commit = saved?.commit ?? "";
  const folder = join(stage.path("restored"), "deep");
  await control.restoreFiles(commit, folder);
  expect(readdirSync(folder).sort()).toEqual([".gitattributes", "a.txt", "b.txt", "folder", "link", "run.sh"]);
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\r\ntwo\n");
  expect(lstatSync(join(folder, "run.sh")).mode & 0o100).toBe(0o100);
  expect(lstatSync(join(folder, "link")).isSymbolicLink()).toBe(true);

  writeFileSync(join(folder, "a.txt"), "mine\n");
  expect((await faultOf(control.restoreFiles(commit, folder))).code).toBe("restore.exists");
  expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("mine\n");
  const empty = stage.path("empty");
  mkdirSync(empty);
  expect((await faultOf(control.restoreFiles(commit, empty))).code).toBe("restore.exists");
  const nowhere = stage.path("nowhere");
  expect((await faultOf(control.restoreFiles("0".repeat(40), nowhere))).code).toMatch(/^git\./);
  expect(existsSync(nowhere)).toBe(false);
  expect((await faultOf(control.restoreFiles(commit, "relative"))).code).toBe("restore.unwritable");
  expect(existsSync(join(control.folder, "relative"))).toBe(false);
});

test("only a salvage can be dropped, and only at the commit that was seen", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.write("a.txt", "work\n");
  await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const { ref = "", commit = "" } = saved ?? {};
  const task = (await control.commitAt("refs/signalbox/tasks/t1")) ?? "";
  expect((await faultOf(control.dropSalvaged("refs/signalbox/tasks/t1", task))).code).toBe("git.bad-ref");
  expect((await faultOf(control.dropSalvaged(ref, user.at("HEAD")))).code).toBe("git.ref-moved");
  expect(await control.commitAt(ref)).toBe(commit);
  await control.dropSalvaged(ref, commit);
  await control.dropSalvaged(ref, commit);
  expect(await control.listSalvaged()).toEqual([]);
  expect(controlGit(stage, control)("rev-parse", "refs/signalbox/tasks/t1")).toBe(task);
});

test("files that another task has salvaged are salvaged again only if the task needs its own salvage", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.write("a.txt", "work\n");
  const order = { folder: clone.folder, at: date };
  const first = await control.salvage({ ...order, task: "t1" });
  expect((await control.salvage({ ...order, task: "free", anybodys: true })).saved).toEqual(first.saved);
  expect((await control.salvage({ ...order, task: "t2" })).saved?.ref).toContain("/t2/");
  clone.write("a.txt", "more work\n");
  expect((await control.salvage({ ...order, task: "free", anybodys: true })).saved?.ref).toContain("/free/");
});

test.each(["clone", "worktree"] as const)(
  "a clean %s is not salvaged; a change after that is, even at the same moment",
  async (kind) => {
    const user = stage.repository();
    const control = await stage.control(user);
    const workspace = kind === "clone" ? cloneOf(stage, user) : worktreeOf(stage, user);
    const order = { folder: workspace.folder, task: "t1", at: date };
    workspace.commit({ "a.txt": "one\n", ".gitignore": "built\n" });
    await control.collect({ folder: workspace.folder, branch: "task", task: "t1" });
    workspace.write("built", "12345\n");
    const untouched = await control.salvage(order);
    expect(untouched).toMatchObject({ saved: undefined, repositories: [], refused: [] });
    expect(untouched.ignored).toMatchObject([{ isFolder: false, size: 6 }]);
    workspace.commit({ "a.txt": "two\n" });
    workspace.write("a.txt", "six\n");
    const { saved } = await control.salvage(order);
    expect(controlGit(stage, control)("show", `${saved?.commit}:a.txt`)).toBe("six");
    workspace.write("a.txt", "two\n");
    workspace.git("update-index", "--cacheinfo", `100644,${workspace.git("rev-parse", "HEAD~1:a.txt")},a.txt`);
    expect((await control.salvage(order)).saved?.ref).toBeDefined();
  },
);

test("a dropped commit that is still in the workspace's reflog is salvaged again, though the cache knew it as saved", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = worktreeOf(stage, user);
  const order = { folder: workspace.folder, task: "t1", at: date };
  const reset = workspace.commit({ "a.txt": "reset away\n" });
  workspace.git("reset", "--quiet", "--hard", "HEAD~1");
  const { ref = "", commit = "" } = (await control.salvage(order)).saved ?? {};
  expect((await control.salvage(order)).saved).toBeUndefined();
  await control.dropSalvaged(ref, commit);
  const again = (await control.salvage(order)).saved?.commit ?? "";
  expect(await control.isAncestor(reset, again)).toBe(true);
});

test("a salvage without a parent commit is listed, restored and dropped like any other", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.git("checkout", "--quiet", "--orphan", "fresh");
  clone.git("rm", "--quiet", "-r", "--cached", ".");
  clone.write("idea.md", "cold brew\n");
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const parents = controlGit(stage, control)("log", "-1", "--format=%P", saved?.commit ?? "");
  const [entry] = await control.listSalvaged();
  expect([parents, entry?.on, entry?.ref, entry?.task]).toEqual(["", "", saved?.ref, "t1"]);
  expect(entry?.files).toBeGreaterThan(0);
  const folder = stage.path("orphan");
  await control.restoreFiles(saved?.commit ?? "", folder);
  expect(readFileSync(join(folder, "idea.md"), "utf8")).toBe("cold brew\n");
  await control.dropSalvaged(saved?.ref ?? "", saved?.commit ?? "");
  expect(await control.listSalvaged()).toEqual([]);
});

test("a salvage that git cannot read is listed with its problem and can be dropped; the others are read", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.write("a.txt", "work\n");
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const missing = "1".repeat(40);
  mkdirSync(join(control.folder, "refs/signalbox/salvage/t2"), { recursive: true });
  writeFileSync(join(control.folder, "refs/signalbox/salvage/t2/odd+näme"), `${missing}\n`);
  const tree = controlGit(stage, control)("rev-parse", `${saved?.commit}^{tree}`);
  writeFileSync(join(control.folder, "refs/signalbox/salvage/t2/tree"), `${tree}\n`);
  const all = await control.listSalvaged();
  expect(all.map(({ task, problem }) => [task, problem === undefined])).toEqual([
    ["t1", true],
    ["t2", false],
    ["t2", false],
  ]);
  const broken = all.filter(({ problem }) => problem !== undefined);
  for (const { ref, commit } of broken) await control.dropSalvaged(ref, commit);
  expect((await control.listSalvaged()).map(({ ref }) => ref)).toEqual([saved?.ref]);
});
