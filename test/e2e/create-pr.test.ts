import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";
import { type ScriptedGithub, startScriptedGithub } from "../scripted-github/server.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-create-pr-")));
const [home, userHome, coffee, tea] = ["home", "user", "coffee", "tea"].map((name) => join(base, name)) as [
  string,
  string,
  string,
  string,
];
const remote = join(base, "acme", "coffee.git");
const token = "ghp_verysecretindeed0123456789";
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SIGNALBOX_|NO_COLOR|GH_|GITHUB_|GIT_)/.test(name)),
);
const env = {
  ...inherited,
  HOME: userHome,
  SIGNALBOX_HOME: home,
  NODE_COMPILE_CACHE: join(base, "compiled"),
  TMPDIR: join(base, "tmp"),
  GIT_CONFIG_NOSYSTEM: "1",
  // Stands in for another machine.
  GIT_SSH_COMMAND: join(base, "ssh"),
  BREW_TOKEN: token,
};
const flow = `name: brew
version: 1
states:
  todo: { waits_for: human, next: served }
  served: { terminal: true }
`;

let github: ScriptedGithub;

function signalbox(cwd: string, ...args: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const child = execFile(process.execPath, [cliFile, ...args], { cwd, env }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), stdout: out, stderr: err }),
    );
    child.stdin?.end();
  });
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { env, encoding: "utf8" }).trim();
}

/** A task whose branch has a commit. */
async function create(folder: string): Promise<string> {
  const { stdout } = await signalbox(folder, "task", "create", "brew-better", "Brew better", "--workflow", "brew");
  const [id = "", , branch = ""] = stdout.trim().split(/ {2,}/);
  git(folder, "branch", branch, git(folder, "commit-tree", "-p", "main", "-m", "better", "main^{tree}"));
  github.state.branches.set(branch, git(folder, "rev-parse", branch));
  return id;
}

beforeAll(async () => {
  github = await startScriptedGithub({ token });
  for (const folder of [join(home, "workflows"), userHome, join(base, "tmp"), coffee, tea])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(userHome, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  writeFileSync(join(base, "ssh"), `#!/bin/sh\nfor last; do :; done\ncd '${base}' && eval "$last"\n`, { mode: 0o755 });
  writeFileSync(join(home, "config.yml"), `forge_api_url: ${github.url}\nforge_token_env: BREW_TOKEN\n`);
  writeFileSync(join(home, "workflows", "brew.yml"), flow);
  for (const folder of [coffee, tea]) {
    git(folder, "init", "-q", "-b", "main");
    git(folder, "commit", "-q", "--allow-empty", "-m", "first");
  }
  execFileSync("git", ["clone", "-q", "--bare", coffee, remote], { env });
  git(coffee, "remote", "add", "origin", "git@github.com:acme/coffee.git");
  await signalbox(coffee, "init");
  await signalbox(tea, "init");
}, 60_000);

afterAll(async () => {
  await signalbox(base, "down");
  await github.close();
  removeFolder(base);
});

test("create-pr pushes the branch and opens the pull request, and returns the same one when called again", async () => {
  const id = await create(coffee);
  const first = await signalbox(coffee, "task", "create-pr", id, "--title", "A better brew");
  const url = "https://github.com/acme/coffee/pull/1";
  expect(first).toEqual({ code: 0, stdout: `${url}\n`, stderr: "" });
  const again = JSON.parse((await signalbox(coffee, "task", "create-pr", id, "--json")).stdout);
  expect(again).toMatchObject({ number: 1, url, state: "open", base: "main", title: "A better brew" });
  expect(github.state.pulls.length).toBe(1);
  expect(github.state.pulls[0]).toMatchObject({ title: "A better brew", body: expect.stringContaining("coffee#1") });
  expect(git(remote, "rev-parse", again.head)).toBe(git(coffee, "rev-parse", again.head));
  const shown = JSON.parse((await signalbox(coffee, "task", "show", id, "--json")).stdout);
  expect(shown).toMatchObject({ task: { prUrl: url, status: "todo" }, pullRequest: { url, state: "open" } });
  expect((await signalbox(coffee, "task", "show", id)).stdout).toContain(`pull request  ${url} (open)`);
  await signalbox(coffee, "task", "continue", id);
  const late = await signalbox(coffee, "task", "create-pr", id);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("which is the end") });
});

