import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import { seedConfig } from "./config.ts";

let root = "";
let file = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-seed-")));
  file = join(root, ".claude.json");
});
afterEach(() => removeFolder(root));

const read = () => JSON.parse(readFileSync(file, "utf8"));
const seed = (folder: string, apiKey = "") => seedConfig({ file, folder, apiKey });

test("existing entries stay, and only missing ones are added", async () => {
  const before = {
    theme: "light",
    hasCompletedOnboarding: false,
    customApiKeyResponses: { approved: ["other"], rejected: ["no"], more: 1 },
    projects: { "/other": { lastCost: 3 }, "/work": { allowedTools: ["Bash"] } },
  };
  writeFileSync(file, JSON.stringify(before));
  chmodSync(file, 0o640);
  await seed("/work", "sk-ant-0123456789-abcdefghijklmnopqrst");
  const ofFolder = { hasTrustDialogAccepted: true, hasClaudeMdExternalIncludesWarningShown: true };
  expect(read()).toEqual({
    theme: "light",
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: ["other", "abcdefghijklmnopqrst"], rejected: ["no"], more: 1 },
    projects: { "/other": { lastCost: 3 }, "/work": { allowedTools: ["Bash"], ...ofFolder } },
  });
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("a second call writes nothing", async () => {
  await seed("/work", "key");
  const { ino, mtimeNs } = statSync(file, { bigint: true });
  await seed("/work", "key");
  const after = statSync(file, { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([ino, mtimeNs]);
});

test("a key that the user has rejected stays rejected", async () => {
  writeFileSync(file, JSON.stringify({ customApiKeyResponses: { approved: [], rejected: ["key"] } }));
  await seed("/work", "key");
  expect(read().customApiKeyResponses).toEqual({ approved: [], rejected: ["key"] });
});

test("if the folder is a link, both of its names are trusted", async () => {
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "link"));
  await seed(join(root, "link"));
  expect(Object.keys(read().projects)).toHaveLength(2);
});

test.each([
  ["a repository", []],
  ["a bare repository", ["--bare"]],
] as const)("a worktree of %s is trusted, and the repository is not", async (_, kind) => {
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, stdio: "pipe" });
  git("init", "-q", ...kind, "repository");
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  const tree = git("-C", "repository", "hash-object", "-w", "-t", "tree", "/dev/null").toString().trim();
  const commit = git("-C", "repository", ...identity, "commit-tree", tree, "-m", "Start")
    .toString()
    .trim();
  git("-C", "repository", "worktree", "add", "-q", "../work", commit);
  await seed(join(root, "work"));
  const { [join(root, "repository")]: repository, [join(root, "work")]: work } = read().projects;
  expect(repository).toEqual({ hasClaudeMdExternalIncludesWarningShown: true });
  expect(work.hasTrustDialogAccepted).toBe(true);
});

test("concurrent processes do not lose each other's entries", async () => {
  const module = join(import.meta.dirname, "config.ts");
  const code = `const { seedConfig } = await import(${JSON.stringify(module)});
    for (let n = 0; n < 10; n++) await seedConfig({ file: ${JSON.stringify(file)}, folder: "/w/" + process.argv[1] + "-" + n, apiKey: "" });`;
  const run = promisify(execFile);
  await Promise.all([1, 2, 3, 4].map((n) => run(process.execPath, ["--input-type=module", "-e", code, String(n)])));
  expect(Object.keys(read().projects)).toHaveLength(40);
  expect(readdirSync(root)).toEqual([".claude.json"]);
});

test("a stale lock is removed, and no file is left behind", async () => {
  mkdirSync(`${file}.lock`);
  utimesSync(`${file}.lock`, new Date(0), new Date(0));
  await seed("/work");
  expect(existsSync(`${file}.lock`)).toBe(false);
  expect(read().hasCompletedOnboarding).toBe(true);
});

test("a file that is not JSON is not changed", async () => {
  writeFileSync(file, '{"projects": {');
  await expect(seed("/work")).rejects.toMatchObject({ code: "harness.configuration" });
  expect(readFileSync(file, "utf8")).toBe('{"projects": {');
});
