import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeDeep } from "../git/deep-folder.ts";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { git, startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a task without a summary is not created; on a terminal the person is asked for it", async () => {
  const { base, env, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  expect(await signalbox(["task", "create"], coffee)).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'error: The summary is missing, so no task was created.\nAdd it: signalbox task create "What is to be done"\nTo let its workflow ask for it: signalbox task create --summary ""\n',
  });
  const word = await signalbox(["task", "create", "refactor"], coffee);
  expect(word).toMatchObject({ code: 2, stdout: "" });
  expect(word.stderr).toContain(
    '"refactor" is understood as the name of the task\'s branch. The summary is missing, so no task was created.\nAdd it: signalbox task create refactor "What is to be done"\nIf "refactor" is the summary: signalbox task create --summary refactor\n',
  );
  const both = await signalbox(["task", "create", "a", "One", "--summary", "Two"], coffee);
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot both be given") });
  const long = await signalbox(["task", "create", "Brew it", "--label", "x".repeat(300)], coffee);
  expect(long.stderr).toMatch(/^error: --label must have at most \d+ char/);
  expect((await signalbox(["task", "list", "--open", "--closed"], coffee)).stdout).toBe("");

  const sitting = { base, env, folder: coffee };
  const left = atTerminal([process.execPath, cliFile, "task", "create"], sitting);
  await left.shows(/^What should be done, in one line\?/m);
  left.press("Enter");
  await left.shows(/No task was created\.\nit ended with 1/);
  const asked = atTerminal([process.execPath, cliFile, "task", "create", "refactor", "--no-spawn"], sitting);
  await asked.shows(/"refactor" is understood as the name of the task's branch\. What should be done, in one line\?/);
  asked.say("Tidy up the kitchen");
  await asked.shows(/coffee#1 {2}refactor {2}todo/);
  expect(await signalbox(["task", "create", "  "], coffee)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The summary is missing"),
  });
  // The advice works as it is printed, and an empty summary is a choice.
  expect((await signalbox(["task", "create", "--summary", "refactor"], coffee)).code).toBe(0);
  expect((await signalbox(["task", "create", "blank", "--summary", ""], coffee)).stdout).toContain("asking");
  const { tasks } = JSON.parse((await signalbox(["task", "list", "--json"], coffee)).stdout);
  expect(tasks.map(({ summary }: { summary: string }) => summary).sort()).toEqual([
    "",
    "Tidy up the kitchen",
    "refactor",
  ]);
});

test("cancel reports what was salvaged, and the command that it prints restores it", async () => {
  const { base, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  await signalbox(["task", "create", "Brew it"], coffee);
  await signalbox(["task", "continue", "1"], coffee);
  const path = async () => (await signalbox(["task", "path", "1"], coffee)).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  writeFileSync(join(await path(), "idea.md"), "cold brew\n");
  const { code, stdout, stderr } = await signalbox(["task", "cancel", "1"], coffee);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "brewing → spilled\n" });
  const [, command = ""] = /Salvaged 1 uncommitted file\. To restore it:\n {2}signalbox (.+)\n/.exec(stderr) ?? [];
  const found = join(base, "found");
  expect(await signalbox(command.replace("FOLDER", found).split(" "), coffee)).toMatchObject({ code: 0 });
  expect((await signalbox(["salvage", "list", "--json"])).stdout).toContain('"files": 1');
});

test("cancel names what could not be saved, and workspace gc where it is kept", async () => {
  const { base, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  await signalbox(["task", "create", "Brew it"], coffee);
  await signalbox(["task", "continue", "1"], coffee);
  const path = async () => (await signalbox(["task", "path", "1"], coffee)).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  const top = makeDeep(await path());
  // Node cannot delete such a path.
  onTestFinished(() => void execFileSync("find", [base, "-name", top, "-prune", "-exec", "rm", "-rf", "{}", "+"]));
  writeFileSync(join(await path(), "top.txt"), "top\n");
  const { stderr } = await signalbox(["task", "cancel", "1"], coffee);
  expect(stderr).toContain("Salvaged 1 uncommitted file.");
  expect(stderr.replace(/\s+/g, " ")).toMatch(
    /Not saved from .*: d{100,}…\. When the folder is cleaned it stays in the trash/,
  );
  const gc = async () => (await signalbox(["workspace", "gc", "--dry-run"], coffee)).stdout.replace(/\s+/g, " ");
  await vi.waitFor(async () => expect(await gc()).toContain("Some files in it could not be saved"), 30_000);
});

test("a task for a repository without a commit is refused with the next step, and nothing changes", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"], []);
  const empty = at("empty");
  mkdirSync(empty);
  git(empty, "init", "--quiet", "--initial-branch", "main");
  await signalbox(["init", "--json"], empty);
  const refused = await signalbox(["task", "create", "Brew it"], empty);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  const [, command = ""] = /Make a first one: git (.*)$/m.exec(refused.stderr) ?? [];
  expect(JSON.parse((await signalbox(["task", "list", "--json"], empty)).stdout).tasks).toEqual([]);
  git(empty, ...command.split(" "));
  expect(await signalbox(["task", "create", "Brew it"], empty)).toMatchObject({ code: 0 });
});

