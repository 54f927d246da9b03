import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ProjectView } from "../api/routes.ts";
import { projectAt, projectNamed } from "./find-project.ts";
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
