import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../test/remove-folder.ts";
import { findProgram, isProgram } from "./find-program.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-find-"));
afterAll(() => removeFolder(root));

test("a program is the first executable file with that name", () => {
  for (const name of ["a", "b", "c"]) mkdirSync(join(root, name));
  mkdirSync(join(root, "a", "agent"));
  writeFileSync(join(root, "b", "agent"), "", { mode: 0o644 });
  writeFileSync(join(root, "c", "agent"), "", { mode: 0o755 });
  const path = ["a", "b", "c"].map((name) => join(root, name)).join(":");
  expect(findProgram("agent", path)).toBe(join(root, "c", "agent"));
  expect(findProgram(join(root, "c", "agent"), "")).toBe(join(root, "c", "agent"));
  expect(findProgram("other", path)).toBe("");
  expect(["a", "b", "c"].map((name) => isProgram(join(root, name, "agent")))).toEqual([false, false, true]);
});

test("neither a program in the current folder nor a relative path is found", () => {
  expect(findProgram("signalbox", "bin:./bin:")).toBe("");
  expect(findProgram("bin/signalbox", process.cwd())).toBe("");
});
