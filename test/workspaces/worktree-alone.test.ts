import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { addExclude } from "../../src/adapters/git/workspace/git-files.ts";
import { faultOf } from "../git/stage.ts";
import { plantAll } from "../poisoned/plant.ts";
import { createTrap } from "../poisoned/trap.ts";
import { createLots, untilDone } from "./killing-git.ts";
import { createScenes, statusOf } from "./stage.ts";

const { open, stage } = createScenes("worktree", "alone");

test("an agent in a worktree can plant programs for the user's git; the fingerprint shows the change", async () => {
  const { at, folder, kind, prepare, stage, user } = await open();
  await prepare();
  const before = await stage.git.fingerprint(user.folder);
  const trap = createTrap(stage, at(), join(user.folder, ".git"));
  plantAll(trap);
  expect(await stage.git.fingerprint(user.folder)).not.toBe(before);
  expect(trap.seen()).toEqual([]);
  // An inspection in spite of the fingerprint runs them: hooks are off, but filters have arbitrary names.
  at().write("a.txt", "changed\n");
  await kind.inspect(folder).catch(() => undefined);
  expect(trap.seen().filter((name) => !name.startsWith("filter-"))).toEqual([]);
  expect(trap.seen()).not.toEqual([]);
});

test("a worktree's own configuration has no influence", async () => {
  const user = stage.repository();
  user.git("config", "extensions.worktreeConfig", "true");
  const scene = await open({ user });
  const { at, folder, kind, prepare } = scene;
  await prepare();
  const before = await stage.git.fingerprint(user.folder);
  const trap = createTrap(stage, at(), join(user.folder, ".git"));
  at().git("config", "--worktree", "filter.evil.clean", trap.program("filter-clean"));
  at().write(".gitattributes", "* filter=evil\n");
  at().write("a.txt", "changed\n");
  expect(await stage.git.fingerprint(user.folder)).toBe(before);
  expect(await kind.inspect(folder)).toEqual({ kind: "broken", reason: expect.stringContaining("config.worktree") });
  expect((await faultOf(prepare({ branch: "next" }))).code).toBe("workspace.dirty");
  await scene.salvage();
  await prepare({ branch: "next", salvaged: true });
  expect(trap.seen()).toEqual([]);
  expect(at().git("config", "--list")).not.toContain("evil");
});

test("a worktree that a killed `git worktree add` left half-created is completed", async () => {
  const { at, base, folder, prepare, user, kind } = await open();
  // Git writes these files in this order; it can be killed after each of them.
  const entry = join(user.folder, ".git/worktrees/one");
  const steps: readonly (() => void)[] = [
    () => mkdirSync(entry, { recursive: true }),
    () => writeFileSync(join(entry, "locked"), "initializing\n"),
    () => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(entry, "gitdir"), `${folder}/.git\n`);
    },
    () => writeFileSync(join(folder, ".git"), `gitdir: ${entry}\n`),
    () => writeFileSync(join(entry, "HEAD"), `${"0".repeat(40)}\n`),
    () => writeFileSync(join(entry, "commondir"), "../..\n"),
    () => {
      user.git("branch", "task", base);
      writeFileSync(join(entry, "HEAD"), "ref: refs/heads/task\n");
    },
    () => {
      writeFileSync(join(folder, "a.txt"), "a\n");
      writeFileSync(join(folder, "b.txt"), "half of i");
      writeFileSync(join(entry, "index.lock"), "");
    },
  ];
  for (let count = 2; count <= steps.length; count++) {
    for (const step of steps.slice(0, count)) step();
    expect(await prepare()).toMatchObject({ commit: base });
    expect(await kind.inspect(folder)).toMatchObject({
      kind: "there",
      branch: "task",
      dirty: false,
      locked: undefined,
    });
    expect([statusOf(at()), at().read("b.txt")]).toEqual(["", "b\n"]);
    expect(user.git("worktree", "list", "--porcelain")).not.toContain("locked");
    await kind.remove(folder, undefined);
    expect(existsSync(join(user.folder, ".git/worktrees"))).toBe(
      count < 0 || existsSync(join(user.folder, ".git/worktrees")),
    );
    rmSync(join(user.folder, ".git/worktrees"), { recursive: true, force: true });
    user.git("branch", "-D", "task");
  }
});

