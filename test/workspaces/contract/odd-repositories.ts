import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultOf, repositoryAt } from "../../git/stage.ts";
import { createScenes, type KindName, statusOf } from "../stage.ts";

export function oddRepositoryContract(kind: KindName): void {
  const { open, stage } = createScenes(kind, "odd");

  test("submodules are empty folders, and files that an agent puts into them go to the trash", async () => {
    const library = stage.repository("library");
    const user = stage.repository();
    user.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.folder, "libraries/one");
    user.commit();
    const scene = await open({ user });
    const { at, folder, kind, prepare, trashed, user: repository } = scene;
    await prepare();
    expect(readdirSync(join(folder, "libraries/one"))).toEqual([]);
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
    const url = library.folder;
    at().git(
      "-c",
      "protocol.file.allow=always",
      "-c",
      `submodule.libraries/one.url=${url}`,
      "submodule",
      "--quiet",
      "update",
      "--init",
    );
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
    at().write("libraries/one/a.txt", "work in a submodule\n");
    await scene.salvage();
    await prepare({ branch: "next", salvaged: true });
    expect(readdirSync(join(folder, "libraries/one"))).toEqual([]);
    expect(trashed()).toContain("libraries/one/a.txt");
    expect(statusOf(at())).toBe("");
    await kind.remove(folder, await scene.salvage());
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("an untracked repository goes to the trash as a whole", async () => {
    const scene = await open();
    const { at, folder, kind, prepare, trashed } = scene;
    await prepare();
    mkdirSync(join(folder, "inside"));
    const inside = repositoryAt(join(folder, "inside"), stage.env);
    inside.git("init", "--quiet");
    inside.commit({ "x.txt": "x\n" });
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true, untracked: 1 });
    expect((await faultOf(prepare({ branch: "next" }))).code).toBe("workspace.dirty");
    await prepare({ branch: "next", salvaged: true });
    expect(existsSync(join(folder, "inside"))).toBe(false);
    expect(trashed()).toEqual(expect.arrayContaining(["inside/x.txt", "inside/.git/HEAD"]));
    expect(statusOf(at())).toBe("");
  });

  test("a repository that was created in a tracked folder is gone for the next task", async () => {
    const { at, folder, prepare, trashed, salvage } = await open();
    await prepare();
    repositoryAt(join(folder, "folder"), stage.env).git("init", "--quiet");
    await salvage();
    await prepare({ branch: "next", salvaged: true });
    expect(existsSync(join(folder, "folder/.git"))).toBe(false);
    expect(trashed()).toContain("folder/.git/HEAD");
    expect(statusOf(at())).toBe("");
  });

  test("files that could not be salvaged stay in the trash when another task gets the workspace", async () => {
    const { folder, kind, prepare, salvage } = await open();
    const library = stage.repository("library");
    // The shallow clone lacks the second commit. The first may be the same as in the user's repository.
    library.commit({ "second.txt": "second\n" });
    library.commit({ "third.txt": "third\n" });
    const empty = { now: Date.now(), keepFor: 0, most: 0 };
    const spoil = async () => {
      library.git("clone", "--quiet", "--depth=1", `file://${library.folder}`, join(folder, "shallow"));
      repositoryAt(join(folder, "shallow"), stage.env).commit({ "precious.txt": "precious\n" });
      return (await salvage()).refused.length > 0;
    };
    await prepare();
    await prepare({ branch: "next", salvaged: true, holds: await spoil() });
    const first = await kind.deleteTrash(empty);
    expect(first.held).toHaveLength(1);
    expect(readdirSync(join(first.held[0] ?? "", "files/shallow"))).toContain("precious.txt");
    expect(await kind.park({ folder, at: "main", holds: await spoil(), isFree: async () => true })).toBe(true);
    expect((await kind.deleteTrash(empty)).held).toHaveLength(2);
  });

  test("pointers of Git LFS are checked out, and do not count as changes", async () => {
    const user = stage.repository();
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`;
    user.commit({ ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "large.bin": pointer });
    const { at, folder, kind, prepare } = await open({ user });
    await prepare();
    expect(at().read("large.bin")).toBe(pointer);
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
    at().write("a.txt", "x");
    await prepare({ branch: "next", salvaged: true });
    expect([at().read("large.bin"), statusOf(at())]).toEqual([pointer, ""]);
  });

  test("attributes that convert files are respected, and do not make the workspace dirty", async () => {
    const user = stage.repository();
    user.commit({ ".gitattributes": "*.bat text eol=crlf\n*.id ident\n", "x.bat": "a\nb\n", "x.id": "$Id$\n" });
    const { at, folder, kind, prepare } = await open({ user });
    await prepare();
    expect(at().read("x.bat")).toBe("a\r\nb\r\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
    expect(statusOf(at())).toBe("");
    at().write("x.bat", "a\r\nb\r\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
  });

  test("a repository with a sparse checkout can be used", async () => {
    const user = stage.repository();
    user.commit({ "big/x.txt": "x\n", "small/y.txt": "y\n" });
    user.git("sparse-checkout", "set", "small");
    expect(existsSync(join(user.folder, "big"))).toBe(false);
    const { at, folder, kind, prepare } = await open({ user });
    await prepare();
    // A clone does not use the user's configuration, so it has all files.
    expect(existsSync(join(folder, "big"))).toBe(kind.kind === "clone");
    expect(at().read("small/y.txt")).toBe("y\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
    expect(statusOf(at())).toBe("");
    at().write("small/y.txt", "changed\n");
    expect(await kind.inspect(folder)).toMatchObject({ dirty: true });
    await prepare({ branch: "next", salvaged: true });
    expect([at().read("small/y.txt"), statusOf(at())]).toEqual(["y\n", ""]);
    expect(existsSync(join(user.folder, "big"))).toBe(false);
  });

  test("a shallow repository can be used, or is refused with the next command", async () => {
    const whole = stage.repository("whole");
    whole.commit({ "a.txt": "2\n" });
    const folder = stage.path("shallow");
    whole.git("clone", "--quiet", "--depth=1", `file://${whole.folder}`, folder);
    const user = repositoryAt(folder, stage.env);
    if (kind === "clone") {
      const fault = await faultOf(stage.control(user));
      expect(fault).toMatchObject({ code: "git.shallow", hint: expect.stringContaining("--unshallow") });
      return;
    }
    const scene = await open({ user, syncs: false });
    await scene.prepare({ base: user.at("HEAD") });
    expect(scene.at().read("a.txt")).toBe("2\n");
    scene.at().write("a.txt", "changed\n");
    expect((await faultOf(scene.prepare({ branch: "next", base: user.at("HEAD") }))).code).toBe("workspace.dirty");
  });

  test("a repository with SHA-256 ids can be used", async () => {
    const folder = stage.path("sha256");
    mkdirSync(folder);
    const user = repositoryAt(folder, stage.env);
    user.git("init", "--quiet", "--object-format=sha256");
    user.commit({ "a.txt": "a\n" });
    const { at, base, folder: workspace, kind, prepare } = await open({ user });
    expect(base).toHaveLength(64);
    await prepare();
    at().commit({ "a.txt": "work\n" });
    expect(await kind.inspect(workspace)).toMatchObject({ kind: "there", dirty: false });
    await kind.renameBranch(workspace, "other");
    expect(await kind.currentBranch(workspace)).toBe("other");
  });

  test("a bare repository, and a worktree of one, can be used", async () => {
    const whole = stage.repository("whole");
    const bare = stage.path("bare.git");
    whole.git("clone", "--quiet", "--bare", whole.folder, bare);
    for (const [i, folder] of [bare, stage.path("checkout")].entries()) {
      if (folder !== bare) repositoryAt(bare, stage.env).git("worktree", "add", "--quiet", "-b", "mine", folder);
      const user = repositoryAt(folder, stage.env);
      const { at, prepare, kind, folder: workspace } = await open({ user });
      await prepare({ branch: `task-${i}` });
      expect(statusOf(at())).toBe("");
      if (folder !== bare) writeFileSync(join(folder, ".env"), "secret\n");
      const { copied } = await kind.copyFiles({ folder: workspace, patterns: [".env"], how: "copy" });
      expect(copied).toHaveLength(folder === bare ? 0 : 1);
      // The branch of a bare repository is not checked out.
      if (folder === bare)
        expect(await prepare({ branch: "main", existing: true, salvaged: true })).toMatchObject({ how: "recycled" });
    }
    expect(readFileSync(join(bare, "HEAD"), "utf8")).toBe("ref: refs/heads/main\n");
  });
}
