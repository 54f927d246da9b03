import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { findProgram } from "./find-program.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-find-"));
afterAll(() => removeFolder(root));

test("a program is the first file of that name that may be run", () => {
  for (const name of ["a", "b", "c"]) mkdirSync(join(root, name));
  mkdirSync(join(root, "a", "agent"));
  writeFileSync(join(root, "b", "agent"), "", { mode: 0o644 });
  writeFileSync(join(root, "c", "agent"), "", { mode: 0o755 });
  const path = ["a", "b", "c"].map((name) => join(root, name)).join(":");
  expect(findProgram("agent", path)).toBe(join(root, "c", "agent"));
  expect(findProgram(join(root, "c", "agent"), "")).toBe(join(root, "c", "agent"));
  expect(findProgram("other", path)).toBe("");
});

test("what lies in the folder where one happens to be is not found", () => {
  expect(findProgram("package.json", ".:")).toBe("");
});
