import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { taskRef } from "../../src/ports/control-repository.ts";
import { cloneOf, controlGit, createStage, faultOf, worktreeOf } from "./stage.ts";

const stage = createStage("control");

test("a control repository is created once, bare and private, and opened afterwards", async () => {
  const folder = join(stage.path("home"), "control", "app.git");
  const first = await stage.git.openControl(folder);
  expect(first.folder).toBe(folder);
  expect(statSync(join(folder, "..")).mode & 0o777).toBe(0o700);
  expect(existsSync(join(folder, "hooks"))).toBe(false);
  expect(existsSync(join(folder, "objects", "info", "alternates"))).toBe(false);
  const config = readFileSync(join(folder, "config"), "utf8");
  await stage.createGit().openControl(folder);
  expect(readFileSync(join(folder, "config"), "utf8")).toBe(config);
  expect(config).toContain("pruneExpire = never");
});

test("a control repository whose creation was interrupted is created again", async () => {
  const folder = stage.path("control.git");
  mkdirSync(join(`${folder}.new`, "objects"), { recursive: true });
  writeFileSync(join(`${folder}.new`, "config.lock"), "");
  const control = await stage.git.openControl(folder);
  expect(await control.commitAt("refs/heads/main")).toBeUndefined();
  expect(existsSync(`${folder}.new`)).toBe(false);
});

test("a folder that is not a control repository is refused, and stays unchanged", async () => {
  const folder = stage.path("control.git");
  mkdirSync(folder);
  writeFileSync(join(folder, "mine"), "");
  expect(await faultOf(stage.git.openControl(folder))).toMatchObject({ code: "git.not-a-repository" });
  expect(existsSync(join(folder, "mine"))).toBe(true);
});

test("a control repository has the object format of the user's repository", async () => {
  const folder = stage.path("sha256");
  mkdirSync(folder);
  const user = stage.repository();
  rmSync(user.folder, { recursive: true });
  mkdirSync(user.folder);
  user.git("init", "--quiet", "--object-format=sha256");
  const commit = user.commit({ "a.txt": "a\n" });
  const control = await stage.control(user);
  expect(commit).toHaveLength(64);
  expect(await control.commitAt("refs/remotes/user/main")).toBe(commit);
  await control.moveRef("refs/heads/main", commit, undefined);
  expect(await control.commitAt("refs/heads/main")).toBe(commit);
});

test("several syncs can run at the same time while the user's branches move", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  for (let round = 0; round < 4; round++) {
    const commit = user.commit({ "a.txt": `${round}\n` });
    user.git("branch", `round-${round}`);
    const all = await Promise.all(
      Array.from({ length: 4 }, () => control.syncFrom({ from: user.folder, name: "user" })),
    );
    expect(all.map(({ branches }) => branches.main)).toEqual([commit, commit, commit, commit]);
  }
});

test("a branch is collected from a clone and from a worktree, with all its objects", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  for (const workspace of [cloneOf(stage, user, "one"), worktreeOf(stage, user, "two")]) {
    const branch = workspace.git("branch", "--show-current");
    const commit = workspace.commit({ "new.txt": `${branch}\n` });
    expect(await control.collect({ folder: workspace.folder, branch, task: branch })).toEqual({
      commit,
      previous: undefined,
    });
    expect(await control.commitAt(taskRef(branch))).toBe(commit);
    rmSync(workspace.folder, { recursive: true });
  }
  expect(controlGit(stage, control)("fsck", "--strict", "--connectivity-only")).not.toMatch(/missing|broken|error/);
  expect(controlGit(stage, control)("for-each-ref", "refs/signalbox/incoming/tasks")).toBe("");
});

test("collecting the same commit again changes nothing", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const commit = clone.commit({ "a.txt": "1\n" });
  const order = { folder: clone.folder, branch: "task", task: "t1" };
  await control.collect(order);
  expect(await control.collect(order)).toEqual({ commit, previous: commit });
  expect(controlGit(stage, control)("for-each-ref", "refs/signalbox/kept")).toBe("");
});

