import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findRepository } from "./places.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-repository-"));
afterAll(() => rmSync(base, { recursive: true }));

test("the repository of a folder is the nearest one above it; in a worktree .git is a file", () => {
  mkdirSync(join(base, "app", ".git"), { recursive: true });
  mkdirSync(join(base, "app", "src", "deep"), { recursive: true });
  mkdirSync(join(base, "app", "tree", "src"), { recursive: true });
  writeFileSync(join(base, "app", "tree", ".git"), "gitdir: elsewhere\n");
  expect(findRepository(join(base, "app"))).toBe(join(base, "app"));
  expect(findRepository(join(base, "app", "src", "deep"))).toBe(join(base, "app"));
  expect(findRepository(join(base, "app", "tree", "src"))).toBe(join(base, "app", "tree"));
});

test("a folder that is in no repository has none", () => {
  expect(findRepository(base)).toBeUndefined();
});
