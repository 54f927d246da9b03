import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultOf } from "../../git/stage.ts";
import { createScenes, type KindName, type Scene, statusOf } from "../stage.ts";

export function branchContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "branches");

  /** A workspace on `task`, and a branch `begun` with a commit of its own. */
  async function openTwo() {
    const scene = await open();
    const { user, control, prepare } = scene;
    user.git("checkout", "--quiet", "-b", "begun");
    const tip = user.commit({ "begun.txt": "begun\n", "a.txt": "begun\n" });
    user.git("checkout", "--quiet", "main");
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare();
    return { ...scene, tip };
  }
  const branches = ({ at }: Scene) =>
    at()
      .git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/signalbox")
      .split("\n")
      .filter((name) => name !== "refs/heads/main");

  test("a branch is renamed with all its commits, and uncommitted work stays", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    const work = at().commit({ "a.txt": "committed\n" });
    at().write("b.txt", "uncommitted\n");
    await kind.renameBranch(folder, "task-2");
    await kind.renameBranch(folder, "task-2");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task-2", head: work, dirty: true });
    expect(branches(scene)).toEqual(["refs/heads/task-2"]);
    expect(statusOf(at())).toBe("M b.txt");
  });

  test("a new name may be below the old name, or above it", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    const work = at().commit({ "a.txt": "committed\n" });
    for (const name of ["task/deeper", "task", "task/a/b", "task/a/b/c", "task/a"]) {
      await kind.renameBranch(folder, name);
      expect(branches(scene)).toEqual([`refs/heads/${name}`]);
      expect(await kind.inspect(folder)).toMatchObject({ branch: name, head: work, dirty: false });
    }
  });

  test("a rename to a taken or invalid name, or without a branch, is refused", async () => {
    const { at, folder, kind, tip } = await openTwo();
    expect((await faultOf(kind.renameBranch(folder, "begun"))).code).toBe("workspace.branch-taken");
    expect((await faultOf(kind.renameBranch(folder, "no name"))).code).toBe("git.bad-ref");
    at().git("checkout", "--quiet", "--detach");
    expect((await faultOf(kind.renameBranch(folder, "other"))).code).toBe("workspace.detached");
    expect((await faultOf(kind.renameBranch(`${folder}-nowhere`, "other"))).code).toBe("workspace.missing");
    expect(tip).toHaveLength(40);
  });

  test("an existing branch is checked out, and untracked files stay", async () => {
    const { at, folder, kind, tip, trashed } = await openTwo();
    at().write("untracked.txt", "untracked\n");
    await kind.switchBranch(folder, "begun");
    await kind.switchBranch(folder, "begun");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "begun", head: tip, dirty: true, untracked: 1 });
    expect([at().read("begun.txt"), at().read("a.txt"), at().read("untracked.txt")]).toEqual([
      ...["begun\n", "begun\n", "untracked\n"],
    ]);
    expect(statusOf(at())).toBe("?? untracked.txt");
    await kind.switchBranch(folder, "task");
    expect(at().read("a.txt")).toBe("a\n");
    expect(existsSync(join(folder, "begun.txt"))).toBe(false);
    expect(trashed()).toEqual([]);
  });

  test("a branch is checked out even if both branches have changed the same file", async () => {
    const { at, folder, kind, tip } = await openTwo();
    const own = at().commit({ "a.txt": "committed\n" });
    await kind.switchBranch(folder, "begun");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "begun", head: tip, dirty: false });
    expect(at().read("a.txt")).toBe("begun\n");
    expect(at().at("task")).toBe(own);
  });

  test("the checked-out branch moves forward with its files, unless something is in the way", async () => {
    const { at, folder, kind, base } = await openTwo();
    at().git("checkout", "--quiet", "-b", "ahead");
    const ahead = at().commit({ "a.txt": "ahead\n", "ahead.txt": "ahead\n" });
    at().git("checkout", "--quiet", "task");
    at().write("untracked.txt", "untracked\n");
    at().write("a.txt", "mine\n");
    expect((await faultOf(kind.forwardBranch(folder, ahead))).code).toBe("workspace.dirty");
    expect([at().at("task"), at().read("a.txt")]).toEqual([base, "mine\n"]);
    at().write("a.txt", "a\n");
    at().write("ahead.txt", "mine\n");
    expect((await faultOf(kind.forwardBranch(folder, ahead))).code).toBe("workspace.in-the-way");
    expect([at().at("task"), at().read("ahead.txt")]).toEqual([base, "mine\n"]);
    rmSync(join(folder, "ahead.txt"));
    await kind.forwardBranch(folder, ahead);
    await kind.forwardBranch(folder, ahead);
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task", head: ahead, untracked: 1 });
    expect([at().read("a.txt"), at().read("ahead.txt")]).toEqual(["ahead\n", "ahead\n"]);
    expect(statusOf(at())).toBe("?? untracked.txt");
  });

  /** A workspace on `task`, and a branch on which files, folders and links have taken each other's places. */
  async function openReshaped() {
    const scene = await open();
    const { user, control, prepare } = scene;
    symlinkSync("folder", join(user.folder, "link"));
    user.write("deep/er/x", "x\n");
    user.commit();
    user.git("checkout", "--quiet", "-b", "reshaped");
    for (const name of ["a.txt", "deep", "link"]) rmSync(join(user.folder, name), { recursive: true });
    const tip = user.commit({ "a.txt/in": "in\n", deep: "file\n", "link/in": "in\n" });
    user.git("checkout", "--quiet", "main");
    await control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ base: user.at("main") });
    return { ...scene, tip };
  }

  test("files, folders and links that take each other's places are not in the way", async () => {
    const { at, folder, kind, tip } = await openReshaped();
    await kind.switchBranch(folder, "reshaped");
    expect([at().read("a.txt/in"), at().read("deep"), statusOf(at())]).toEqual(["in\n", "file\n", ""]);
    await kind.switchBranch(folder, "task");
    expect([at().read("a.txt"), at().read("deep/er/x"), statusOf(at())]).toEqual(["a\n", "x\n", ""]);
    await kind.forwardBranch(folder, tip);
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task", head: tip, dirty: false });
    expect([at().read("link/in"), statusOf(at())]).toEqual(["in\n", ""]);
  });

  test("an interrupted switch and a new task write files, folders and links in each other's places", async () => {
    const { at, folder, kind, state, user, tip, prepare } = await openReshaped();
    const [place] = readdirSync(state).filter((name) => existsSync(join(state, name, "record.json")));
    const file = join(state, place ?? "", "record.json");
    const record = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...record, phase: "switching", branch: "reshaped", commit: user.at("main") }));
    rmSync(join(folder, "deep"), { recursive: true });
    at().write("deep", "fi");
    await kind.switchBranch(folder, "reshaped");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "reshaped", head: tip, dirty: false });
    await prepare({ branch: "second", base: user.at("main") });
    expect([at().read("a.txt"), at().read("deep/er/x"), statusOf(at())]).toEqual(["a\n", "x\n", ""]);
    await prepare({ branch: "third", base: tip });
    expect([at().read("a.txt/in"), at().read("deep"), statusOf(at())]).toEqual(["in\n", "file\n", ""]);
  });

  test("an untracked or ignored file in a folder that becomes a file is in the way, and stays", async () => {
    const { at, folder, kind, tip } = await openReshaped();
    at().write("deep/er/mine", "mine\n");
    const fault = await faultOf(kind.forwardBranch(folder, tip));
    expect(fault).toMatchObject({ code: "workspace.in-the-way", message: expect.stringContaining("deep/er/mine") });
    const exclude = at().git("rev-parse", "--git-path", "info/exclude");
    writeFileSync(join(exclude.startsWith("/") ? "" : folder, exclude), "mine\n");
    expect((await faultOf(kind.switchBranch(folder, "reshaped"))).code).toBe("workspace.in-the-way");
    expect(at().read("deep/er/mine")).toBe("mine\n");
    rmSync(join(folder, "deep/er/mine"));
    at().write("deep/er/x", "changed\n");
    expect((await faultOf(kind.forwardBranch(folder, tip))).code).toBe("workspace.dirty");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task" });
  });

  test("a missing branch, and a branch that is checked out elsewhere, are refused", async () => {
    const { at, user, control, folder, kind } = await openTwo();
    expect((await faultOf(kind.switchBranch(folder, "nowhere"))).code).toBe("workspace.no-branch");
    expect((await faultOf(kind.switchBranch(folder, "main"))).message).toContain(user.folder);
    const own = stage.path("own");
    user.git("worktree", "add", "--quiet", "-b", "elsewhere", own);
    await control.syncFrom({ from: user.folder, name: "user" });
    expect((await faultOf(kind.switchBranch(folder, "elsewhere"))).code).toBe("workspace.branch-elsewhere");
    expect(at().git("symbolic-ref", "--short", "HEAD")).toBe("task");
  });

  test("a checkout of another branch loses no uncommitted work", async () => {
    const { at, folder, kind } = await openTwo();
    at().write("b.txt", "changed\n");
    expect((await faultOf(kind.switchBranch(folder, "begun"))).code).toBe("workspace.dirty");
    at().write("b.txt", "b\n");
    at().write("a.txt", "staged\n");
    at().git("add", "a.txt");
    at().write("a.txt", "a\n");
    expect((await faultOf(kind.switchBranch(folder, "begun"))).code).toBe("workspace.dirty");
    at().git("reset", "--quiet");
    at().write("begun.txt", "mine\n");
    const fault = await faultOf(kind.switchBranch(folder, "begun"));
    expect(fault).toMatchObject({ code: "workspace.in-the-way", message: expect.stringContaining("begun.txt") });
    expect(at().read("begun.txt")).toBe("mine\n");
    writeFileSync(
      join(
        at()
          .git("rev-parse", "--git-path", "info/exclude")
          .replace(/^(?!\/)/, `${folder}/`),
      ),
      "begun.txt\n",
    );
    expect((await faultOf(kind.switchBranch(folder, "begun"))).code).toBe("workspace.in-the-way");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "task" });
  });

  test("a link in the way of a folder of the other branch is not followed", async () => {
    const { user, control, folder, kind, stage } = await openTwo();
    user.git("checkout", "--quiet", "-b", "deep", "main");
    user.commit({ "linked/file.txt": "deep\n" });
    user.git("checkout", "--quiet", "main");
    await control.syncFrom({ from: user.folder, name: "user" });
    const outside = stage.path("outside");
    mkdirSync(outside);
    symlinkSync(outside, join(folder, "linked"));
    expect((await faultOf(kind.switchBranch(folder, "deep"))).code).toBe("workspace.in-the-way");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("an interrupted switch of branches is completed by the next call", async () => {
    const { at, base, folder, kind, state, tip } = await openTwo();
    // The state right after the record was written, with some of the files written.
    const [place] = readdirSync(state).filter((name) => existsSync(join(state, name, "record.json")));
    const file = join(state, place ?? "", "record.json");
    const record = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...record, phase: "switching", branch: "begun", commit: base }));
    at().write("begun.txt", "be");
    at().write("a.txt", "begun\n");
    expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
    await kind.switchBranch(folder, "begun");
    expect(await kind.inspect(folder)).toMatchObject({ branch: "begun", head: tip, dirty: false });
    expect(statusOf(at())).toBe("");
  });
}