/** A working task, and its workspace. */
async function startBrewing() {
  const stage = await startBrew(["coffee"]);
  const coffee = stage.in("coffee");
  await stage.signalbox(["task", "create", "Brew it"], coffee);
  await stage.signalbox(["task", "continue", "1"], coffee);
  const path = async () => (await stage.signalbox(["task", "path", "1"], coffee)).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  const workspace = await path();
  const commit = (name: string) => {
    writeFileSync(join(workspace, name), "cold brew\n");
    git(workspace, "add", "-A");
    git(workspace, "commit", "--quiet", "-m", name);
  };
  return { ...stage, coffee, workspace, commit };
}

test("cancel reports the commits of a detached HEAD as commits, also if they were salvaged earlier", async () => {
  const { signalbox, coffee, workspace, commit } = await startBrewing();
  git(workspace, "checkout", "--quiet", "--detach");
  commit("idea.md");
  await signalbox(["task", "explain", "1"], coffee);
  // This salvage is older than the cancel.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const { code, stderr } = await signalbox(["task", "cancel", "1"], coffee);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /Salvaged commits that are on no branch\. To restore them:\n {2}signalbox salvage restore \S+/,
  );
  expect(stderr).not.toContain("no files");
});

test("cancel of a task whose workspace was deleted says how to continue from its commits", async () => {
  const { signalbox, coffee, workspace, commit } = await startBrewing();
  commit("idea.md");
  await signalbox(["task", "explain", "1"], coffee);
  rmSync(workspace, { recursive: true });
  const { code, stderr } = await signalbox(["task", "cancel", "1"], coffee);
  expect(code).toBe(0);
  expect(stderr).toContain("To continue from its commits in a new task: signalbox task create --from");
});

test("cancel answers within seconds if a pipe in the workspace blocks git, and no git process is left", async () => {
  const { signalbox, coffee, workspace, base } = await startBrewing();
  mkdirSync(join(workspace, "cups"));
  writeFileSync(join(workspace, "cups", "large.md"), "");
  execFileSync("mkfifo", [join(workspace, "cups", ".gitignore")]);
  const begun = Date.now();
  const { code, stdout } = await signalbox(["task", "cancel", "1"], coffee);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "brewing → spilled\n" });
  expect(Date.now() - begun).toBeLessThan(25_000);
  await signalbox(["down", "--force"]);
  await expect.poll(() => gitsIn(base), { timeout: 10_000 }).toEqual([]);
});

test("a git that waits for a pipe does not outlive down --force", async () => {
  const { signalbox, coffee, workspace, base } = await startBrewing();
  mkdirSync(join(workspace, "cups"));
  writeFileSync(join(workspace, "cups", "large.md"), "");
  execFileSync("mkfifo", [join(workspace, "cups", ".gitignore")]);
  const explaining = signalbox(["task", "explain", "1"], coffee);
  await vi.waitFor(() => expect(gitsIn(base)).not.toEqual([]), { timeout: 20_000, interval: 20 });
  await signalbox(["down", "--force"]);
  await expect.poll(() => gitsIn(base), { timeout: 10_000 }).toEqual([]);
  await explaining;
});

/** The git processes that work below a folder. */
function gitsIn(base: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git")) return false;
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(base);
    } catch {
      return false;
    }
  });
}

test("of two words without quotes, a person is asked whether they are a branch and a summary", async () => {
  const { base, env, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  const sitting = { base, env, folder: coffee };
  const forgot = atTerminal([process.execPath, cliFile, "task", "create", "Grind", "finer"], sitting);
  await forgot.shows(
    /"Grind" is understood as the task's branch, and "finer" as its\s+summary\. Is that right\? \[y\/N\]/,
  );
  forgot.press("Enter");
  await forgot.shows(/No task was created[\s\S]*signalbox task create 'Grind finer'\nit ended with 1/);
  expect(JSON.parse((await signalbox(["task", "list", "--json"], coffee)).stdout).tasks).toEqual([]);
  const meant = atTerminal([process.execPath, cliFile, "task", "create", "Grind", "finer"], sitting);
  await meant.shows(/Is that right\?/);
  meant.say("y");
  await meant.shows(/coffee#1 {2}Grind {2}todo/);
  // A script is not asked; a summary of several words needs no question.
  const script = await signalbox(["task", "create", "pot", "hotter"], coffee);
  expect(script.code).toBe(0);
  expect(script.stderr).toContain('"pot" is understood as the task\'s branch, and "hotter" as its summary.');
  const plain = await signalbox(["task", "create", "cup", "Warm the cup"], coffee);
  expect(plain.stderr).not.toContain("is understood as");
});
