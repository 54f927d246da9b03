import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ControlRepository, Salvage } from "../../src/ports/control-repository.ts";
import { makeDeep } from "./deep-folder.ts";
import { cloneOf, controlGit, createStage, date, faultOf, type Repository, repositoryAt, worktreeOf } from "./stage.ts";

const stage = createStage("salvage");

test("files below a path that is too long for the system are named as not saved, with and without other changes", async () => {
  const { control, workspace } = await workspaceOf();
  const salvage = () => control.salvage({ folder: workspace.folder, task: "t1", at: date });
  const top = makeDeep(workspace.folder);
  try {
    const alone = await salvage();
    expect([alone.saved, alone.refused.map(({ text }) => text.startsWith(top))]).toEqual([undefined, [true]]);
    workspace.write("top.txt", "top\n");
    const both = await salvage();
    expect(both.saved).toBeDefined();
    expect(both.refused).toHaveLength(1);
  } finally {
    // Node cannot delete such a path.
    execFileSync("rm", ["-rf", join(workspace.folder, top)]);
  }
});

async function workspaceOf(kind: "clone" | "worktree" = "clone") {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = kind === "clone" ? cloneOf(stage, user) : worktreeOf(stage, user);
  return { user, control, workspace, show: shower(control) };
}

/** Files and their texts in a commit of the control repository. */
function shower(control: ControlRepository) {
  const git = controlGit(stage, control);
  return {
    git,
    files: (commit: string) =>
      Object.fromEntries(
        git("ls-tree", "-r", "-z", commit)
          .split("\0")
          .filter((line) => line !== "")
          .map((line) => {
            const [, type, id = "", path = ""] = /^\d+ (\w+) (\w+)\t([\s\S]*)$/.exec(line) ?? [];
            return [path, type === "blob" ? git("cat-file", "blob", id) : "repository"];
          }),
      ),
    parents: (commit: string) => git("show", "--no-patch", "--format=%P", commit).split(" "),
  };
}

const salvageOf = (control: ControlRepository, { folder }: Repository, at = date) =>
  control.salvage({ folder, task: "t1", at });

function savedBy({ saved }: Salvage) {
  if (saved === undefined) throw new Error("Nothing was saved.");
  return saved;
}

/** Everything in a folder, with its bytes, to check that nothing has changed. */
function snapshot(folder: string): string {
  return execFileSync("sh", ["-c", 'find . -type f -printf "%p %T@ %m " -exec md5sum {} \\; | sort'], {
    cwd: folder,
    encoding: "utf8",
  });
}

test.each(["clone", "worktree"] as const)(
  "everything uncommitted is saved from a %s, and nothing there changes",
  async (kind) => {
    const { control, workspace, show } = await workspaceOf(kind);
    const head = workspace.commit({ "committed.txt": "committed\n" });
    workspace.write("a.txt", "unstaged\n");
    workspace.write("b.txt", "staged\n");
    workspace.git("add", "b.txt");
    rmSync(join(workspace.folder, "folder/c.txt"));
    workspace.write("new/file.txt", "untracked\n");
    symlinkSync("/etc/passwd", join(workspace.folder, "link"));
    workspace.write("run.sh", "#!/bin/sh\n");
    chmodSync(join(workspace.folder, "run.sh"), 0o755);
    const gitFolder = workspace.git("rev-parse", "--absolute-git-dir");
    const [files, git] = [snapshot(workspace.folder), snapshot(gitFolder)];

    const salvage = await salvageOf(control, workspace);
    const { ref, commit } = savedBy(salvage);
    expect(ref).toBe("refs/signalbox/salvage/t1/2026-01-02T03-04-05-000Z");
    expect(await control.commitAt(ref)).toBe(commit);
    expect(show.files(commit)).toEqual({
      "a.txt": "unstaged",
      "b.txt": "staged",
      "committed.txt": "committed",
      link: "/etc/passwd",
      "new/file.txt": "untracked",
      "run.sh": "#!/bin/sh",
    });
    expect(show.parents(commit)[0]).toBe(head);
    expect(show.git("ls-tree", commit, "run.sh", "link")).toMatch(/^120000 .*\n100755 /);
    expect(salvage).toMatchObject({ ignored: [], repositories: [], refused: [] });
    expect([snapshot(workspace.folder), snapshot(gitFolder)]).toEqual([files, git]);
    expect(show.git("fsck", "--strict", "--connectivity-only")).not.toMatch(/missing|broken|error/);
    expect(readdirSync(join(control.folder, "drafts"))).toEqual([]);
    expect(show.git("for-each-ref", "refs/signalbox/incoming/salvage")).toBe("");
  },
);

