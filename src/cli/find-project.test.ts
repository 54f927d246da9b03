import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ProjectView } from "../api/routes.ts";
import { noProjectHere, projectAt, projectNamed } from "./find-project.ts";
import { nameFrom } from "./register-project.ts";

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

test("the innermost project that contains a folder is meant", () => {
  expect(projectAt(projects, join(base, "outer"))?.name).toBe("outer");
  expect(projectAt(projects, join(base, "outer/inner/src"))?.name).toBe("inner");
  expect(projectAt(projects, join(base, "outer-two"))).toBeUndefined();
});

test("links are followed to where a folder really is", () => {
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
    'is not a project, although it lies in the folder of "outer"',
  );
});

test("a worktree inside of its project belongs to it, and one of a bare repository to no project beside that", () => {
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

test("a project that is registered by a link is found from where it really is", () => {
  symlinkSync(join(base, "outer"), join(base, "linked"));
  expect(projectAt([project("linked", join(base, "linked"))], join(base, "outer/vendor"))?.name).toBe("linked");
});

test("a name that is not there is answered with what was meant", () => {
  expect(() => projectNamed(projects, "iner")).toThrow('There is no project "iner".');
  expect(projectNamed(projects, "inner").path).toBe(join(base, "outer/inner"));
});

test("any folder gives a name that a project can have", () => {
  expect(nameFrom("/home/ann/coffee")).toBe("coffee");
  expect(nameFrom("/home/ann/My Café (2)")).toBe("My-Cafe-2");
  expect(nameFrom("/home/ann/.dotfiles")).toBe("dotfiles");
  expect(nameFrom("/home/ann/コーヒー")).toBe("project");
  expect(nameFrom(`/home/ann/${"x".repeat(80)}`)).toHaveLength(50);
});
