import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeFolder, makePrivateFolder } from "./make-folder.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-folder-"));
afterAll(() => rmSync(base, { recursive: true }));
const modeOf = (path: string) => statSync(path).mode & 0o777;
const isRoot = process.getuid?.() === 0;

test("a folder is made with those above it, and making it again changes nothing", () => {
  const folder = join(base, "a", "b", "c");
  makeFolder(folder, 0o750);
  chmodSync(folder, 0o711);
  makeFolder(folder, 0o750);
  expect([modeOf(folder), modeOf(join(base, "a"))]).toEqual([0o711, 0o750]);
});

test("a folder that cannot be made is a Fault that says why", () => {
  writeFileSync(join(base, "file"), "");
  expect(() => makeFolder(join(base, "file", "inner"))).toThrow(/The folder .*file\/inner cannot be made \(EEXIST\)/);
  expect(() => makePrivateFolder(join(base, "file"))).toThrow(/cannot be made \(EEXIST\)/);
});

describe("a private folder", () => {
  test("is closed to others, and so are the folders that had to be made for it", () => {
    const folder = join(base, "home", "run");
    makePrivateFolder(folder);
    expect([modeOf(folder), modeOf(join(base, "home"))]).toEqual([0o700, 0o700]);
  });

  test("is closed where it was open, and the folder above it is left alone", () => {
    mkdirSync(join(base, "open", "run"), { recursive: true });
    chmodSync(join(base, "open"), 0o755);
    chmodSync(join(base, "open", "run"), 0o777);
    makePrivateFolder(join(base, "open", "run"));
    expect([modeOf(join(base, "open", "run")), modeOf(join(base, "open"))]).toEqual([0o700, 0o755]);
  });

  test("may be a link of ours to a folder of ours", () => {
    mkdirSync(join(base, "target"));
    symlinkSync(join(base, "target"), join(base, "link"));
    makePrivateFolder(join(base, "link"));
    expect(modeOf(join(base, "target"))).toBe(0o700);
  });

  test("is refused where it belongs to somebody else", () => {
    const foreign = isRoot ? join(base, "foreign") : "/usr";
    if (isRoot) {
      mkdirSync(foreign);
      chownSync(foreign, 12_345, 12_345);
    }
    const before = modeOf(foreign);
    expect(() => makePrivateFolder(foreign)).toThrow(`The folder ${foreign} belongs to somebody else.`);
    expect(modeOf(foreign)).toBe(before);
  });
});
