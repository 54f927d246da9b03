import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRefs } from "../../src/adapters/git/git-folder.ts";
import { controlGit, createStage, type Repository, worktreeOf } from "./stage.ts";

const stage = createStage("sync");

/** The branches that git lists. */
function asked({ git }: Repository): Readonly<Record<string, string>> {
  const lines = git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/").split("\n");
  return Object.fromEntries(lines.map((line) => line.split(" ")));
}

const read = async ({ folder }: Repository) => {
  const found = await listRefs(join(folder, ".git"), "refs/heads/");
  // Names are bytes.
  const toText = (name: string) => Buffer.from(name, "latin1").toString("utf8");
  return found && Object.fromEntries([...found].map(([name, id]) => [toText(name), id]));
};

test("loose and packed branches are read from files as git reads them; nothing is guessed if the files are not conclusive", async () => {
  const user = stage.repository();
  for (const name of ["a", "folder/b", "folder/deep/c", "grün"]) user.git("branch", name);
  expect(await read(user)).toEqual(asked(user));
  user.git("pack-refs", "--all");
  expect(await read(user)).toEqual(asked(user));
  user.commit({ "a.txt": "more\n" });
  user.git("branch", "--force", "folder/b");
  user.git("branch", "-D", "a", "folder/deep/c");
  expect(await read(user)).toEqual(asked(user));
  writeFileSync(join(user.folder, ".git/refs/heads/folder/b.lock"), "");
  expect(Object.keys((await read(user)) ?? {})).toEqual(["folder/b", "grün", "main"]);
  user.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
  expect(await read(user)).toBeUndefined();
  user.git("symbolic-ref", "--delete", "refs/heads/alias");
  writeFileSync(join(user.folder, ".git/refs/heads/broken"), "nothing\n");
  expect(await read(user)).toBeUndefined();
});

test("git is asked for the branches of a repository with a reftable", async () => {
  const user = stage.repository();
  mkdirSync(join(user.folder, ".git/reftable"));
  expect(await read(user)).toBeUndefined();
});

test("a sync recognises commits that were collected or merged here, and pins commits that the user's branches left", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const git = controlGit(stage, control);
  const sync = () => control.syncFrom({ from: user.folder, name: "user" });
  const tree = worktreeOf(stage, user);
  const first = tree.commit({ "a.txt": "first\n" });
  await control.collect({ folder: tree.folder, branch: "task", task: "t1" });
  expect((await sync()).branches).toEqual(asked(user));
  expect(git("rev-parse", "refs/remotes/user/task")).toBe(first);

  const second = tree.commit({ "a.txt": "second\n" });
  await control.collect({ folder: tree.folder, branch: "task", task: "t1" });
  // This commit was not collected.
  const own = user.commit({ "b.txt": "the user's\n" });
  expect((await sync()).branches).toEqual({ main: own, task: second });
  expect(git("rev-parse", "refs/remotes/user/main", "refs/remotes/user/task").split("\n")).toEqual([own, second]);

  // All tips are known already, and the commits that the branches have left must stay.
  user.git("reset", "--quiet", "--hard", "HEAD~1");
  tree.git("checkout", "--quiet", "--detach");
  user.git("branch", "-D", "task");
  expect((await sync()).branches).toEqual(asked(user));
  expect(git("for-each-ref", "--format=%(refname)", "refs/remotes/user/")).toBe("refs/remotes/user/main");
  const kept = git("for-each-ref", "--format=%(objectname)", "refs/signalbox/kept/user/").split("\n");
  expect(kept.sort()).toEqual([own, second].sort());
});

test("a sync of some branches updates these, whatever happened to others", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const git = controlGit(stage, control);
  const sync = (...only: readonly string[]) => control.syncFrom({ from: user.folder, name: "user", only });
  const filed = () => git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/user/").split("\n");
  user.git("branch", "other");
  user.git("branch", "folder/one");
  await control.syncFrom({ from: user.folder, name: "user" });
  const tip = user.commit({ "a.txt": "more\n" });
  user.git("branch", "-D", "other");
  expect((await sync("main")).branches.main).toBe(tip);
  expect(git("rev-parse", "refs/remotes/user/main")).toBe(tip);
  expect((await sync("other")).branches.other).toBeUndefined();
  expect(filed()).toEqual(["folder/one", "main"]);

  // A branch replaces a folder of branches that were not asked for.
  user.git("branch", "-D", "folder/one");
  user.git("branch", "folder");
  expect((await sync("folder")).branches.folder).toBe(tip);
  expect(filed()).toEqual(["folder", "main"]);
});

/** Branches as a power cut or a hand leaves them. */
function breakBranches(user: Repository): void {
  const heads = join(user.folder, ".git/refs/heads");
  user.git("branch", "garbled");
  mkdirSync(join(heads, "deep"));
  writeFileSync(join(heads, "garbled"), "nothing\n");
  writeFileSync(join(heads, "deep/empty"), "");
  writeFileSync(join(heads, "gone"), "1234567890123456789012345678901234567890\n");
}

test("a broken branch of the user's repository is passed over by a sync, a collect and a publication", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const tree = worktreeOf(stage, user);
  const first = user.git("rev-parse", "main");
  breakBranches(user);
  const { branches } = await control.syncFrom({ from: user.folder, name: "user" });
  expect(branches).toEqual({ main: first, task: first });
  const work = tree.commit({ "a.txt": "work\n" });
  expect(await control.collect({ folder: tree.folder, branch: "task", task: "t1" })).toMatchObject({ commit: work });
  const { commit } = (await control.merge({
    ...{ onto: first, branch: work, message: "Merge task", strategy: "merge" },
    ...{ author: { name: "Ada", email: "ada@example.org" }, date: 1_000_000 },
  })) as { commit: string };
  const result = await control.publish({ repository: user.folder, branch: "main", commit, expected: first });
  expect(result).toMatchObject({ kind: "published" });
  expect(user.git("rev-parse", "main")).toBe(commit);
  expect((await control.syncFrom({ from: user.folder, name: "user" })).branches).toMatchObject({ main: commit });
});

test("a branch whose commit lacks a file stays at its last known commit, and the others are synced", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  user.git("branch", "damaged");
  const first = user.git("rev-parse", "main");
  await control.syncFrom({ from: user.folder, name: "user" });
  const input = `100644 blob ${"12345678".repeat(5)}\tmissing\n`;
  const tree = execFileSync("git", ["-C", user.folder, "mktree", "--missing"], { input, encoding: "utf8" }).trim();
  const evil = user.git("commit-tree", "-p", first, "-m", "evil", tree);
  for (const branch of ["damaged", "new"]) user.git("update-ref", `refs/heads/${branch}`, evil);
  const main = user.commit({ "b.txt": "more\n" });
  const { branches, moves } = await control.syncFrom({ from: user.folder, name: "user" });
  expect(branches).toEqual({ main, damaged: first });
  expect(moves).toMatchObject([{ branch: "main", way: "forward" }]);
});

test("broken branches are named, with commands that remove or restore them", async () => {
  const user = stage.repository();
  const first = user.git("rev-parse", "main");
  expect(await stage.git.brokenBranches(user.folder)).toEqual([]);
  breakBranches(user);
  const broken = await stage.git.brokenBranches(user.folder);
  expect(broken.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
    "deep/empty: its file names no commit",
    "garbled: its file names no commit",
    "gone: its commit 123456789012 is missing",
  ]);
  for (const { fix } of broken) execFileSync("sh", ["-c", fix]);
  expect(await stage.git.brokenBranches(user.folder)).toEqual([]);
  expect(user.git("rev-parse", "garbled")).toBe(first);
});
