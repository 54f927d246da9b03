import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createScenes, type KindName } from "../stage.ts";

/** Names, times and bytes of everything in a folder. */
function snapshot(folder: string): string {
  const find = 'find . -type f -printf "%p %T@ %m " -exec md5sum {} \\; | sort';
  return execFileSync("sh", ["-c", find], { cwd: folder, encoding: "utf8" });
}

export function lookContract(kind: KindName): void {
  const { open } = createScenes(kind, "look");

  test("looking changes nothing", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    at().write("a.txt", "changed\n");
    at().write("b.txt", "staged\n");
    at().git("add", "b.txt");
    const gitFolder = at().git("rev-parse", "--absolute-git-dir");
    const before = [snapshot(folder), snapshot(gitFolder)];
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true, untracked: 0 });
    expect(await kind.currentBranch(folder)).toBe("task");
    expect([snapshot(folder), snapshot(gitFolder)]).toEqual(before);
  });

  test("commits and ignored files do not make a workspace dirty, untracked ones are counted", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const head = at().commit({ ".gitignore": "*.log\n", "a.txt": "committed\n" });
    at().write("x.log", "");
    expect(await kind.inspect(folder)).toMatchObject({ head, dirty: false, untracked: 0 });
    for (const file of ["one", "two", "many/a", "many/b"]) at().write(file, "");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true, untracked: 3 });
  });

  test("what is known from the last look hides nothing at the next", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const isDirty = async () => {
      const found = await kind.inspect(folder);
      return found.kind === "there" ? found.dirty : found;
    };
    at().commit({ "a.txt": "one\n", "d.txt": "d\n" });
    expect([await isDirty(), await isDirty()]).toEqual([false, false]);
    at().write("a.txt", "two\n");
    expect([await isDirty(), await isDirty()]).toEqual([true, true]);
    at().git("add", "a.txt");
    at().write("a.txt", "one\n");
    // Only the index has it.
    expect([await isDirty(), await isDirty()]).toEqual([true, true]);
    at().git("add", "a.txt");
    expect(await isDirty()).toBe(false);
    at().git("rm", "--cached", "--quiet", "d.txt");
    expect(await isDirty()).toBe(true);
    at().git("reset", "--quiet", "--mixed", "HEAD~1");
    expect(await isDirty()).toBe(true);
    at().git("reset", "--quiet", "--hard");
    expect([await isDirty(), await isDirty()]).toEqual([true, true]);
    rmSync(join(folder, "d.txt"));
    expect([await isDirty(), await isDirty()]).toEqual([false, false]);
  });

  test("a file that is written again as it was is no change", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    at().write("a.txt", "a\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
  });

  test("refs that git has packed are found", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const head = at().commit({ "a.txt": "committed\n" });
    at().git("pack-refs", "--all", "--prune");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task", head });
  });

  test.each(["merge", "rebase", "cherry-pick", "revert", "bisect"] as const)("a %s under way is seen", async (what) => {
    const { at, folder, kind, prepare, base } = await open();
    await prepare();
    at().commit({ "a.txt": "1\n" });
    at().git("checkout", "--quiet", "-b", "other", base);
    const other = at().commit({ "a.txt": "2\n" });
    at().git("checkout", "--quiet", "task");
    const begin = {
      merge: ["merge", "other"],
      rebase: ["rebase", "other"],
      "cherry-pick": ["cherry-pick", other],
      revert: ["revert", "--no-commit", "--no-edit", "HEAD"],
      bisect: ["bisect", "start"],
    }[what];
    try {
      at().git(...begin);
    } catch {
      // They end in conflicts.
    }
    if (what === "revert")
      writeFileSync(join(at().git("rev-parse", "--absolute-git-dir"), "REVERT_HEAD"), `${other}\n`);
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", operation: what, dirty: true });
  });

  test("what is no working copy is called broken, and why", async () => {
    const { at, base, folder, kind, place, prepare } = await open();
    expect(await kind.inspect(place("nowhere"))).toEqual({ kind: "missing" });
    expect(await kind.currentBranch(place("nowhere"))).toBeUndefined();
    await prepare();
    mkdirSync(place("empty"));
    writeFileSync(place("file"), "");
    symlinkSync(folder, place("link"));
    for (const name of ["empty", "file", "link"]) {
      expect(await kind.inspect(place(name))).toEqual({ kind: "broken", reason: expect.stringMatching(/\.$/) });
      expect(await kind.currentBranch(place(name))).toBeUndefined();
    }
    const gitFolder = at().git("rev-parse", "--absolute-git-dir");
    writeFileSync(join(gitFolder, "HEAD"), "ref: refs/heads/none\n");
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    writeFileSync(join(gitFolder, "HEAD"), "ref: ../../../x\n");
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    rmSync(join(gitFolder, "HEAD"));
    writeFileSync(place("elsewhere"), `${base}\n`);
    symlinkSync(place("elsewhere"), join(gitFolder, "HEAD"));
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    rmSync(join(gitFolder, "HEAD"));
    execFileSync("mkfifo", [join(gitFolder, "HEAD")]);
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    expect(await prepare({ salvaged: true, existing: true })).toMatchObject({ how: "recycled" });
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", branch: "task", dirty: false });
  });

  test("a lock that git holds is seen, and goes only when no git is alive", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const lock = join(at().git("rev-parse", "--absolute-git-dir"), "index.lock");
    writeFileSync(lock, "");
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", locked: "git" });
    expect(await prepare({ branch: "next", salvaged: true })).toMatchObject({ how: "recycled" });
    expect(await kind.inspect(folder)).toMatchObject({ branch: "next", locked: undefined });
  });

  test("disk use is counted up to a limit, without following links", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const before = await kind.diskUse(folder);
    at().write("large", "x".repeat(100_000));
    symlinkSync("/usr", join(folder, "link"));
    const after = await kind.diskUse(folder);
    expect(after.files).toBe(before.files + 2);
    expect(after.bytes - before.bytes).toBeGreaterThanOrEqual(100_000);
    expect(after.bytes - before.bytes).toBeLessThan(120_000);
    expect(after.isCut).toBe(false);
    expect(await kind.diskUse(folder, 3)).toMatchObject({ files: 3, isCut: true });
    expect(await kind.diskUse(`${folder}-nowhere`)).toEqual({ bytes: 0, files: 0, isCut: false });
  });
}