test.each(["clone", "worktree"] as const)("a %s without work of its own is not salvaged", async (kind) => {
  const { control, workspace, show } = await workspaceOf(kind);
  workspace.write(".git-is-no-name", "");
  rmSync(join(workspace.folder, ".git-is-no-name"));
  expect(await salvageOf(control, workspace)).toEqual({
    saved: undefined,
    ignored: [],
    repositories: [],
    refused: [],
  });
  expect(show.git("for-each-ref", "refs/signalbox/salvage")).toBe("");
});

test("salvaging the same files again gives the same commit, even at another time", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.commit({ "a.txt": "committed\n" });
  workspace.write("a.txt", "1\n");
  const first = await salvageOf(control, workspace);
  expect(await salvageOf(control, workspace)).toEqual(first);
  expect(await salvageOf(control, workspace, date + 5000)).toEqual(first);
  workspace.write("a.txt", "2\n");
  expect(savedBy(await salvageOf(control, workspace)).ref).toBe(`${first.saved?.ref}-2`);
  expect(show.git("for-each-ref", "refs/signalbox/salvage").split("\n")).toHaveLength(2);
});

test("ignored files are named with their sizes, and not saved", async () => {
  const { user, control, workspace, show } = await workspaceOf("worktree");
  workspace.commit({ ".gitignore": "*.log\ndependencies/\n" });
  await control.collect({ folder: workspace.folder, branch: "task", task: "t1" });
  user.write(".git/info/exclude", "TASK.md\n");
  mkdirSync(join(stage.env.HOME ?? "", ".config/git"), { recursive: true });
  writeFileSync(join(stage.env.HOME ?? "", ".config/git/ignore"), ".env\n");
  workspace.write("x.log", "12345");
  workspace.write("dependencies/a/b", "123");
  workspace.write("dependencies/c", "1234");
  workspace.write("TASK.md", "12");
  workspace.write(".env", "1");
  const { saved, ignored } = await salvageOf(control, workspace);
  expect(saved).toBeUndefined();
  expect(ignored.map(({ path, size, isFolder }) => [path.text, size, isFolder])).toEqual([
    [".env", 1, false],
    ["TASK.md", 2, false],
    ["dependencies", 7, true],
    ["x.log", 5, false],
  ]);
  rmSync(join(stage.env.HOME ?? "", ".config"), { recursive: true });
  expect(Object.keys(show.files(savedBy(await salvageOf(control, workspace)).commit))).toContain(".env");
});

test("files that were staged and then changed or removed are saved as well", async () => {
  const { control, workspace, show } = await workspaceOf();
  const head = workspace.at("HEAD");
  workspace.write("a.txt", "staged\n");
  workspace.write("gone.txt", "staged\n");
  workspace.git("add", "--all");
  workspace.write("a.txt", "changed again\n");
  rmSync(join(workspace.folder, "gone.txt"));
  const { commit } = savedBy(await salvageOf(control, workspace));
  const [first, index = ""] = show.parents(commit);
  expect(first).toBe(head);
  expect(show.files(commit)).toMatchObject({ "a.txt": "changed again" });
  expect(show.files(commit)).not.toHaveProperty("gone.txt");
  expect(show.files(index)).toMatchObject({ "a.txt": "staged", "gone.txt": "staged" });
  expect(show.parents(index)).toEqual([head]);
});

