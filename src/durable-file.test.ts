import {
  chmodSync,
  existsSync,
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
import { basename, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { recordSyncs } from "../test/record-syncs.ts";
import {
  draftOf,
  linkFirst,
  publishFile,
  syncFolder,
  syncFolderIfThere,
  syncFolderSync,
  writerOf,
  writeWhole,
  writeWholeSync,
} from "./durable-file.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-publish-"));
afterAll(() => rmSync(base, { recursive: true }));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(base, "case-"));
});
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe.each([
  ["writeWhole", writeWhole],
  ["writeWholeSync", async (...args: Parameters<typeof writeWholeSync>) => writeWholeSync(...args)],
] as const)("%s", (_, write) => {
  test("a file is written and replaced, and nothing else is left in its folder", async () => {
    const file = join(folder, "a.txt");
    expect(await write(file, "one")).toBe(true);
    expect(await write(file, Buffer.from([0xff]))).toBe(true);
    expect(readFileSync(file)).toEqual(Buffer.from([0xff]));
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });

  test("the content and the name are fsynced; without fsync neither is", async () => {
    const file = join(folder, "a.txt");
    const syncs = await recordSyncs();
    await write(file, "one", { fsync: false });
    expect([syncs.has(file), syncs.has(folder)]).toEqual([false, false]);
    await write(file, "two");
    expect([syncs.has(file), syncs.has(folder)]).toEqual([true, true]);
  });

  test("a file gets the requested permissions whatever the umask, and keeps its own only if requested", async () => {
    const file = join(folder, "a.txt");
    await write(file, "one", { mode: 0o666 });
    expect(modeOf(file)).toBe(0o666);
    await write(file, "two", { mode: "kept" });
    expect(modeOf(file)).toBe(0o666);
    await write(file, "three");
    expect(modeOf(file)).toBe(0o666 & ~process.umask());
  });

  test("a link is replaced, and its target is not touched; with followsLinks the target is written", async () => {
    const target = join(folder, "target");
    const link = join(folder, "link");
    writeFileSync(target, "old");
    symlinkSync(target, link);
    await write(link, "new", { followsLinks: true });
    expect([lstatSync(link).isSymbolicLink(), readFileSync(target, "utf8")]).toEqual([true, "new"]);
    await write(link, "own");
    expect([lstatSync(link).isFile(), readFileSync(target, "utf8")]).toEqual([true, "new"]);
  });

  test("a file that must not be replaced stays, the answer is false, and its name is fsynced", async () => {
    const file = join(folder, "a.txt");
    expect(await write(file, "one", { replace: false })).toBe(true);
    const syncs = await recordSyncs();
    expect(await write(file, "two", { replace: false })).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
    expect(syncs.has(folder)).toBe(true);
  });

  test("with before, only a plain file with exactly that text is replaced", async () => {
    const file = join(folder, "a.txt");
    expect(await write(file, "new", { before: "old" })).toBe(false);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, "older");
    expect(await write(file, "new", { before: "old" })).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("older");
    expect(await write(file, "new", { before: "older" })).toBe(true);
    symlinkSync(file, join(folder, "link"));
    expect(await write(join(folder, "link"), "other", { before: "new" })).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readdirSync(folder).toSorted()).toEqual(["a.txt", "link"]);
  });

  test("a failed write is a system error, and leaves no draft", async () => {
    await expect(write(join(folder, "none", "a.txt"), "")).rejects.toMatchObject({ code: "ENOENT" });
    mkdirSync(join(folder, "a.txt"));
    await expect(write(join(folder, "a.txt"), "")).rejects.toMatchObject({ code: "EISDIR" });
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });
});

test("the name of a draft contains its file and its process, and so does that of the old file kept aside", () => {
  const draft = basename(draftOf(join(folder, "a.md")));
  expect(writerOf(draft, "a.md")).toEqual({ pid: process.pid, isOld: false });
  expect(writerOf(draft, "b.md")).toBeUndefined();
  expect(writerOf("a.md.17-ab-before.draft", "a.md")).toEqual({ pid: 17, isOld: true });
  expect(writerOf("a.md", "a.md")).toBeUndefined();
});

test("of two drafts the first gets the name", () => {
  const file = join(folder, "a");
  for (const name of ["one", "two"]) writeFileSync(join(folder, name), name);
  expect([linkFirst(join(folder, "one"), file), linkFirst(join(folder, "two"), file)]).toEqual([true, false]);
  expect(readFileSync(file, "utf8")).toBe("one");
});

test("a folder is fsynced; a missing folder is an error unless it may be missing", async () => {
  const syncs = await recordSyncs();
  await syncFolder(folder);
  expect(syncs.has(folder)).toBe(true);
  syncs.forget();
  syncFolderSync(folder);
  expect(syncs.has(folder)).toBe(true);
  syncs.forget();
  await syncFolderIfThere(folder);
  expect(syncs.has(folder)).toBe(true);
  const gone = join(folder, "gone");
  await expect(syncFolder(gone)).rejects.toMatchObject({ code: "ENOENT" });
  expect(() => syncFolderSync(gone)).toThrow(/ENOENT/);
  await syncFolderIfThere(gone);
});

test("publishFile: a file is written and replaced, and nothing else is left in its folder", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "one");
  publishFile(file, "two");
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});

test("publishFile: a reader that has the old file open still reads the old text", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "old");
  const { ino } = statSync(file);
  publishFile(file, "new");
  expect(statSync(file).ino).not.toBe(ino);
});

test("a file keeps its permissions, or gets the requested ones", () => {
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

test("a file that must not be replaced stays unchanged", () => {
  const file = join(folder, "a.txt");
  publishFile(file, "one", { replace: false });
  expect(() => publishFile(file, "two", { replace: false })).toThrow(
    expect.objectContaining({ name: "Fault", code: "exists" }),
  );
  expect(readFileSync(file, "utf8")).toBe("one");
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});

test("a failed write is a Fault with the reason, and leaves no file behind", () => {
  expect(() => publishFile(join(folder, "none", "a.txt"), "")).toThrow(/cannot be written \(ENOENT\)/);
  expect(() => publishFile("/dev/null/a.txt", "")).toThrow(/cannot be written \(ENOTDIR\)/);
  mkdirSync(join(folder, "a.txt"));
  expect(() => publishFile(join(folder, "a.txt"), "")).toThrow(/cannot be written \(EISDIR\)/);
  expect(readdirSync(folder)).toEqual(["a.txt"]);
});