test("a worktree that is marked as being created, but has commits, is refused and not changed", async () => {
  const { at, folder, prepare, user, base } = await open();
  user.git("worktree", "add", "--quiet", "-b", "task", folder);
  const work = at().commit({ "work.txt": "work\n" });
  writeFileSync(join(at().git("rev-parse", "--absolute-git-dir"), "locked"), "initializing\n");
  user.git("branch", "other", base);
  expect((await faultOf(prepare({ branch: "other", existing: true }))).code).toBe("workspace.locked");
  expect([at().at("HEAD"), at().read("work.txt")]).toEqual([work, "work\n"]);
});

test("a real `git worktree add` can be killed at any moment", { timeout: 120_000 }, async () => {
  const user = stage.repository();
  user.commit(Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`many/${i}.txt`, `${i}\n`.repeat(200)])));
  const { at, base, kind, place, prepare } = await open({ user });
  const lots = createLots(5);
  for (let round = 0; round < 12; round++) {
    const [folder, branch] = [place(`round-${round}`), `round-${round}`];
    const child = spawn("git", ["worktree", "add", "-b", branch, folder, base], {
      ...{ cwd: user.folder, env: stage.env, stdio: "ignore", detached: true },
    });
    const ended = once(child, "close");
    await setTimeout(lots(40));
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // Git ended before the kill.
    }
    await ended;
    const isWhole =
      existsSync(join(folder, "many/99.txt")) && !existsSync(join(user.folder, ".git/worktrees", branch, "locked"));
    await untilDone(() => prepare({ folder, branch, salvaged: isWhole }));
    expect(await kind.inspect(folder)).toMatchObject({
      kind: "there",
      branch,
      head: base,
      dirty: false,
      locked: undefined,
    });
    expect(statusOf(at(folder))).toBe("");
  }
  expect(user.git("worktree", "list", "--porcelain")).not.toMatch(/locked|prunable/);
  expect(readdirSync(join(user.folder, ".git/worktrees"))).toHaveLength(12);
});

test("git's records of other worktrees stay, even if their folders are gone", async () => {
  const { folder, kind, prepare, stage, user } = await open();
  const gone = stage.path("gone");
  user.git("worktree", "add", "--quiet", "-b", "gone", gone);
  rmSync(gone, { recursive: true });
  await prepare();
  rmSync(folder, { recursive: true });
  await prepare();
  await prepare({ branch: "next", salvaged: true });
  await kind.remove(folder, undefined);
  expect(user.git("worktree", "list")).toContain(gone);
  expect(user.at("gone")).toBe(user.at("main"));
  expect((await faultOf(prepare({ branch: "gone", existing: true }))).message).toContain(gone);
});

test("a moved folder is recognised, a copy is not", async () => {
  const { at, folder, kind, place, prepare, user } = await open();
  await prepare();
  at().write("a.txt", "uncommitted\n");
  renameSync(folder, place("moved"));
  expect(await kind.inspect(place("moved"))).toMatchObject({ kind: "broken", reason: expect.stringContaining(folder) });
  expect((await faultOf(prepare({ folder: place("moved") }))).code).toBe("workspace.dirty");
  at(place("moved")).write("a.txt", "a\n");
  await prepare({ folder: place("moved") });
  expect(await kind.inspect(place("moved"))).toMatchObject({ kind: "there", branch: "task", dirty: false });
  expect(user.git("worktree", "list")).toContain(place("moved"));
  expect(user.git("worktree", "list").split("\n")).toHaveLength(2);
  cpSync(place("moved"), place("copy"), { recursive: true });
  expect((await faultOf(prepare({ folder: place("copy"), branch: "other" }))).code).toBe("workspace.foreign");
  expect(await kind.inspect(place("moved"))).toMatchObject({ kind: "there", branch: "task" });
});