test("every tip that a rewritten branch leaves is pinned once", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const order = { folder: clone.folder, branch: "task", task: "t2" };
  const tips: string[] = [];
  for (const text of ["1\n", "2\n", "3\n"]) {
    clone.git("reset", "--quiet", "--hard", "origin/main");
    tips.push(clone.commit({ "a.txt": text }));
    await control.collect(order);
    await control.collect(order);
  }
  const kept = controlGit(stage, control)("for-each-ref", "--format=%(objectname) %(refname)", "refs/signalbox/kept");
  expect(kept.split("\n")).toEqual([`${tips[0]} refs/signalbox/kept/t2/1`, `${tips[1]} refs/signalbox/kept/t2/2`]);
  // Back to the first, which is pinned already.
  clone.git("reset", "--quiet", "--hard", tips[0] ?? "");
  await control.collect(order);
  await control.collect(order);
  expect(controlGit(stage, control)("for-each-ref", "refs/signalbox/kept").split("\n")).toHaveLength(3);
});

test("a branch that cannot be collected is refused with a reason, and no ref moves", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const commit = clone.commit({ "a.txt": "1\n" });
  await control.collect({ folder: clone.folder, branch: "task", task: "t3" });
  const collect = (folder: string, branch: string) => faultOf(control.collect({ folder, branch, task: "t3" }));

  const none = await collect(clone.folder, "none");
  expect(none).toMatchObject({ code: "git.bad-ref", retry: "never" });
  expect(none.message).toContain(clone.folder);
  expect(await collect(join(clone.folder, "none"), "task")).toMatchObject({ code: "git.not-a-repository" });
  expect(await collect("relative", "task")).toMatchObject({ code: "git.not-a-repository" });
  expect(await collect(stage.base, "task")).toMatchObject({ code: "git.not-a-repository" });
  for (const branch of ["a b", "a..b", "", "a:b", "*", "a\n", "x.lock"])
    expect(await collect(clone.folder, branch)).toMatchObject({ code: "git.bad-ref" });
  expect(await faultOf(control.collect({ folder: clone.folder, branch: "task", task: "../x" }))).toMatchObject({
    code: "git.bad-ref",
  });
  expect(await control.commitAt(taskRef("t3"))).toBe(commit);
});

test("a clone that lacks history or objects is refused with the command that fetches them", async () => {
  const user = stage.repository();
  user.commit({ "a.txt": "2\n" });
  user.git("config", "uploadpack.allowFilter", "true");
  const control = await stage.git.openControl(stage.path("control.git"));
  const shallow = stage.path("shallow");
  user.git("clone", "--quiet", "--depth=1", `file://${user.folder}`, shallow);
  expect(await faultOf(control.syncFrom({ from: shallow, name: "user" }))).toMatchObject({ code: "git.shallow" });
  expect(await faultOf(control.collect({ folder: shallow, branch: "main", task: "t" }))).toMatchObject({
    code: "git.shallow",
  });
  const partial = stage.path("partial");
  user.git("clone", "--quiet", "--filter=blob:none", "--no-checkout", `file://${user.folder}`, partial);
  expect(await faultOf(control.collect({ folder: partial, branch: "main", task: "t" }))).toMatchObject({
    code: "git.incomplete",
  });
  expect(await control.commitAt(taskRef("t"))).toBeUndefined();
});

