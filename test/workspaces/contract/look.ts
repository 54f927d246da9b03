import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

  test("an inspection changes nothing", async () => {
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

  test("caches of the last inspection hide no change from the next", async () => {
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
    // Only the index has this change.
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

  test("a file that is rewritten with the same content is not a change", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    at().write("a.txt", "a\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
  });

  test.for([".gitignore", ".gitattributes", ".git/index", ".git/packed-refs", "folder/.gitignore"])(
    "a pipe in the place of %s is refused with its name, and found again without another git",
    async (name) => {
      const { at, folder, kind, prepare } = await open();
      await prepare();
      const [, inGit] = name.split(".git/");
      const own = at().git("rev-parse", "--absolute-git-dir");
      const common = at().git("rev-parse", "--path-format=absolute", "--git-common-dir");
      const path = inGit === undefined ? join(folder, name) : join(inGit === "index" ? own : common, inGit);
      rmSync(path, { force: true });
      execFileSync("mkfifo", [path]);
      const refused = {
        code: "workspace.blocked",
        message: expect.stringContaining(path),
        hint: `Remove it: rm ${path}`,
      };
      await expect(kind.inspect(folder)).rejects.toMatchObject(refused);
      await expect(kind.flawOf(folder)).rejects.toMatchObject(refused);
      const isOwn = path.startsWith(folder) || path.startsWith(own);
      expect(await kind.deletePipes(folder)).toBe(isOwn ? 1 : 0);
      expect(existsSync(path)).toBe(!isOwn);
      rmSync(path, { force: true });
      // A clone loses its refs with this file.
      const isClone = own === common && inGit === "packed-refs";
      expect(await kind.inspect(folder)).toMatchObject({ kind: isClone ? "broken" : "there" });
    },
  );

  test("a pipe that git does not read does not block the workspace", async () => {
    const { folder, kind, prepare } = await open();
    await prepare();
    execFileSync("mkfifo", [join(folder, "log")]);
    expect(await kind.inspect(folder)).toMatchObject({ kind: "there", untracked: 0 });
    expect(await kind.deletePipes(folder)).toBe(0);
  });

  test("refs that git has packed are found", async () => {
    const { at, folder, kind, prepare } = await open();
    await prepare();
    const head = at().commit({ "a.txt": "committed\n" });
    at().git("pack-refs", "--all", "--prune");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task", head });
  });

  test.each(["merge", "rebase", "cherry-pick", "revert", "bisect"] as const)(
    "an inspection reports a %s that is under way",
    async (what) => {
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
        // These commands stop at conflicts.
      }
      if (what === "revert")
        writeFileSync(join(at().git("rev-parse", "--absolute-git-dir"), "REVERT_HEAD"), `${other}\n`);
      expect(await kind.inspect(folder)).toMatchObject({ kind: "there", operation: what, dirty: true });
    },
  );

  test("a folder that is not a working copy is reported as broken, with the reason", async () => {
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

  test("a lock of git is reported, and removed only when no git process is running", async () => {
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