test("a change with the same size and time is saved", async () => {
  const { control, workspace, show } = await workspaceOf();
  // The same size in the same second as the index.
  workspace.write("b.txt", "1\n");
  const time = Math.floor(Date.now() / 1000) - 100;
  const setTime = (path: string) => utimesSync(join(workspace.folder, path), time, time);
  setTime("b.txt");
  workspace.git("add", "b.txt");
  setTime(".git/index");
  writeFileSync(join(workspace.folder, "b.txt"), "2\n");
  setTime("b.txt");
  expect(show.files(savedBy(await salvageOf(control, workspace)).commit)).toMatchObject({ "b.txt": "2" });
});

test("stashes, other branches, and amended or reset commits are saved", async () => {
  const { control, workspace, show } = await workspaceOf();
  const amended = workspace.commit({ "a.txt": "amended away\n" });
  workspace.write("a.txt", "instead\n");
  workspace.git("commit", "--quiet", "--all", "--amend", "--no-edit");
  const head = workspace.at("HEAD");
  for (const text of ["first stash\n", "second stash\n"]) {
    workspace.write("b.txt", text);
    workspace.git("stash", "--quiet");
  }
  const stashes = [workspace.at("stash@{0}"), workspace.at("stash@{1}")];
  workspace.git("checkout", "--quiet", "-b", "idea");
  const idea = workspace.commit({ "idea.txt": "idea\n" });
  workspace.git("tag", "-a", "-m", "tag", "tagged");
  workspace.git("checkout", "--quiet", "task");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.parents(commit)[0]).toBe(head);
  rmSync(workspace.folder, { recursive: true });
  for (const lost of [amended, idea, ...stashes]) expect(await control.isAncestor(lost, commit)).toBe(true);
});

test("a worktree's salvage has its own stashes, but neither stashes nor branches of others", async () => {
  const { user, control, workspace } = await workspaceOf("worktree");
  user.write("a.txt", "the user's stash\n");
  user.git("stash", "--quiet");
  const theirs = user.at("stash");
  user.git("checkout", "--quiet", "-b", "private");
  const secret = user.commit({ "a.txt": "private\n" });
  expect((await salvageOf(control, workspace)).saved).toBeUndefined();
  workspace.write("a.txt", "stashed\n");
  workspace.git("stash", "--quiet");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(await control.isAncestor(workspace.at("stash"), commit)).toBe(true);
  for (const other of [theirs, secret]) expect(await control.isAncestor(other, commit).catch(() => false)).toBe(false);
});

test("a detached HEAD and its commits are saved, though nothing is uncommitted", async () => {
  const { control, workspace } = await workspaceOf("worktree");
  workspace.git("checkout", "--quiet", "--detach");
  const head = workspace.commit({ "a.txt": "detached\n" });
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(await control.isAncestor(head, commit)).toBe(true);
  expect(await control.changedFiles(head, commit)).toEqual([]);
});

