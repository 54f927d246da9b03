import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultOf, repositoryAt } from "../../git/stage.ts";
import { createScenes, type KindName, statusOf } from "../stage.ts";

export function prepareContract(kind: KindName): void {
  const { stage, open } = createScenes(kind, "prepare");

  test("prepare makes a clean working copy on a new branch, and the user's own files and branch stay", async () => {
    const { user, base, folder, at, prepare, kind } = await open();
    user.write("a.txt", "the user's own change\n");
    expect(await prepare()).toEqual({ commit: base, how: "new" });
    expect(at().read("folder/c.txt")).toBe("c\n");
    expect(at().git("symbolic-ref", "HEAD")).toBe("refs/heads/task");
    expect(at().at("HEAD")).toBe(base);
    expect(statusOf(at())).toBe("");
    expect(await kind.inspect(folder)).toEqual({
      ...{ kind: "there", branch: "task", head: base, parked: false, dirty: false, untracked: 0 },
      ...{ operation: undefined, locked: undefined },
    });
    expect(user.read("a.txt")).toBe("the user's own change\n");
    expect(user.git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(statusOf(user)).toBe("M a.txt");
    at().commit({ "a.txt": "work\n" });
    expect(at().git("rev-list", "--count", `${base}..HEAD`)).toBe("1");
  });

  test("prepare is idempotent, also after a restart", async () => {
    const { base, folder, prepare, again, trashed } = await open();
    await prepare();
    expect(await prepare()).toEqual({ commit: base, how: "ready" });
    const order = { folder, branch: "task", base, existing: false, salvaged: false };
    expect(await again().prepare(order)).toEqual({ commit: base, how: "ready" });
    expect(trashed()).toEqual([]);
  });

  test("an existing branch is checked out at its tip", async () => {
    const { user, control, folder, base, at, prepare } = await open();
    user.git("checkout", "--quiet", "-b", "begun");
    const tip = user.commit({ "begun.txt": "begun\n" });
    user.git("checkout", "--quiet", "main");
    await control.syncFrom({ from: user.folder, name: "user" });
    expect((await faultOf(prepare({ branch: "begun" }))).code).toBe("workspace.branch-taken");
    expect(existsSync(join(folder, ".git"))).toBe(false);
    expect(await prepare({ branch: "begun", existing: true })).toEqual({ commit: tip, how: "new" });
    expect(at().at("HEAD")).toBe(tip);
    expect(at().read("begun.txt")).toBe("begun\n");
    expect(at().git("rev-list", "--count", `${base}..HEAD`)).toBe("1");
  });

  test("a branch that may exist but does not starts at its base", async () => {
    const { base, prepare } = await open();
    expect(await prepare({ existing: true })).toEqual({ commit: base, how: "new" });
  });

  test("a branch can have any name that git accepts", async () => {
    const { base, at, kind, place, prepare } = await open();
    const names = ["deep/er/branch", "a;touch$(id)>x", "-evil", "--output=x", `it's"quoted"`, "größe/ünïcödé"];
    for (const [i, branch] of [...names, "#hash", "a&&b|c", "%2e{}", "@here"].entries()) {
      const folder = place(`${i}`);
      await prepare({ folder, branch });
      expect(await kind.currentBranch(folder)).toBe(branch);
      expect(at(folder).git("symbolic-ref", "HEAD")).toBe(`refs/heads/${branch}`);
      expect(at(folder).at("HEAD")).toBe(base);
      expect(readdirSync(folder).sort()).toEqual([".git", "a.txt", "b.txt", "folder"]);
    }
  });

  test("a name that git does not accept for a branch is refused", async () => {
    const { folder, prepare } = await open();
    for (const branch of ["a b", "a..b", "a~1", "x.lock", "", "/x", "a\nb", "a/../../config"]) {
      expect((await faultOf(prepare({ branch }))).code).toBe("git.bad-ref");
    }
    expect(existsSync(folder)).toBe(false);
  });

  test("a branch that is checked out elsewhere is refused with that folder's name", async () => {
    const { stage, user, control, place, prepare } = await open();
    const fault = await faultOf(prepare({ branch: "main", existing: true }));
    expect(fault).toMatchObject({ code: "workspace.branch-elsewhere", retry: "later" });
    expect(fault.message).toContain(user.folder);

    const own = stage.path("own worktree");
    user.git("worktree", "add", "--quiet", "-b", "taken", own);
    await control.syncFrom({ from: user.folder, name: "user" });
    expect((await faultOf(prepare({ branch: "taken", existing: true }))).message).toContain(own);

    await prepare({ branch: "task" });
    const second = await faultOf(prepare({ branch: "task", folder: place("two") }));
    expect(second.code).toBe("workspace.branch-elsewhere");
    expect(second.message).toContain(place("one"));
    expect(existsSync(join(place("two"), "a.txt"))).toBe(false);
  });

  test("a branch that is being rebased counts as checked out", async () => {
    const { user, control, prepare } = await open();
    user.git("checkout", "--quiet", "-b", "rebased");
    user.commit({ "a.txt": "theirs\n" });
    user.git("checkout", "--quiet", "main");
    user.commit({ "a.txt": "ours\n" });
    await control.syncFrom({ from: user.folder, name: "user" });
    expect(() => user.git("rebase", "main", "rebased")).toThrow();
    expect((await faultOf(prepare({ branch: "rebased", existing: true }))).message).toContain(user.folder);
  });

  test("a repository without a commit is refused with the next command", async () => {
    const folder = stage.path("empty");
    mkdirSync(folder);
    const user = repositoryAt(folder, stage.env);
    user.git("init", "--quiet");
    const scene = await open({ user, syncs: false });
    const fault = await faultOf(scene.prepare({ base: "1".repeat(40) }));
    expect(fault).toMatchObject({ code: "git.no-commits", hint: expect.stringContaining("git commit") });
  });

  test("a missing base commit is refused, and nothing is created", async () => {
    const { user, folder, prepare } = await open();
    const fault = await faultOf(prepare({ base: "1".repeat(40) }));
    expect(fault.code).toBe("git.bad-ref");
    expect(existsSync(join(folder, ".git"))).toBe(false);
    expect(user.git("branch", "--list", "task")).toBe("");
    expect((await faultOf(prepare({ base: "HEAD" }))).code).toBe("git.bad-ref");
  });

  test("a folder that is not a workspace is refused and not changed", async () => {
    const { folder, place, stage, prepare } = await open();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "mine"), "mine");
    expect((await faultOf(prepare())).code).toBe("workspace.foreign");
    expect(readdirSync(folder)).toEqual(["mine"]);
    writeFileSync(place("file"), "mine");
    expect((await faultOf(prepare({ folder: place("file") }))).code).toBe("workspace.foreign");
    const elsewhere = stage.path("elsewhere");
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, place("link"));
    expect((await faultOf(prepare({ folder: place("link") }))).code).toBe("workspace.foreign");
    expect(readdirSync(elsewhere)).toEqual([]);
    expect((await faultOf(prepare({ folder: "relative" }))).code).toBe("workspace.foreign");
    mkdirSync(place("empty"));
    expect((await prepare({ folder: place("empty") })).how).toBe("new");
  });

  test("folders of repositories and workspaces can have any name", async () => {
    for (const name of ["with spaces #1", `quo"te's`, "co:lon\\back", "$(touch x)", "new\nline"]) {
      const { at, place, prepare, base, kind } = await open({ name });
      const folder = place(name);
      expect(await prepare({ folder })).toEqual({ commit: base, how: "new" });
      expect(statusOf(at(folder))).toBe("");
      at(folder).commit({ "a.txt": "committed\n" });
      expect(await kind.inspect(folder)).toMatchObject({ kind: "there", dirty: false });
    }
  });

  test("a system error becomes a fault with a hint", async () => {
    const { stage, prepare } = await open();
    const file = stage.path("file");
    writeFileSync(file, "");
    const fault = await faultOf(prepare({ folder: join(file, "below") }));
    expect(fault).toMatchObject({ code: "workspace.unwritable", message: expect.stringMatching(/ENOTDIR|EEXIST/) });
  });

  test("many workspaces can be prepared at the same time", async () => {
    const { at, place, prepare, user } = await open();
    const names = Array.from({ length: 8 }, (_, i) => `w${i}`);
    await Promise.all(names.map((name) => prepare({ folder: place(name), branch: `task/${name}` })));
    for (const name of names) expect(statusOf(at(place(name)))).toBe("");
    if (kind === "worktree") expect(user.git("worktree", "list").split("\n")).toHaveLength(9);
    const exclude = readFileSync(join(kind === "worktree" ? user.folder : place("w0"), ".git/info/exclude"), "utf8");
    expect(exclude.match(/>>> signalbox/g)).toHaveLength(1);
  });

  test("two simultaneous calls for the same workspace prepare it once", async () => {
    const { prepare } = await open();
    const how = (await Promise.all([prepare(), prepare(), prepare()])).map((prepared) => prepared.how);
    expect(how.toSorted()).toEqual(["new", "ready", "ready"]);
  });
}
