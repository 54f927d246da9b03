import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { author, date, faultOf } from "../../git/stage.ts";
import { plantAll } from "../../poisoned/plant.ts";
import { createTrap } from "../../poisoned/trap.ts";
import { createKillingGit, untilDone } from "../killing-git.ts";
import { createScenes, type KindName, type Scene, statusOf } from "../stage.ts";

export function commitAllContract(kindName: KindName): void {
  const { open, stage } = createScenes(kindName, "commit-all");
  const order = ({ folder }: Scene) => ({ folder, task: "t1", message: "Work of t1\n", author, date });
  const filesOf = ({ at }: Scene, revision = "HEAD") => at().git("ls-tree", "-r", "--name-only", revision).split("\n");

  test("uncommitted work becomes one commit, and no file changes", async () => {
    const scene = await open();
    const { at, base, folder, kind, prepare } = scene;
    await prepare();
    at().write("a.txt", "changed\n");
    at().write("new/deep.txt", "new\n");
    at().write("run.sh", "#!/bin/sh\n");
    chmodSync(join(folder, "run.sh"), 0o755);
    symlinkSync("a.txt", join(folder, "link"));
    rmSync(join(folder, "b.txt"));
    const commit = await kind.commitAll(order(scene));
    expect(at().at("refs/heads/task")).toBe(commit);
    expect(at().at("HEAD^")).toBe(base);
    expect(filesOf(scene)).toEqual(["a.txt", "folder/c.txt", "link", "new/deep.txt", "run.sh"]);
    expect(at().git("show", "HEAD:a.txt")).toBe("changed");
    expect(at().git("ls-tree", "HEAD", "run.sh", "link")).toMatch(/^120000.*\n100755/);
    expect(at().git("log", "-1", "--format=%an <%ae>|%cn|%ct|%B")).toBe(
      `Ada <ada@example.org>|Ada|${date / 1000}|Work of t1`,
    );
    expect(statusOf(at())).toBe("");
    expect(at().read("a.txt")).toBe("changed\n");
    expect(await kind.inspect(folder)).toMatchObject({ head: commit, branch: "task", dirty: false });
    expect(await kind.commitAll(order(scene))).toBeUndefined();
    expect(at().git("rev-list", "--count", `${base}..HEAD`)).toBe("1");
  });

  test("task files and ignored files are not committed, even if an agent has staged them", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    await kind.placeTaskFile(folder, "TASK.md", "mine\n");
    await kind.placeTaskFile(folder, ".signalbox/reviewer.md", "mine\n");
    at().write(".gitignore", "*.log\n!TASK.md\n");
    at().write("debug.log", "noise\n");
    at().write("work.txt", "work\n");
    at().git("add", "--force", "debug.log", "TASK.md");
    await kind.commitAll(order(scene));
    expect(filesOf(scene)).toEqual([".gitignore", "a.txt", "b.txt", "folder/c.txt", "work.txt"]);
    expect(at().git("diff", "--cached", "--name-only")).toBe("");
    expect([at().read("debug.log"), at().read("TASK.md")]).toEqual(["noise\n", "mine\n"]);
  });

  test("no further version of a task file that an agent has committed is committed", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    await kind.placeTaskFile(folder, "TASK.md", "mine\n");
    at().git("add", "--force", "TASK.md");
    at().git("commit", "-qm", "all of it");
    const before = at().at("HEAD");
    await kind.placeTaskFile(folder, "TASK.md", "mine again\n");
    expect(await kind.commitAll(order(scene))).toBeUndefined();
    expect([at().at("HEAD"), at().read("TASK.md")]).toEqual([before, "mine again\n"]);
    at().write("work.txt", "work\n");
    await kind.commitAll(order(scene));
    expect(at().git("diff", "--name-only", "HEAD^", "HEAD")).toBe("work.txt");
    at().git("rm", "-q", "--cached", "TASK.md");
    await kind.commitAll(order(scene));
    expect(filesOf(scene)).not.toContain("TASK.md");
    expect(at().read("TASK.md")).toBe("mine again\n");
  });

  test("a TASK.md of the repository is committed like every other file", async () => {
    const scene = await open();
    const { at, kind, prepare, user } = scene;
    const base = user.commit({ "TASK.md": "theirs\n" });
    await scene.control.syncFrom({ from: user.folder, name: "user" });
    await prepare({ base });
    at().write("TASK.md", "changed\n");
    await kind.commitAll(order(scene));
    expect(at().git("show", "HEAD:TASK.md")).toBe("changed");
  });

  test("the uncommitted diff can be read without changing anything", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    expect(await kind.diffUncommitted(folder, 1_000)).toMatchObject({ lines: [], isCut: false });
    await kind.placeTaskFile(folder, "TASK.md", "mine\n");
    at().write(".gitignore", "*.log\n");
    at().write("debug.log", "noise\n");
    at().write("new/deep.txt", "new\nand more\n");
    at().write("a.txt", "staged\n");
    at().git("add", "a.txt");
    at().git("mv", "b.txt", "moved.txt");
    at().write("binary", "\0\0");
    const status = statusOf(at());
    const objects = readdirSync(join(scene.control.folder, "objects"));
    const { bytes, lines, isCut } = await kind.diffUncommitted(folder, 100_000);
    const text = Buffer.from(bytes).toString("utf8");
    expect(text).toMatch(/^\+staged$/m);
    expect(text).toMatch(/^rename to moved\.txt$/m);
    expect(text).not.toMatch(/noise|mine/);
    expect(isCut).toBe(false);
    const counted = lines.map(({ path, from, added, deleted }) => [path.text, from?.text, added, deleted]);
    expect(counted).toEqual([
      [".gitignore", undefined, 1, 0],
      ["a.txt", undefined, 1, 1],
      ["binary", undefined, undefined, undefined],
      ["moved.txt", "b.txt", 0, 0],
      ["new/deep.txt", undefined, 2, 0],
    ]);
    expect(statusOf(at())).toBe(status);
    expect(readdirSync(join(scene.control.folder, "objects"))).toEqual(objects);
    expect(readdirSync(join(scene.control.folder, "drafts"))).toEqual([]);
    expect(await kind.diffUncommitted(folder, 10)).toMatchObject({ isCut: true });
  });

  test("commitAll runs nothing that was planted in the workspace", async () => {
    const scene = await open();
    const { at, kind, prepare } = scene;
    await prepare();
    at().write(".gitattributes", "* filter=evil diff=evil\n");
    at().write("a.txt", "changed\n");
    const trap = createTrap(stage, at(), at().git("rev-parse", "--path-format=absolute", "--git-common-dir"));
    plantAll(trap);
    trap.forget();
    const commit = await kind.commitAll(order(scene));
    expect(trap.seen()).toEqual([]);
    expect(commit).toHaveLength(40);
  });

  test("staged content that differs from the files is salvaged", async () => {
    const scene = await open();
    const { at, control, kind, prepare } = scene;
    await prepare();
    at().write("a.txt", "staged\n");
    at().git("add", "a.txt");
    at().write("a.txt", "last\n");
    await kind.commitAll(order(scene));
    expect(at().git("show", "HEAD:a.txt")).toBe("last");
    expect(statusOf(at())).toBe("");
    const refs = at(control.folder).git("for-each-ref", "--format=%(refname)", "refs/signalbox/salvage/t1");
    expect(at(control.folder).git("show", `${refs}^2:a.txt`)).toBe("staged");
  });

  test("a workspace with an operation under way, or without a branch, is refused", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    at().commit({ "a.txt": "one\n" });
    at().git("branch", "other", "HEAD^");
    at().git("checkout", "--quiet", "other");
    at().commit({ "a.txt": "two\n" });
    expect(() => at().git("merge", "task")).toThrow();
    const fault = await faultOf(kind.commitAll(order(scene)));
    expect(fault).toMatchObject({ code: "workspace.operation", hint: expect.stringContaining("git merge --abort") });
    expect(at().read("a.txt")).toContain("<<<<<<<");
    at().git("merge", "--abort");
    at().git("checkout", "--quiet", "--detach");
    expect((await faultOf(kind.commitAll(order(scene)))).code).toBe("workspace.detached");
    expect((await faultOf(kind.commitAll({ ...order(scene), folder: `${folder}-nowhere` }))).code).toBe(
      "workspace.missing",
    );
  });

  test("nested repositories are not changed", async () => {
    const scene = await open();
    const { at, folder, kind, prepare } = scene;
    await prepare();
    mkdirSync(join(folder, "inner"));
    at(join(folder, "inner")).git("init", "--quiet");
    at(join(folder, "inner")).commit({ "x.txt": "x\n" });
    at().write("work.txt", "work\n");
    await kind.commitAll(order(scene));
    expect(filesOf(scene)).toEqual(["a.txt", "b.txt", "folder/c.txt", "work.txt"]);
    expect(existsSync(join(folder, "inner/x.txt"))).toBe(true);
  });

  test("after a kill at any point a retry commits everything once", async () => {
    const scene = await open();
    const { at, base, control, kind, prepare } = scene;
    await prepare();
    const killing = createKillingGit(stage.path("killing"));
    const killed = scene.again({ program: killing.program });
    at().write("first.txt", "first\n");
    await untilDone(() => killed.commitAll(order(scene)));
    const calls = killing.calls();
    expect(calls).toBeGreaterThan(8);
    for (let victim = 2; victim <= calls; victim += 1) {
      at().write("first.txt", `${victim}\n`);
      at().write(`work-${victim}.txt`, "work\n");
      killing.aim(victim, 0);
      await killed.commitAll(order(scene)).catch(() => undefined);
      killing.aim(0, 0);
      await untilDone(() => kind.commitAll(order(scene)));
      expect(statusOf(at())).toBe("");
      expect(at().git("show", "HEAD:first.txt")).toBe(String(victim));
      expect(at().git("rev-list", "--count", `${base}..HEAD`)).toBe(String(victim));
    }
    expect(readdirSync(join(control.folder, "drafts"))).toEqual([]);
    expect(readFileSync(join(at().folder, "first.txt"), "utf8")).toBe(`${calls}\n`);
  });
}
