import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { branchAt, mainRepository } from "./git-head.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-git-"));
afterAll(() => rmSync(base, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(base, path, ".."), { recursive: true });
  writeFileSync(join(base, path), text);
}

test("the branch of a repository is read from anywhere in it", () => {
  write("plain/.git/HEAD", "ref: refs/heads/feature/stronger\n");
  write("plain/src/deep/file", "");
  expect(branchAt(join(base, "plain/src/deep"))).toBe("feature/stronger");
  expect(mainRepository(join(base, "plain/src/deep"))).toBe(join(base, "plain"));
});

test("a worktree has a branch of its own, and belongs to its repository", () => {
  write("main/.git/HEAD", "ref: refs/heads/main\n");
  write("main/.git/worktrees/one/HEAD", "ref: refs/heads/one\n");
  write("main/.git/worktrees/one/commondir", "../..\n");
  write("elsewhere/.git", `gitdir: ${join(base, "main/.git/worktrees/one")}\n`);
  expect(branchAt(join(base, "elsewhere"))).toBe("one");
  expect(mainRepository(join(base, "elsewhere"))).toBe(join(base, "main"));
});

test("a submodule says where it is from its own folder", () => {
  write("main/.git/modules/lib/HEAD", "ref: refs/heads/lib\n");
  write("main/lib/.git", "gitdir: ../.git/modules/lib\n");
  expect(branchAt(join(base, "main/lib"))).toBe("lib");
  expect(mainRepository(join(base, "main/lib"))).toBe(join(base, "main/lib"));
});

test("where HEAD is a commit, or git's files are broken, there is no branch", () => {
  write("detached/.git/HEAD", "1f0c2d3e4f5a69788796a5b4c3d2e1f001234567\n");
  write("broken/.git", "nonsense");
  expect(branchAt(join(base, "detached"))).toBeUndefined();
  expect(branchAt(join(base, "broken"))).toBeUndefined();
  expect(mainRepository(join(base, "broken"))).toBeUndefined();
});