test("a repository without commits is saved", async () => {
  const control = await stage.git.openControl(stage.path("control.git"));
  const workspace = repositoryAt(stage.path("unborn"), stage.env);
  mkdirSync(workspace.folder);
  workspace.git("init", "--quiet");
  expect((await salvageOf(control, workspace)).saved).toBeUndefined();
  workspace.write("a.txt", "first\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(shower(control).files(commit)).toEqual({ "a.txt": "first" });
  expect(shower(control).parents(commit)).toEqual([""]);
});

test("commits in a reflog that no longer exist are skipped", async () => {
  const { control, workspace, show } = await workspaceOf();
  const [gone] = [workspace.commit({ "a.txt": "gone\n" }), workspace.commit({ "a.txt": "half gone\n" })];
  workspace.git("reset", "--quiet", "--hard", "main");
  rmSync(join(workspace.folder, ".git/objects", gone.slice(0, 2), gone.slice(2)));
  const head = workspace.commit({ "a.txt": "here\n" });
  workspace.write("a.txt", "changed\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.parents(commit)).toEqual([head]);
  expect(show.files(commit)).toMatchObject({ "a.txt": "changed" });
});

test("an orphan branch is saved, with the commits before it", async () => {
  const { control, workspace, show } = await workspaceOf();
  const old = workspace.commit({ "a.txt": "old\n" });
  workspace.git("checkout", "--quiet", "--orphan", "anew");
  workspace.git("rm", "--quiet", "-r", "--force", ".");
  workspace.write("z.txt", "anew\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toEqual({ "z.txt": "anew" });
  expect(show.parents(commit)).toEqual([old]);
});

test.each([
  ["merge", ["merge"]],
  ["rebase", ["-c", "rebase.autoStash=true", "rebase"]],
  ["cherry-pick", ["cherry-pick"]],
] as const)("during a %s everything is saved, including both sides", async (word, begin) => {
  const { control, workspace, show } = await workspaceOf();
  workspace.write("a.txt", "theirs\n");
  workspace.git("add", "a.txt");
  // No branch and no reflog of HEAD has this commit.
  const other = workspace.git("commit-tree", "-p", "HEAD", "-m", "other", workspace.git("write-tree"));
  workspace.git("reset", "--quiet", "--hard");
  const ours = workspace.commit({ "a.txt": "ours\n" });
  if (word === "rebase") workspace.write("b.txt", "stashed meanwhile\n");
  expect(() => workspace.git(...begin, other)).toThrow();
  workspace.write("resolved.txt", "half-way\n");
  const status = workspace.git("status", "--porcelain=v2", "--branch");
  const { commit } = savedBy(await salvageOf(control, workspace));
  const files = show.files(commit);
  expect(files["a.txt"]).toContain("<<<<<<<");
  expect(files["resolved.txt"]).toBe("half-way");
  for (const side of [ours, other]) expect(await control.isAncestor(side, commit)).toBe(true);
  const stashed = show.git("log", "--all", "--full-history", "-m", "--format=", "--patch", "--", "b.txt");
  expect(stashed.includes("+stashed meanwhile")).toBe(word === "rebase");
  expect(workspace.git("status", "--porcelain=v2", "--branch")).toBe(status);
});

test.each([
  ["cut off", (path: string) => truncateSync(path, 60)],
  ["empty", (path: string) => writeFileSync(path, "")],
  ["rubbish", (path: string) => writeFileSync(path, "rubbish".repeat(100))],
  ["missing", (path: string) => rmSync(path)],
  ["wrong in one byte", damageOneByte],
  ["a link", (path: string) => [rmSync(path), symlinkSync("/etc/passwd", path)]],
] as const)("all files are saved although the index is %s", async (_, damage) => {
  const { control, workspace, show } = await workspaceOf();
  // Git trusts the index for files that are older than it.
  utimesSync(join(workspace.folder, "b.txt"), 1_000_000, 1_000_000);
  workspace.git("update-index", "--refresh");
  workspace.write("a.txt", "changed\n");
  workspace.write("new.txt", "new\n");
  rmSync(join(workspace.folder, "folder/c.txt"));
  damage(join(workspace.folder, ".git/index"));
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toEqual({ "a.txt": "changed", "b.txt": "b", "new.txt": "new" });
});

/** Changes the id of a file, which git would trust. */
function damageOneByte(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf("b.txt") - 22;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test("a split index is understood", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.git("update-index", "--split-index");
  workspace.write("staged.txt", "staged\n");
  workspace.git("add", "staged.txt");
  rmSync(join(workspace.folder, "staged.txt"));
  workspace.write("a.txt", "changed\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toMatchObject({ "a.txt": "changed" });
  expect(show.files(show.parents(commit)[1] ?? "")).toMatchObject({ "staged.txt": "staged" });
});

test("assume-unchanged files are saved; missing skip-worktree files do not count as deleted", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.git("update-index", "--assume-unchanged", "a.txt");
  workspace.git("update-index", "--skip-worktree", "b.txt", "folder/c.txt");
  rmSync(join(workspace.folder, "folder"), { recursive: true });
  expect((await salvageOf(control, workspace)).saved).toBeUndefined();
  workspace.write("a.txt", "overlooked\n");
  workspace.write("b.txt", "overlooked too\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toEqual({ "a.txt": "overlooked", "b.txt": "overlooked too", "folder/c.txt": "c" });
});

test("a file that replaces a folder, and a folder that replaces a file, are saved", async () => {
  const { control, workspace, show } = await workspaceOf();
  rmSync(join(workspace.folder, "folder"), { recursive: true });
  workspace.write("folder", "now a file\n");
  rmSync(join(workspace.folder, "a.txt"));
  workspace.write("a.txt/inside", "now a folder\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toEqual({ "a.txt/inside": "now a folder", "b.txt": "b", folder: "now a file" });
});

test("nested repositories are named, and saved with the files around them", async () => {
  const { control, workspace, show } = await workspaceOf();
  const inner = stage.repository("inner");
  workspace.git("submodule", "--quiet", "add", inner.folder, "module");
  const head = workspace.commit();
  workspace.write("module/a.txt", "changed inside\n");
  for (const name of ["nested", "empty"]) {
    mkdirSync(join(workspace.folder, name));
    workspace.git("init", "--quiet", name);
    workspace.write(`${name}/file.txt`, "inside\n");
  }
  repositoryAt(join(workspace.folder, "nested"), stage.env).commit();
  workspace.write("a.txt", "changed\n");
  const salvage = await salvageOf(control, workspace);
  expect(salvage.repositories.map(({ text }) => text)).toEqual(["module", "empty", "nested"]);
  const files = show.files(savedBy(salvage).commit);
  expect(files).toMatchObject({ "a.txt": "changed", module: "repository" });
  expect(files).toMatchObject({ nested: "repository", empty: "repository" });
  const module = show.git("rev-parse", `${savedBy(salvage).commit}:module`);
  expect(show.files(module)).toMatchObject({ "a.txt": "changed inside" });
  expect(show.parents(module)).toEqual([show.git("rev-parse", `${head}:module`)]);
});

test("names of any bytes are saved, and contents byte for byte, whatever attributes and line-end settings say", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.commit({
    ".gitattributes": "*.txt text eol=crlf\n*.utf16 working-tree-encoding=UTF-16\n*.id ident\n",
  });
  workspace.git("config", "core.autocrlf", "true");
  const odd = Buffer.concat([Buffer.from(`${workspace.folder}/`), Buffer.of(0xff, 0x0a, 0x09, 0x1b)]);
  writeFileSync(odd, "odd\n");
  workspace.write("--output=x", "option\n");
  workspace.write(":(top)magic", "magic\n");
  workspace.write("windows.txt", "line\r\nline\r\n");
  workspace.write("bad.utf16", "odd number of bytes");
  workspace.write("x.id", "$Id: mine $");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(String(await control.fileAt(commit, "windows.txt", 100))).toBe("line\r\nline\r\n");
  expect(String(await control.fileAt(commit, "bad.utf16", 100))).toBe("odd number of bytes");
  expect(String(await control.fileAt(commit, "x.id", 100))).toBe("$Id: mine $");
  expect(String(await control.fileAt(commit, Buffer.of(0xff, 0x0a, 0x09, 0x1b), 100))).toBe("odd\n");
  expect(show.files(commit)).toMatchObject({ "--output=x": "option", ":(top)magic": "magic" });
});

test("named pipes and other special files are skipped", async () => {
  const { control, workspace } = await workspaceOf();
  execFileSync("mkfifo", [join(workspace.folder, "pipe")]);
  workspace.write("a.txt", "changed\n");
  expect(await salvageOf(control, workspace)).toMatchObject({ saved: {}, refused: [] });
});

test("a file that git cannot add is named, and the others are saved", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.write("git~1/config", "what some systems take for .git\n");
  workspace.write("z.txt", "new\n");
  const salvage = await salvageOf(control, workspace);
  expect(salvage.refused.map(({ text }) => text)).toEqual(["git~1/config"]);
  expect(show.files(savedBy(salvage).commit)).toMatchObject({ "z.txt": "new" });
});

test("an index with paths outside the workspace is not trusted", async () => {
  const { control, workspace, show } = await workspaceOf();
  const index = join(workspace.folder, ".git/index");
  const bytes = readFileSync(index);
  const at = bytes.indexOf("folder/c.txt");
  bytes.write("../secret.tx", at);
  const { createHash } = await import("node:crypto");
  createHash("sha1")
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20);
  writeFileSync(index, bytes);
  writeFileSync(join(workspace.folder, "../secret.tx"), "secret");
  workspace.write("a.txt", "changed\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(show.files(commit)).toEqual({ "a.txt": "changed", "b.txt": "b", "folder/c.txt": "c" });
});

test("a link and a missing folder are refused", async () => {
  const { control, workspace } = await workspaceOf();
  const link = stage.path("link");
  symlinkSync(workspace.folder, link);
  for (const folder of [link, stage.path("gone")])
    expect(await faultOf(control.salvage({ folder, task: "t", at: date }))).toMatchObject({
      code: "git.not-a-repository",
    });
});

test("the files of a folder whose repository is gone are saved", async () => {
  const { control, workspace, show } = await workspaceOf();
  workspace.write("new.txt", "new\n");
  for (const rest of ["", "HEAD"]) {
    renameSync(join(workspace.folder, ".git", rest), join(workspace.folder, "..", `no-git-${rest}`));
    const { commit } = savedBy(await salvageOf(control, workspace));
    expect(show.files(commit)).toEqual({ "a.txt": "a", "b.txt": "b", "folder/c.txt": "c", "new.txt": "new" });
    if (rest === "") renameSync(join(workspace.folder, "..", "no-git-"), join(workspace.folder, ".git"));
  }
});

test("commits and staged files of a worktree are saved even if its folder is gone", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const worktree = worktreeOf(stage, user);
  worktree.git("checkout", "--quiet", "--detach");
  const detached = worktree.commit({ "detached.txt": "detached\n" });
  worktree.write("staged.txt", "staged\n");
  worktree.git("add", "staged.txt");
  rmSync(worktree.folder, { recursive: true });
  const order = { folder: worktree.folder, task: "t", at: date, repository: user.folder };
  const { commit } = savedBy(await control.salvage(order));
  expect(await control.isAncestor(detached, commit)).toBe(true);
  expect(String(await control.fileAt(commit, "staged.txt", 100))).toBe("staged\n");
  expect(String(await control.fileAt(commit, "a.txt", 100))).toBe("a\n");
  expect(await control.salvage({ ...order, folder: stage.path("never") })).toMatchObject({ saved: undefined });
});

test("files that were staged when a stash was popped over them are saved", async () => {
  const { control, workspace } = await workspaceOf();
  workspace.write("a.txt", "stashed\n");
  workspace.git("stash", "push", "--quiet");
  workspace.write("a.txt", "staged, and nowhere else\n");
  workspace.git("add", "a.txt");
  const id = workspace.git("rev-parse", ":a.txt");
  expect(() => workspace.git("stash", "pop", "--quiet")).toThrow();
  workspace.write("a.txt", "given up\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  expect(controlGit(stage, control)("rev-list", "--objects", commit)).toContain(id);
});

test("files that are staged during a merge are saved, even if the file has changed since", async () => {
  const { control, workspace } = await workspaceOf();
  workspace.git("checkout", "--quiet", "-b", "rival");
  workspace.commit({ "a.txt": "theirs\n" });
  workspace.git("checkout", "--quiet", "-");
  workspace.commit({ "a.txt": "ours\n" });
  expect(() => workspace.git("merge", "rival")).toThrow();
  workspace.write("b.txt", "staged only\n");
  workspace.git("add", "b.txt");
  workspace.write("b.txt", "b\n");
  const { commit } = savedBy(await salvageOf(control, workspace));
  const staged = controlGit(stage, control)("rev-list", "--objects", commit);
  expect(staged).toContain(workspace.git("rev-parse", ":b.txt"));
});
