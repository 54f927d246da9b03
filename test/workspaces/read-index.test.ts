import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasPath, isSameContent, isSound, readIndex } from "../../src/adapters/git/workspace/changes.ts";
import { removeFolder } from "../remove-folder.ts";

function repository(...options: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-index-"));
  onTestFinished(() => removeFolder(folder));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      encoding: "latin1",
    });
  git("init", "--quiet", ...options);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const bytes = () => readFileSync(join(folder, ".git/index"));
  /** The entries that git lists. */
  const staged = () =>
    git("ls-files", "--stage", "-z")
      .split("\0")
      .filter((line) => line !== "");
  return { folder, git, write, bytes, staged };
}

/** An index in the format of `git ls-files --stage`. */
function shown(bytes: Buffer, idLength = 40) {
  return readIndex(bytes, idLength)?.map(({ is, path }) => {
    const mode = is.readUInt32BE(0).toString(8).padStart(6, "0");
    return `${mode} ${is.toString("hex", 4, is.length - 1)} ${is.at(-1)}\t${path.toString("latin1")}`;
  });
}

test.each([
  ["sha1", 40],
  ["sha256", 64],
])("an index with ids of %s is read as git reads it", (format, idLength) => {
  const { git, write, bytes, staged } = repository(`--object-format=${format}`);
  for (let length = 1; length < 20; length++) write(`${"x".repeat(length)}/y`, `${length}\n`);
  write("grün/TASK.md", "task\n");
  write("z".repeat(250), "long\n");
  git("add", "--all");
  git("update-index", "--chmod=+x", "x/y");
  expect(shown(bytes(), idLength)).toEqual(staged());
  expect(isSound(bytes(), idLength)).toBe(true);
  git("commit", "--quiet", "-m", "first");
  git("update-index", "--skip-worktree", "xx/y");
  expect(bytes().readUInt32BE(4)).toBe(3);
  expect(shown(bytes(), idLength)).toEqual(staged());
  const content = readIndex(bytes(), idLength) ?? [];
  expect(["grün", "grün/TASK.md", "x/y", "TASK.md", "x/", "grün/TASK"].map((path) => hasPath(content, path))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("two indexes are the same only if all files are, with modes and contents", () => {
  const { git, write, bytes } = repository();
  write("a", "a\n");
  write("b", "b\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "first");
  const first = readIndex(bytes(), 40);
  git("update-index", "--assume-unchanged", "a");
  expect(isSameContent(first, readIndex(bytes(), 40))).toBe(true);
  for (const change of [
    () => git("update-index", "--chmod=+x", "b"),
    () => [write("b", "B\n"), git("add", "b")],
    () => [write("c", "c\n"), git("add", "c")],
    () => git("rm", "--quiet", "--cached", "-f", "b"),
    () => git("mv", "b", "d"),
  ]) {
    git("reset", "--quiet", "--hard");
    git("clean", "-qfd");
    expect(isSameContent(first, readIndex(bytes(), 40))).toBe(true);
    change();
    expect(isSameContent(first, readIndex(bytes(), 40))).toBe(false);
  }
});

test("an index of another kind, or a truncated one, is left to git", () => {
  const { git, write, bytes } = repository();
  write("a", "a\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "first");
  const whole = bytes();
  for (let length = 0; length < whole.length; length++) {
    const part = whole.subarray(0, length);
    expect(isSameContent(readIndex(part, 40), readIndex(whole, 40)) && isSound(part, 40)).toBe(false);
  }
  write("meant", "later\n");
  git("add", "--intent-to-add", "meant");
  expect(readIndex(bytes(), 40)).toBeUndefined();
  git("reset", "--quiet");
  git("update-index", "--split-index");
  expect(readIndex(bytes(), 40)).toBeUndefined();
  git("update-index", "--no-split-index");
  git("update-index", "--index-version", "4");
  expect(readIndex(bytes(), 40)).toBeUndefined();
});