test("a broken object is refused, and no ref moves", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  clone.commit({ "a.txt": "1\n" });
  const blob = clone.at("HEAD:a.txt");
  rmSync(join(clone.folder, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
  expect((await faultOf(control.collect({ folder: clone.folder, branch: "task", task: "t" }))).code).toMatch(/^git\./);
  expect(await control.commitAt(taskRef("t"))).toBeUndefined();
});

test("the user's branches are fetched under a name, also rewritten ones, and no commit is lost", async () => {
  const user = stage.repository();
  const control = await stage.git.openControl(stage.path("control.git"));
  user.git("branch", "old");
  user.git("branch", "ünïcode");
  const main = user.at("main");
  expect(await control.syncFrom({ from: user.folder, name: "user" })).toEqual({
    branches: { main, old: main, ünïcode: main },
    moves: [],
  });
  const firstSync = Date.now();
  user.git("checkout", "--quiet", "-b", "topic");
  const dropped = user.commit({ "a.txt": "dropped\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  user.git("reset", "--quiet", "--hard", "main");
  user.git("branch", "-D", "old");
  // A folder of branches replaces a branch.
  user.git("branch", "old/part");
  const topic = user.commit({ "a.txt": "instead\n" });
  const { branches, moves, since = 0 } = await control.syncFrom({ from: `file://${user.folder}`, name: "user" });
  expect(branches).toEqual({ main, "old/part": main, topic, ünïcode: main });
  expect(moves).toEqual([
    { branch: "old", before: main, after: undefined, way: "deleted", isLost: false },
    { branch: "topic", before: dropped, after: topic, way: "apart", isLost: true },
  ]);
  expect(since - firstSync).toBeGreaterThan(-5);
  expect(since).toBeLessThanOrEqual(Date.now());
  expect(await control.commitAt("refs/remotes/user/topic")).toBe(topic);
  expect(await control.commitAt("refs/remotes/user/old")).toBeUndefined();
  expect(controlGit(stage, control)("for-each-ref", "--format=%(refname)", `--contains=${dropped}`)).toBe(
    "refs/signalbox/kept/user/1",
  );
});

test("a repository without commits and a missing repository are refused", async () => {
  const control = await stage.git.openControl(stage.path("control.git"));
  const empty = stage.path("empty");
  mkdirSync(empty);
  stage.repository().git("init", "--quiet", empty);
  const sync = (from: string) => faultOf(control.syncFrom({ from, name: "user" }));
  expect(await sync(empty)).toMatchObject({ code: "git.no-commits" });
  expect(await sync(join(empty, "none"))).toMatchObject({ code: "git.not-a-repository" });
  for (const from of ["ext::sh -c true", "--upload-pack=true", "http://example.org/x", "git://example.org/x"])
    expect(await sync(from)).toMatchObject({ code: "git.remote-refused" });
});

test("a ref moves only from its expected commit, and the commit that it leaves is pinned", async () => {
  const user = stage.repository();
  const [one, two] = [user.commit({ "a.txt": "1\n" }), user.commit({ "a.txt": "2\n" })];
  const control = await stage.control(user);
  const ref = "refs/heads/main";
  await control.moveRef(ref, one, undefined);
  await control.moveRef(ref, one, undefined);
  expect(await faultOf(control.moveRef(ref, two, undefined))).toMatchObject({ code: "git.ref-moved", retry: "later" });
  expect(await faultOf(control.moveRef(ref, two, two))).toMatchObject({ code: "git.ref-moved" });
  await control.moveRef(ref, two, one);
  // Idempotent: the ref may have been moved right before a crash.
  await control.moveRef(ref, two, one);
  await control.moveRef(ref, one, two);
  expect(controlGit(stage, control)("for-each-ref", "--format=%(objectname)", "refs/signalbox/kept/main")).toBe(two);
  const missing = "1".repeat(40);
  expect(await faultOf(control.moveRef(ref, missing, one))).toMatchObject({ code: "git.bad-ref" });
  expect(await faultOf(control.moveRef(ref, "main", one))).toMatchObject({ code: "git.bad-ref" });
  expect(await faultOf(control.moveRef("main", two, one))).toMatchObject({ code: "git.bad-ref" });
  expect(await faultOf(control.moveRef(`${ref}/below`, two, undefined))).toMatchObject({ code: "git.bad-ref" });
});

test("commits that several refs with the same last name leave at the same time are all pinned", async () => {
  const user = stage.repository();
  const base = user.at("main");
  const left = Array.from({ length: 6 }, (_, number) => {
    user.git("checkout", "--quiet", "-B", `side-${number}`, base);
    return user.commit({ "a.txt": `${number}\n` });
  });
  const control = await stage.control(user);
  const refOf = (number: number) => `refs/heads/${number}/same`;
  for (const [number, commit] of left.entries()) await control.moveRef(refOf(number), commit, undefined);
  await Promise.all(left.map((commit, number) => control.moveRef(refOf(number), base, commit)));
  const kept = controlGit(stage, control)("for-each-ref", "--format=%(objectname)", "refs/signalbox/kept/same");
  expect(kept.split("\n").toSorted()).toEqual(left.toSorted());
});

test("a lock in the control repository without a living holder is removed, a young one is not", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const main = user.at("main");
  await control.moveRef("refs/heads/main", main, undefined);
  const lock = join(control.folder, "refs/heads/main.lock");
  const commit = user.commit({ "a.txt": "1\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  const old = Date.now() / 1000 - 60;

  writeFileSync(lock, "");
  utimesSync(lock, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
  const refused = await faultOf(control.moveRef("refs/heads/main", commit, main));
  expect(refused).toMatchObject({ code: "git.locked", retry: "later" });
  expect(refused.message).toContain(lock);
  expect(refused.message).toMatch(/since \d{4}-\d\d-\d\dT/);

  utimesSync(lock, old, old);
  await control.moveRef("refs/heads/main", commit, main);
  expect(existsSync(lock)).toBe(false);
  expect(await control.commitAt("refs/heads/main")).toBe(commit);
});

test("history and files are read, with any names", async () => {
  const user = stage.repository();
  const control = await stage.git.openControl(stage.path("control.git"));
  const first = user.at("main");
  const odd = "new\nline\t\u001b[31m.txt";
  user.git("mv", "b.txt", "moved.txt");
  const second = user.commit({ "a.txt": "changed\n", [odd]: "odd\n" });
  writeFileSync(Buffer.concat([Buffer.from(`${user.folder}/`), Buffer.of(0xff, 0x2e)]), "bytes\n");
  const third = user.commit();
  user.git("checkout", "--quiet", "--orphan", "alone");
  const alone = user.commit({ "z.txt": "z\n" });
  await control.syncFrom({ from: user.folder, name: "user" });

  expect(await control.isAncestor(first, third)).toBe(true);
  expect(await control.isAncestor(third, first)).toBe(false);
  expect(await control.isAncestor(third, third)).toBe(true);
  expect(await control.mergeBase(first, third)).toBe(first);
  expect(await control.mergeBase(alone, third)).toBeUndefined();
  expect(await control.countCommits(first, third)).toBe(2);
  expect(await control.countCommits(third, first)).toBe(0);
  expect(await faultOf(control.isAncestor(first, "1".repeat(40)))).toMatchObject({ code: "git.bad-ref" });
  expect(await faultOf(control.countCommits(first, "--all"))).toMatchObject({ code: "git.bad-ref" });

  const changed = await control.changedFiles(first, third);
  expect(changed.map(({ path, change, from }) => [path.text, change, from?.text])).toEqual([
    ["a.txt", "modified", undefined],
    ["moved.txt", "renamed", "b.txt"],
    ['"new\\012line\\011\\033[31m.txt"', "added", undefined],
    ['"\\377."', "added", undefined],
  ]);
  const counted = await control.changedLines(first, third);
  expect(counted.map(({ path, from, added, deleted }) => [path.text, from?.text, added, deleted])).toEqual([
    ["a.txt", undefined, 1, 1],
    ["moved.txt", "b.txt", 0, 0],
    ['"new\\012line\\011\\033[31m.txt"', undefined, 1, 0],
    ['"\\377."', undefined, 1, 0],
  ]);
  expect(String(await control.fileAt(third, odd, 100))).toBe("odd\n");
  expect(String(await control.fileAt(third, changed[3]?.path.bytes ?? "", 100))).toBe("bytes\n");
  expect(String(await control.fileAt(first, "folder/c.txt", 2))).toBe("c\n");
  for (const path of ["none", "folder", "", "./a.txt", "../a.txt", "/a.txt", "a.txt\0"])
    expect(await control.fileAt(third, path, 100)).toBeUndefined();
  expect(await faultOf(control.fileAt(first, "folder/c.txt", 1))).toMatchObject({ code: "git.too-much" });

  const whole = await control.diff(first, second, 100_000);
  expect(whole.isCut).toBe(false);
  expect(String(whole.bytes)).toContain("+changed\n");
  const cut = await control.diff(first, second, 10);
  expect(cut).toMatchObject({ isCut: true });
  expect(cut.bytes).toHaveLength(10);
});

test("the state of a branch before it got a commit is known if it got it by a merge", async () => {
  const user = stage.repository();
  const control = await stage.git.openControl(stage.path("control.git"));
  user.git("checkout", "--quiet", "-b", "task");
  const work = user.commit({ "work.txt": "work\n" });
  const more = user.commit({ "work.txt": "more work\n" });
  user.git("checkout", "--quiet", "main");
  const before = user.commit({ "z.txt": "z\n" });
  user.git("merge", "--quiet", "--no-ff", "-m", "Merge", "task");
  const later = user.commit({ "z.txt": "later\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  expect(await control.mergeOf(more, later)).toMatchObject({ before });
  expect(await control.mergeOf(work, later)).toMatchObject({ before });
  expect(await control.mergeOf(before, later)).toBeUndefined();
  expect(await control.mergeOf(later, later)).toBeUndefined();
});
