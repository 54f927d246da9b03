import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lastTouched } from "./run-signs.ts";

const long = new Date("2020-01-01");

function repository() {
  const base = mkdtempSync(join(tmpdir(), "signalbox-touched-"));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], { stdio: "pipe" });
  execFileSync("git", ["init", "-q", "-b", "main", join(base, "coffee")]);
  git(join(base, "coffee"), "commit", "-q", "--allow-empty", "-m", "first");
  const folder = join(base, "workspace");
  git(join(base, "coffee"), "worktree", "add", "-q", "-b", "work", folder);
  writeFileSync(join(folder, "TASK.md"), "");
  const ofGit = join(base, "coffee", ".git", "worktrees", "workspace");
  for (const path of [
    join(folder, "TASK.md"),
    join(ofGit, "index"),
    join(ofGit, "HEAD"),
    join(ofGit, "logs", "HEAD"),
    folder,
  ])
    utimesSync(path, long, long);
  return { folder, git };
}

test("a commit or a staged change is a sign of life, in a worktree too", async () => {
  const { folder, git } = repository();
  expect(await lastTouched(folder, "TASK.md")).toBe(long.getTime());
  git(folder, "commit", "-q", "--allow-empty", "-m", "second");
  expect(await lastTouched(folder, "TASK.md")).toBeGreaterThan(long.getTime());
});

test("a change to the task file is a sign of life", async () => {
  const { folder } = repository();
  writeFileSync(join(folder, "TASK.md"), "## Plan\n");
  utimesSync(folder, long, long);
  expect(await lastTouched(folder, "TASK.md")).toBeGreaterThan(long.getTime());
});

test("a missing workspace shows no sign of life", async () => {
  expect(await lastTouched(join(tmpdir(), "signalbox-nowhere"), "TASK.md")).toBe(0);
});
