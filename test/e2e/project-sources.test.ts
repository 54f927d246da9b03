import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-sources-")));
const home = join(base, "home");
const origin = join(base, "coffee.git");

function signalbox(...args: string[]) {
  return signalboxIn(base, ...args);
}
function signalboxIn(cwd: string, ...args: string[]) {
  const env = { ...process.env, SIGNALBOX_HOME: home, NO_COLOR: "1" };
  const all = [cliFile, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd, env, encoding: "utf8" });
  return { status, stdout, stderr };
}
function git(folder: string, ...args: string[]) {
  const me = ["-c", "user.name=A", "-c", "user.email=a@b"];
  return execFileSync("git", ["-C", folder, ...me, ...args], { encoding: "utf8" }).trim();
}

beforeAll(() => {
  mkdirSync(origin);
  git(origin, "init", "-q", "-b", "trunk");
  writeFileSync(join(origin, "recipe.md"), "beans\n");
  git(origin, "add", "-A");
  git(origin, "commit", "-qm", "first");
});
afterAll(() => {
  signalbox("down");
  removeFolder(base);
});

test("a project is cloned from its address, also after an interruption, and the clone is kept when the project is removed", () => {
  const folder = join(home, "repositories", "coffee");
  // The leftover of a killed clone.
  mkdirSync(join(`${folder}.new`, ".git"), { recursive: true });
  const added = signalbox("project", "add", `file://${origin}`);
  expect(added.stderr).toContain("Each task works in a clone, which shares nothing with your repository.\n");
  expect(added.stderr).not.toContain("LFS");
  expect(added.stderr).toContain(`Cloning file://${origin} into`);
  expect(added).toMatchObject({ status: 0, stdout: `coffee  ${folder}\n` });
  expect(existsSync(`${folder}.new`)).toBe(false);
  expect(readFileSync(join(folder, "recipe.md"), "utf8")).toBe("beans\n");
  expect(signalbox("project", "list").stdout).toMatch(/^coffee .* clone +trunk +\//m);
  expect(signalbox("project", "update", "coffee", "--workspaces", "worktree").stdout).toBe("workspaces: worktree\n");
  expect(signalbox("project", "update", "coffee", "--workspaces", "copy").status).toBe(2);
  const again = signalbox("project", "add", `file://${origin}`);
  expect(again.status).toBe(1);
  expect(again.stderr).toContain("--name NAME");
  expect(signalbox("project", "remove", "coffee", "--yes").stderr).toContain(`The clone is kept: ${folder}`);
  expect(signalbox("project", "add", `file://${origin}`)).toMatchObject({ status: 0 });
  expect(signalbox("project", "add", "http://localhost/x.git").stderr).toContain("https:// or ssh://");
  expect(existsSync(join(home, "repositories", "x"))).toBe(false);
});

test("a repository is registered from any folder in it, and its problems are reported", () => {
  const [milk, side, bare, empty] = ["milk", "side", "bare ü.git", "empty"].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  git(base, "clone", "-q", origin, milk);
  // Without "main" and "master", the only branch is the default.
  git(milk, "checkout", "-q", "--detach");
  const made = signalboxIn(milk, "init", "--json");
  expect(JSON.parse(made.stdout)).toMatchObject({ name: "milk", defaultBranch: "trunk" });
  git(milk, "worktree", "add", "-q", "-b", "side", side);
  const again = signalboxIn(side, "init");
  expect(again).toMatchObject({ status: 0, stdout: `milk  ${milk}\n` });
  expect(again.stderr).toContain("It is already a project.");

  git(base, "init", "-q", "--bare", bare);
  const none = signalboxIn(bare, "init");
  expect(none.status).toBe(3);
  expect(none.stderr).toContain("is a bare repository, without files to work on.\n");
  expect(none.stderr).toContain(`signalbox project add file://${base}/bare%20%C3%BC.git`);

  git(base, "init", "-q", empty);
  expect(signalboxIn(empty, "init").stderr).toContain("It has no commit yet, and agents need one to start from: git ");

  const slip = signalbox("project", "update", "milk", "--harness", "clade");
  expect(slip).toMatchObject({ status: 1, stdout: "" });
  expect(slip.stderr).toMatch(/^error: There is no harness "clade"\.\nKnown harnesses: claude, codex/);
  expect(signalbox("project", "update", "milk", "--review-harness", "clade").status).toBe(1);
  expect(signalbox("project", "update", "milk", "--harness", "", "--review-harness", "codex").status).toBe(0);
});

test("changed git configuration is shown, and trusted when a person agrees", () => {
  const folder = join(home, "repositories", "coffee");
  expect(signalbox("project", "trust", "coffee").stderr).toContain("Nothing has changed");
  git(folder, "config", "core.hooksPath", ".husky/_");
  mkdirSync(join(folder, ".git", "hooks"), { recursive: true });
  writeFileSync(join(folder, ".git", "hooks", "pre-push"), "#!/bin/sh\n");
  const asked = signalbox("project", "trust", "coffee");
  expect(asked.status).toBe(2);
  expect(asked.stdout).toBe("added    core.hookspath\nadded    hooks/pre-push\n");
  expect(asked.stderr).toContain("--yes");
  expect(signalbox("project", "trust", "coffee", "--yes").status).toBe(0);
  expect(JSON.parse(signalbox("project", "trust", "coffee", "--json").stdout).changes).toEqual([]);
  expect(signalbox("project", "trust", "tea").status).toBe(3);
});

test("a configuration with commands is trusted by its content", () => {
  const folder = join(home, "repositories", "coffee");
  mkdirSync(join(folder, ".signalbox"));
  writeFileSync(join(folder, ".signalbox", "config.yml"), "setup: [npm, ci]\n");
  const trusted = signalbox("trust", "--config", "--project", "coffee");
  expect(trusted).toMatchObject({ status: 0, stdout: `${join(folder, ".signalbox", "config.yml")}\n` });
  expect(trusted.stderr).toContain("may run: setup.");
  expect(signalbox("trust").status).toBe(2);
  expect(signalbox("trust", "default", "--config").status).toBe(2);
});

test("the kind of workspaces is said where a project is registered, with what it means for this repository", () => {
  const photos = join(base, "photos");
  git(base, "init", "-q", "-b", "trunk", photos);
  mkdirSync(join(photos, "raw"));
  writeFileSync(join(photos, "raw", ".gitattributes"), "*.psd filter=lfs diff=lfs merge=lfs -text\n");
  git(photos, "add", "-A");
  git(photos, "commit", "-qm", "first");
  const told = signalbox("project", "add", photos).stderr;
  expect(told).toContain("warning: This repository filters files, for example with Git LFS.");
  expect(told).toContain("signalbox project update photos --workspaces worktree\n");
  expect(signalbox("project", "update", "photos", "--workspaces", "worktree").stdout).toBe("workspaces: worktree\n");
  const again = signalbox("init", photos).stderr;
  expect(again).toMatch(/Each task works in a worktree\. Worktrees share \.git .* can move your branches/);
  expect(again).toContain("To use clones: signalbox project update photos --workspaces clone\n");
  const { checks } = JSON.parse(signalbox("doctor", "--json").stdout) as { checks: readonly Check[] };
  const notes = checks.filter(({ name, found }) => name === "projects" && found.includes("worktree"));
  expect(notes).toMatchObject([{ level: "ok", fix: "signalbox project update photos --workspaces clone" }]);
  expect(signalbox("project", "remove", "photos", "--yes").status).toBe(0);
});

interface Check {
  readonly name: string;
  readonly level: string;
  readonly found: string;
  readonly fix: string;
}
