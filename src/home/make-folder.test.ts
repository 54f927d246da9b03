import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeFolder, makePrivateFolder } from "./make-folder.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-folder-"));
afterAll(() => rmSync(base, { recursive: true }));
const modeOf = (path: string) => statSync(path).mode & 0o777;
const isRoot = process.getuid?.() === 0;

test("a folder is created with its parents, and creating it again changes nothing", () => {
  const folder = join(base, "a", "b", "c");
  makeFolder(folder, 0o750);
  chmodSync(folder, 0o711);
  makeFolder(folder, 0o750);
  expect([modeOf(folder), modeOf(join(base, "a"))]).toEqual([0o711, 0o750]);
});

test("a folder that cannot be created is a Fault that says why", () => {
  writeFileSync(join(base, "file"), "");
  expect(() => makeFolder(join(base, "file", "inner"))).toThrow(
    /The folder .*file\/inner cannot be created \(EEXIST\)/,
  );
  expect(() => makePrivateFolder(join(base, "file"))).toThrow(/cannot be created \(EEXIST\)/);
});

describe("a private folder", () => {
  test("is created for the user alone, and so are its missing parents", () => {
    const folder = join(base, "home", "run");
    makePrivateFolder(folder);
    expect([modeOf(folder), modeOf(join(base, "home"))]).toEqual([0o700, 0o700]);
  });

  test("is restricted where it was open, and its parent is left alone", () => {
    mkdirSync(join(base, "open", "run"), { recursive: true });
    chmodSync(join(base, "open"), 0o755);
    chmodSync(join(base, "open", "run"), 0o777);
    makePrivateFolder(join(base, "open", "run"));
    expect([modeOf(join(base, "open", "run")), modeOf(join(base, "open"))]).toEqual([0o700, 0o755]);
  });

  test("may be the user's own link to the user's own folder", () => {
    mkdirSync(join(base, "target"));
    symlinkSync(join(base, "target"), join(base, "link"));
    makePrivateFolder(join(base, "link"));
    expect(modeOf(join(base, "target"))).toBe(0o700);
  });

  test("is refused where it belongs to another user", () => {
    const foreign = isRoot ? join(base, "foreign") : "/usr";
    if (isRoot) {
      mkdirSync(foreign);
      chownSync(foreign, 12_345, 12_345);
    }
    const before = modeOf(foreign);
    expect(() => makePrivateFolder(foreign)).toThrow(`The folder ${foreign} belongs to another user.`);
    expect(modeOf(foreign)).toBe(before);
  });
});
