import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ProjectView } from "../api/routes.ts";
import { nameFrom } from "./commands/project.ts";
import { branchAt, mainRepository, noProjectHere, projectAt, projectNamed } from "./find.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-projects-")));
afterAll(() => rmSync(base, { recursive: true }));

function project(name: string, path: string): ProjectView {
  const settings = {
    defaultBranch: "main",
    poolSize: 4,
    workflow: "",
    harness: "",
    reviewHarness: "",
    branchPrefix: "",
    workspaces: "worktree" as const,
    fullPermissions: "ask" as const,
  };
  return { name, path, ...settings, createdAt: "2026-01-01T00:00:00.000Z" };
}

const projects = [project("outer", join(base, "outer")), project("inner", join(base, "outer/inner"))];
mkdirSync(join(base, "outer/inner/src"), { recursive: true });
mkdirSync(join(base, "outer-two"));

test("a folder belongs to the innermost project that contains it", () => {
  expect(projectAt(projects, join(base, "outer"))?.name).toBe("outer");
  expect(projectAt(projects, join(base, "outer/inner/src"))?.name).toBe("inner");
  expect(projectAt(projects, join(base, "outer-two"))).toBeUndefined();
});

test("symbolic links are resolved", () => {
  symlinkSync(join(base, "outer/inner"), join(base, "link"));
  expect(projectAt(projects, join(base, "link/src"))?.name).toBe("inner");
});

test("a worktree elsewhere belongs to the project of its repository", () => {
  mkdirSync(join(base, "outer/.git/worktrees/one"), { recursive: true });
  writeFileSync(join(base, "outer/.git/worktrees/one/commondir"), "../..\n");
  mkdirSync(join(base, "elsewhere"));
  writeFileSync(join(base, "elsewhere/.git"), `gitdir: ${join(base, "outer/.git/worktrees/one")}\n`);
  expect(projectAt(projects, join(base, "elsewhere"))?.name).toBe("outer");
});

test("a submodule and any other repository inside of a project are not the project", () => {
  const nested = join(base, "outer/vendor/library");
  mkdirSync(join(nested, ".git"), { recursive: true });
  mkdirSync(join(nested, "src"));
  mkdirSync(join(base, "outer/.git/modules/sub"), { recursive: true });
  mkdirSync(join(base, "outer/sub"));
  writeFileSync(join(base, "outer/sub/.git"), "gitdir: ../.git/modules/sub\n");
  expect(projectAt(projects, join(nested, "src"))).toBeUndefined();
  expect(projectAt(projects, join(base, "outer/sub"))).toBeUndefined();
  expect(projectAt(projects, join(base, "outer/vendor"))?.name).toBe("outer");
  expect(noProjectHere(projects, nested).message).toContain(
    'is not a project, although it is in the folder of "outer"',
  );
});

test("a worktree inside its project belongs to it, and a worktree of a bare repository does not belong to the project around it", () => {
  mkdirSync(join(base, "outer/.worktrees/two"), { recursive: true });
  mkdirSync(join(base, "outer/.git/worktrees/two"), { recursive: true });
  writeFileSync(join(base, "outer/.git/worktrees/two/commondir"), "../..\n");
  writeFileSync(join(base, "outer/.worktrees/two/.git"), `gitdir: ${join(base, "outer/.git/worktrees/two")}\n`);
  expect(projectAt(projects, join(base, "outer/.worktrees/two"))?.name).toBe("outer");
  mkdirSync(join(base, "outer/bare.git/worktrees/three"), { recursive: true });
  writeFileSync(join(base, "outer/bare.git/worktrees/three/commondir"), "../..\n");
  mkdirSync(join(base, "three"));
  writeFileSync(join(base, "three/.git"), `gitdir: ${join(base, "outer/bare.git/worktrees/three")}\n`);
  expect(projectAt(projects, join(base, "three"))).toBeUndefined();
});

test("a project that is registered by a symbolic link is found from its real path", () => {
  symlinkSync(join(base, "outer"), join(base, "linked"));
  expect(projectAt([project("linked", join(base, "linked"))], join(base, "outer/vendor"))?.name).toBe("linked");
});

test("an unknown project name is answered with the nearest name", () => {
  expect(() => projectNamed(projects, "iner")).toThrow('There is no project "iner".');
  expect(projectNamed(projects, "inner").path).toBe(join(base, "outer/inner"));
});

test("every folder name becomes a valid project name", () => {
  expect(nameFrom("/home/ann/coffee")).toBe("coffee");
  expect(nameFrom("/home/ann/My Café (2)")).toBe("My-Cafe-2");
  expect(nameFrom("/home/ann/.dotfiles")).toBe("dotfiles");
  expect(nameFrom("/home/ann/コーヒー")).toBe("project");
  expect(nameFrom(`/home/ann/${"x".repeat(80)}`)).toHaveLength(50);
});

const repositories = mkdtempSync(join(tmpdir(), "signalbox-git-"));
afterAll(() => rmSync(repositories, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(repositories, path, ".."), { recursive: true });
  writeFileSync(join(repositories, path), text);
}

test("the branch of a repository is found from any folder in it", () => {
  write("plain/.git/HEAD", "ref: refs/heads/feature/stronger\n");
  write("plain/src/deep/file", "");
  expect(branchAt(join(repositories, "plain/src/deep"))).toBe("feature/stronger");
  expect(mainRepository(join(repositories, "plain/src/deep"))).toBe(join(repositories, "plain"));
});

test("a worktree has its own branch, and belongs to its repository", () => {
  write("main/.git/HEAD", "ref: refs/heads/main\n");
  write("main/.git/worktrees/one/HEAD", "ref: refs/heads/one\n");
  write("main/.git/worktrees/one/commondir", "../..\n");
  write("elsewhere/.git", `gitdir: ${join(repositories, "main/.git/worktrees/one")}\n`);
  expect(branchAt(join(repositories, "elsewhere"))).toBe("one");
  expect(mainRepository(join(repositories, "elsewhere"))).toBe(join(repositories, "main"));
});

test("the branch of a submodule is found from its own folder", () => {
  write("main/.git/modules/lib/HEAD", "ref: refs/heads/lib\n");
  write("main/lib/.git", "gitdir: ../.git/modules/lib\n");
  expect(branchAt(join(repositories, "main/lib"))).toBe("lib");
  expect(mainRepository(join(repositories, "main/lib"))).toBe(join(repositories, "main/lib"));
});

test("with a detached HEAD or broken git files there is no branch", () => {
  write("detached/.git/HEAD", "1f0c2d3e4f5a69788796a5b4c3d2e1f001234567\n");
  write("broken/.git", "nonsense");
  expect(branchAt(join(repositories, "detached"))).toBeUndefined();
  expect(branchAt(join(repositories, "broken"))).toBeUndefined();
  expect(mainRepository(join(repositories, "broken"))).toBeUndefined();
});
