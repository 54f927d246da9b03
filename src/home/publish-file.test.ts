import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { publishFile } from "./publish-file.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-publish-"));
afterAll(() => rmSync(base, { recursive: true }));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(base, "case-"));
});
const modeOf = (path: string) => statSync(path).mode & 0o777;

test("a file is written and replaced, and nothing else is left in its folder", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "one");
  publishFile(file, "two");
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});

test("whoever has the old file open goes on reading the old text", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "old");
  const { ino } = statSync(file);
  publishFile(file, "new");
  expect(statSync(file).ino).not.toBe(ino);
});

test("a file keeps its permissions, and has those that are asked for", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "one");
  chmodSync(file, 0o666);
  publishFile(file, "two");
  expect(modeOf(file)).toBe(0o666);
  publishFile(file, "three", { mode: 0o600 });
  expect(modeOf(file)).toBe(0o600);
});

test("a link stays a link", () => {
  mkdirSync(join(folder, "dotfiles"));
  const target = join(folder, "dotfiles", "config.yml");
  const link = join(folder, "config.yml");
  writeFileSync(target, "old");
  symlinkSync(target, link);
  publishFile(link, "new");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, "utf8")).toBe("new");
});

test("a file that must not be replaced stays as it is", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "one", { replace: false });
  expect(() => publishFile(file, "two", { replace: false })).toThrow(
    expect.objectContaining({ name: "Fault", code: "exists" }),
  );
  expect(readFileSync(file, "utf8")).toBe("one");
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});

test("what cannot be written is a Fault that says why, and leaves nothing behind", () => {
  expect(() => publishFile(join(folder, "none", "a.txt"), "")).toThrow(/cannot be written \(ENOENT\)/);
  expect(() => publishFile("/dev/null/a.txt", "")).toThrow(/cannot be written \(ENOTDIR\)/);
  mkdirSync(join(folder, "a.txt"));
  expect(() => publishFile(join(folder, "a.txt"), "")).toThrow(/cannot be written \(EISDIR\)/);
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});