test("without a remote a pull request is refused with what to do instead, and with a remote that is not a forge it is recorded locally", async () => {
  const id = await create(tea);
  const refused = await signalbox(tea, "task", "create-pr", id);
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: `error: ${tea} has no remote, so no pull request can be opened.\nAdd a remote first: git -C ${tea} remote add origin URL, then: signalbox project trust tea\n`,
  });
  expect((await signalbox(tea, "task", "show", id)).stdout).not.toContain("pull request");
  expect(await signalbox(tea, "task", "create-pr", "tea#99")).toMatchObject({ code: 3 });
  execFileSync("git", ["init", "-q", "--bare", join(base, "plain.git")], { env });
  git(tea, "remote", "add", "origin", join(base, "plain.git"));
  await signalbox(tea, "project", "trust", "tea", "--yes");
  const { code, stdout, stderr } = await signalbox(tea, "task", "create-pr", id);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "1\n" });
  expect(stderr).toContain("no pull request was opened there");
  expect((await signalbox(tea, "task", "show", id)).stdout).toContain(
    "pull request  none on a forge; Signalbox keeps its description as number 1 (open)",
  );
});

test("a task continues a pull request that another person has opened, unless its branch is in another repository", async () => {
  const other = join(base, "other");
  execFileSync("git", ["clone", "-q", remote, other], { env });
  git(other, "push", "-q", "origin", "main:release");
  git(other, "commit", "-q", "--allow-empty", "-m", "mended");
  git(other, "push", "-q", "origin", "HEAD:mend-cup");
  const commit = git(other, "rev-parse", "HEAD");
  github.state.branches.set("mend-cup", commit);
  const number = github.state.pulls.length + 1;
  const pull = {
    ...{ number, title: "Mend the cup", body: "", state: "open" as const, head: "mend-cup", base: "release" },
    ...{ draft: false, mergeCommit: undefined, mergeable: true, unknownFor: 0, isFromFork: false },
  };
  github.state.pulls.push(pull, { ...pull, number: number + 1, head: "main", isFromFork: true });
  github.state.branches.set("main", "0".repeat(40));
  const create = (...args: readonly string[]) => signalbox(coffee, "task", "create", ...args, "--workflow", "brew");
  // The base branch is not fetched yet.
  expect((await create("--pr", `${number}`)).stderr).toMatch(/has no branch "release"/);
  git(coffee, "branch", "release");
  expect(await create("mine", "Mine", "--pr", `${number}`)).toMatchObject({ code: 2, stdout: "" });
  expect((await create("--pr", `${number}`, "--status", "nowhere")).stderr).toContain('no state "nowhere"');
  expect(git(coffee, "branch", "--list", "mend-cup")).toBe("");
  const { task } = JSON.parse((await create("--pr", `${number}`, "--json")).stdout);
  const url = `https://github.com/acme/coffee/pull/${number}`;
  expect(task).toMatchObject({ branch: "mend-cup", base: "release", summary: "Mend the cup", prUrl: url });
  expect(git(coffee, "rev-parse", "mend-cup")).toBe(commit);
  const shown = JSON.parse((await signalbox(coffee, "task", "show", task.id, "--json")).stdout);
  expect(shown).toMatchObject({
    pullRequest: { number, url, base: "release" },
    document: { authors: { Context: {} } },
  });
  expect((await create("--pr", `${number}`)).stderr).toContain("is at work on the branch");
  expect((await create("--pr", `${number + 1}`)).stderr).toMatch(/not in this repository[\s\S]*fork/);
  expect(await create("--pr", "99")).toMatchObject({ code: 3, stdout: "" });
});
