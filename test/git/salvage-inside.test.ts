import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ControlRepository } from "../../src/ports/control-repository.ts";
import { cloneOf, controlGit, createStage, date, type Repository, repositoryAt, worktreeOf } from "./stage.ts";

const stage = createStage("salvage-inside");

const kinds = ["clone", "worktree"] as const;

/** A workspace of a project with a submodule, which is initialised as an agent does it. */
async function workspaceOf(kind: (typeof kinds)[number]) {
  const library = stage.repository("library");
  const user = stage.repository();
  user.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.folder, "lib");
  user.commit();
  const control = await stage.control(user);
  const workspace = kind === "clone" ? cloneOf(stage, user) : worktreeOf(stage, user);
  const url = `submodule.lib.url=${library.folder}`;
  workspace.git("-c", "protocol.file.allow=always", "-c", url, "submodule", "--quiet", "update", "--init");
  return { library, user, control, workspace, lib: inside(workspace, "lib") };
}

const inside = ({ folder }: Repository, name: string) => repositoryAt(join(folder, name), stage.env);

function made(workspace: Repository, name: string): Repository {
  mkdirSync(join(workspace.folder, name), { recursive: true });
  const repository = inside(workspace, name);
  repository.git("init", "--quiet", "--initial-branch=main");
  return repository;
}

const salvageOf = (control: ControlRepository, { folder }: Repository, at = date) =>
  control.salvage({ folder, task: "t1", at });

/** Deletes the workspace with everything that only it had, and restores the salvage into a new folder. */
async function broughtBack(control: ControlRepository, workspace: Repository) {
  const { saved, refused } = await salvageOf(control, workspace);
  expect(refused).toEqual([]);
  rmSync(workspace.folder, { recursive: true });
  const folder = stage.path("back");
  await control.restoreFiles(saved?.commit ?? "", folder);
  return repositoryAt(folder, stage.env);
}

describe.each(kinds)("in a %s", (kind) => {
  test("a submodule is restored with unpushed commits, on its branch, with its uncommitted files", async () => {
    const { control, workspace, lib } = await workspaceOf(kind);
    lib.git("checkout", "--quiet", "-b", "mine");
    const commit = lib.commit({ "precious.txt": "committed\n" });
    workspace.commit();
    lib.write("a.txt", "changed\n");
    lib.write("new.txt", "untracked\n");
    const back = inside(await broughtBack(control, workspace), "lib");
    expect(back.at("HEAD")).toBe(commit);
    expect(back.git("branch", "--show-current")).toBe("mine");
    expect(back.git("status", "--short")).toBe("M a.txt\n?? new.txt");
    expect(readFileSync(join(back.folder, "new.txt"), "utf8")).toBe("untracked\n");
    back.git("fsck", "--full", "--strict");
    expect(await control.listSalvaged()).toMatchObject([{ repositories: ["lib"] }]);
  });

  test("unpushed commits of a submodule are salvaged although nothing is uncommitted", async () => {
    const { control, workspace, lib } = await workspaceOf(kind);
    const commit = lib.commit({ "precious.txt": "committed\n" });
    workspace.commit();
    const back = inside(await broughtBack(control, workspace), "lib");
    expect(back.at("HEAD")).toBe(commit);
    expect(back.git("status", "--short")).toBe("");
  });

  test("a submodule that equals its remote is not salvaged", async () => {
    const { control, workspace, library, lib } = await workspaceOf(kind);
    expect(await salvageOf(control, workspace)).toMatchObject({ saved: undefined, refused: [] });
    library.git("config", "receive.denyCurrentBranch", "ignore");
    lib.commit({ "pushed.txt": "pushed\n" });
    lib.git("push", "--quiet", "origin", "HEAD:main");
    workspace.commit();
    const { saved } = await salvageOf(control, workspace);
    expect((await control.listSalvaged()).flatMap(({ repositories }) => repositories)).toEqual([]);
    // Only the workspace's own commit, which was not collected.
    expect(controlGit(stage, control)("diff", "--name-only", `${saved?.commit}^`, `${saved?.commit}`)).toBe("");
  });

  test("only submodules at a commit that was never pushed are named", async () => {
    const { control, workspace, library, lib } = await workspaceOf(kind);
    const from = workspace.at("HEAD");
    const names = async () => {
      await control.collect({ folder: workspace.folder, branch: "task", task: "t1" });
      const found = await control.unpushedModules({ folder: workspace.folder, from, to: workspace.at("HEAD") });
      return found.map(({ text }) => text);
    };
    lib.commit({ "precious.txt": "committed\n" });
    workspace.commit();
    expect(await names()).toEqual(["lib"]);
    library.git("config", "receive.denyCurrentBranch", "ignore");
    lib.git("push", "--quiet", "origin", "HEAD:main");
    expect(await names()).toEqual([]);
  });

  test("a submodule whose folder was emptied is salvaged from its git folder", async () => {
    const { control, workspace, lib } = await workspaceOf(kind);
    const commit = lib.commit({ "precious.txt": "committed\n" });
    workspace.git("submodule", "--quiet", "deinit", "--force", "lib");
    const back = inside(await broughtBack(control, workspace), "lib");
    expect(back.at("HEAD")).toBe(commit);
  });

  test("an untracked repository is restored with all its branches, its stash, and a repository inside it", async () => {
    const { control, workspace } = await workspaceOf(kind);
    const outer = made(workspace, "tools/outer");
    const first = outer.commit({ "a.txt": "a\n" });
    outer.git("branch", "side");
    outer.git("tag", "v1");
    outer.write("a.txt", "stashed\n");
    outer.git("stash", "--quiet");
    outer.git("checkout", "--quiet", "--detach");
    const loose = outer.commit({ "b.txt": "on no branch\n" });
    const deep = made(outer, "deep");
    const deepest = deep.commit({ "c.txt": "deep\n" });
    const restored = inside(await broughtBack(control, workspace), "tools/outer");
    expect(restored.at("HEAD")).toBe(loose);
    expect(["main", "side", "v1"].map((name) => restored.at(name))).toEqual([first, first, first]);
    expect(restored.git("rev-list", "--objects", "--no-object-names", "--all").split("\n")).toContain(
      hashOf("stashed\n"),
    );
    expect(inside(restored, "deep").at("HEAD")).toBe(deepest);
  });

  test("the same nested repositories are salvaged only once, whichever task asks", async () => {
    const { control, workspace, lib } = await workspaceOf(kind);
    lib.write("a.txt", "changed\n");
    made(workspace, "nested").commit({ "a.txt": "a\n" });
    const first = await salvageOf(control, workspace);
    const again = await control.salvage({ folder: workspace.folder, task: "free", at: date + 5_000, anybodys: true });
    expect(again.saved).toEqual(first.saved);
  });
});

