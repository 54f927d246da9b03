import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../test/remove-folder.ts";
import { checkedOutBranch, gitFoldersOf } from "./git-folder.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-git-folder-"));
afterAll(() => removeFolder(base));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}

test("a repository contains its git folder, also through a link", () => {
  write("plain/.git/HEAD", "ref: refs/heads/feature/stronger\n");
  const gitFolder = join(base, "plain/.git");
  expect(gitFoldersOf(join(base, "plain"))).toEqual({ gitFolder, commonFolder: gitFolder, isLinked: false });
  expect(checkedOutBranch(gitFolder)).toBe("feature/stronger");
  mkdirSync(join(base, "linked"));
  symlinkSync(gitFolder, join(base, "linked/.git"));
  expect(gitFoldersOf(join(base, "linked"))?.gitFolder).toBe(join(base, "linked/.git"));
});

test("a worktree has its own git folder, and shares the rest", () => {
  write("main/.git/worktrees/one/HEAD", "ref: refs/heads/one\n");
  write("main/.git/worktrees/one/commondir", "../..\n");
  const gitFolder = join(base, "main/.git/worktrees/one");
  write("elsewhere/.git", `gitdir: ${gitFolder}\n`);
  const found = gitFoldersOf(join(base, "elsewhere"));
  expect(found).toEqual({ gitFolder, commonFolder: join(base, "main/.git"), isLinked: true });
  expect(checkedOutBranch(gitFolder)).toBe("one");
});

test("a submodule names its git folder relative to its own folder", () => {
  write("main/lib/.git", "gitdir: ../.git/modules/lib\r\n");
  const gitFolder = join(base, "main/.git/modules/lib");
  expect(gitFoldersOf(join(base, "main/lib"))).toEqual({ gitFolder, commonFolder: gitFolder, isLinked: false });
});

test("a broken or unusual `.git` gives no git folder, and reading it does not block", () => {
  write("broken/.git", "nonsense");
  write("large/.git", `gitdir: ${"x".repeat(100_000)}`);
  mkdirSync(join(base, "piped"));
  execFileSync("mkfifo", [join(base, "piped/.git")]);
  for (const name of ["broken", "large", "piped", "none"]) expect(gitFoldersOf(join(base, name))).toBeUndefined();
});

test("no branch is checked out if HEAD is a commit or is missing", () => {
  write("detached/.git/HEAD", "1f0c2d3e4f5a69788796a5b4c3d2e1f001234567\n");
  expect(checkedOutBranch(join(base, "detached/.git"))).toBeUndefined();
  expect(checkedOutBranch(join(base, "none"))).toBeUndefined();
});
