import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { entryAt, entryIfSeen, isFolder, namesIn, pathIn, targetAt } from "./file-entries.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-entries-"));
afterAll(() => removeFolder(root));
const file = join(root, "file");
writeFileSync(file, "");
symlinkSync(file, join(root, "link"));
symlinkSync(join(root, "loop"), join(root, "loop"));
mkdirSync(join(root, "folder"));

test("an entry is what is at the path itself, and its target is what a link leads to", () => {
  expect(entryAt(file)?.isFile()).toBe(true);
  expect(entryAt(join(root, "link"))?.isSymbolicLink()).toBe(true);
  expect(targetAt(join(root, "link"))?.isFile()).toBe(true);
  expect([isFolder(root), isFolder(file), isFolder(join(root, "none"))]).toEqual([true, false, false]);
});

test("nothing is at a path that leads nowhere, through a file, or is too long", () => {
  for (const path of [join(root, "none"), join(file, "x"), join(root, "x".repeat(5_000))])
    expect([entryAt(path), entryIfSeen(path)]).toEqual([undefined, undefined]);
});

test("a path that cannot be looked at is an error, unless that may be", () => {
  const path = join(root, "loop", "x");
  expect(() => entryAt(path)).toThrow(/ELOOP/);
  expect([entryIfSeen(path), targetAt(path)]).toEqual([undefined, undefined]);
});

test("a folder that is not there has no names, and names may be any bytes", async () => {
  expect(await namesIn(join(root, "none"))).toEqual([]);
  expect(await namesIn(file)).toEqual([]);
  const odd = pathIn(root, Uint8Array.of(0xff));
  writeFileSync(odd, "");
  expect(entryAt(odd)?.isFile()).toBe(true);
});