test("a worktree that a person has locked is recycled, but not removed", async () => {
  const { folder, kind, prepare, user } = await open();
  await prepare();
  user.git("worktree", "lock", "--reason", "mine", folder);
  expect(await kind.inspect(folder)).toMatchObject({ kind: "there", locked: "person" });
  await prepare({ branch: "next", salvaged: true });
  expect((await faultOf(kind.remove(folder, undefined))).code).toBe("workspace.locked");
  expect(await kind.inspect(folder)).toMatchObject({ branch: "next", locked: "person" });
});

test("a worktree that was redirected to another repository is connected to its own again", async () => {
  const { at, base, folder, kind, prepare, stage, user } = await open();
  await prepare();
  const other = stage.repository("other");
  other.write("a.txt", "the other's own\n");
  const entry = at().git("rev-parse", "--absolute-git-dir");
  for (const lead of [
    () => writeFileSync(join(folder, ".git"), `gitdir: ${other.folder}/.git\n`),
    () => writeFileSync(join(entry, "commondir"), `${other.folder}/.git\n`),
  ]) {
    lead();
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    await prepare({ salvaged: true });
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", branch: "task", head: base });
    expect([at().at("HEAD"), at().git("rev-parse", "--absolute-git-dir")]).toEqual([base, entry]);
  }
  expect([other.read("a.txt"), statusOf(other)]).toEqual(["the other's own\n", "M a.txt"]);
  expect(user.git("worktree", "list").split("\n")).toHaveLength(2);
});

test("a branch whose name is below another branch's name is refused", async () => {
  const { folder, prepare } = await open();
  expect((await faultOf(prepare({ branch: "main/below" }))).code).toBe("git.bad-ref");
  expect(existsSync(join(folder, ".git"))).toBe(false);
});

test("the filters of the user's configuration are used", async () => {
  const user = stage.repository();
  user.git("config", "filter.upper.smudge", "tr a-z A-Z");
  user.git("config", "filter.upper.clean", "tr A-Z a-z");
  user.commit({ ".gitattributes": "*.up filter=upper\n", "x.up": "large\n" });
  const { at, folder, kind, prepare } = await open({ user });
  await prepare();
  expect(at().read("x.up")).toBe("LARGE\n");
  expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
});

test("the exclude block hides task files, and the user's own TASK.md stays", async () => {
  const { folder, prepare, user } = await open();
  rmSync(join(user.folder, ".git/info"), { recursive: true, force: true });
  await prepare();
  expect(readFileSync(join(user.folder, ".git/info/exclude"), "utf8")).toContain("/TASK.md");
  user.write("TASK.md", "the user's own\n");
  await prepare({ branch: "next", salvaged: true });
  expect(user.read("TASK.md")).toBe("the user's own\n");
  expect(existsSync(join(folder, "TASK.md"))).toBe(false);
});

test("the folder of a repository that is moved meanwhile does not appear again", async () => {
  const { user } = await open();
  const common = join(user.folder, ".git");
  renameSync(user.folder, `${user.folder}-moved`);
  expect((await faultOf(addExclude(common))).code).toBe("git.not-a-repository");
  expect(existsSync(user.folder)).toBe(false);
});

test("a branch is deleted only at the expected commit, and never while a person has it checked out", async () => {
  const { at, base, folder, kind, prepare, user } = await open();
  await prepare();
  const tip = at().commit({ "work.txt": "work\n" });
  expect((await faultOf(kind.deleteBranch("task", base))).code).toBe("git.ref-moved");
  expect(at().git("symbolic-ref", "--short", "HEAD")).toBe("task");
  // A released workspace still has the branch checked out.
  expect(await kind.deleteBranch("task", tip)).toEqual({ kind: "deleted" });
  expect(await kind.deleteBranch("task", tip)).toEqual({ kind: "gone" });
  expect(await kind.inspect(folder)).toMatchObject({ branch: undefined, head: tip, dirty: false });
  expect(user.git("branch", "--list", "task")).toBe("");

  const own = stage.path("own-copy");
  user.git("worktree", "add", "--quiet", "-b", "mine", own);
  expect(await kind.deleteBranch("mine", base)).toEqual({ kind: "checked-out", folder: own });
  expect(await kind.deleteBranch("main", base)).toEqual({ kind: "checked-out", folder: user.folder });
  expect(user.at("refs/heads/mine")).toBe(base);
});