const hashOf = (text: string) =>
  execFileSync("git", ["hash-object", "--stdin"], { input: text, encoding: "utf8" }).trim();

test("the commits of a repository that was created in a tracked folder are salvaged", async () => {
  const { control, workspace } = await workspaceOf("clone");
  workspace.commit({ "folder/c.txt": "c\n" });
  const commit = made(workspace, "folder").commit({ "d.txt": "only here\n" });
  rmSync(join(workspace.folder, "folder/d.txt"));
  const back = await broughtBack(control, workspace);
  expect(inside(back, "folder.repository").at("HEAD")).toBe(commit);
  expect(readFileSync(join(back.folder, "folder/c.txt"), "utf8")).toBe("c\n");
});

test("files in the folder of an uninitialised submodule are salvaged", async () => {
  const { control, workspace } = await workspaceOf("clone");
  workspace.git("submodule", "--quiet", "deinit", "--force", "lib");
  rmSync(join(workspace.folder, ".git/modules"), { recursive: true });
  workspace.write("lib/notes.txt", "notes\n");
  const back = await broughtBack(control, workspace);
  expect(readFileSync(join(back.folder, "lib/notes.txt"), "utf8")).toBe("notes\n");
});

test("a shallow repository with commits of its own and a broken repository cannot be saved, and are refused", async () => {
  const { control, workspace, library } = await workspaceOf("clone");
  library.commit({ "second.txt": "second\n" });
  workspace.git("clone", "--quiet", "--depth=1", `file://${library.folder}`, "shallow");
  expect((await salvageOf(control, workspace)).refused).toEqual([]);
  inside(workspace, "shallow").commit({ "precious.txt": "committed\n" });
  const broken = made(workspace, "broken");
  broken.commit({ "a.txt": "a\n" });
  writeFileSync(join(broken.folder, ".git/HEAD"), "nonsense\n");
  const { refused } = await salvageOf(control, workspace);
  expect(refused.map(({ text }) => text)).toEqual(["shallow", "broken"]);
});

test("a repository elsewhere that a folder only leads to keeps its commits, and only the files are salvaged", async () => {
  const { control, workspace } = await workspaceOf("clone");
  const elsewhere = stage.repository("elsewhere");
  elsewhere.git("worktree", "add", "--quiet", join(workspace.folder, "tree"), "-b", "other");
  const tree = inside(workspace, "tree");
  tree.commit({ "x.txt": "x\n" });
  expect((await salvageOf(control, workspace)).saved).toBeUndefined();
  mkdirSync(join(workspace.folder, "linked"));
  symlinkSync(join(elsewhere.folder, ".git"), join(workspace.folder, "linked/.git"));
  tree.write("x.txt", "changed\n");
  const back = await broughtBack(control, workspace);
  expect(readFileSync(join(back.folder, "tree/x.txt"), "utf8")).toBe("changed\n");
  expect(existsSync(join(elsewhere.folder, ".git/HEAD"))).toBe(true);
});
