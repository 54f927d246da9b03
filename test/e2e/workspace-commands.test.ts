import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-workspace-")));
const home = join(base, "home");
const coffee = join(base, "coffee");

/** Only people move these tasks, but they have a workspace. */
const brew = `name: brew
version: 1
states:
  todo: { waits_for: human, next: brewing }
  brewing: { waits_for: human, next: served }
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: brewing, by: human, hooks: [acquire_workspace] }
  - { from: any, to: spilled, by: human, hooks: [release_workspace] }
`;

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SIGNALBOX_|NO_COLOR|FORCE_COLOR)/.test(name)),
);
const environment = { ...inherited, SIGNALBOX_HOME: home, NODE_COMPILE_CACHE: join(base, "compiled") };

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function signalbox(...args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [cliFile, ...args],
      { cwd: coffee, env: environment },
      (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

const git = (...args: readonly string[]) =>
  execFileSync("git", ["-C", coffee, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/** Waits until a task has settled. */
async function workspaceOf(id: string, isThere: boolean): Promise<string> {
  for (let i = 0; i < 100; i++) {
    const { task } = JSON.parse((await signalbox("task", "show", id, "--json")).stdout);
    if ((task.workspace !== "") === isThere) return task.workspace;
  }
  throw new Error(`${id} does not settle.`);
}

beforeAll(() => {
  for (const folder of [join(home, "workflows"), coffee]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, "workflows", "brew.yml"), brew);
  git("init", "--quiet", "--initial-branch", "main");
  writeFileSync(join(coffee, "recipe.md"), "beans\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "First recipe");
});

afterAll(async () => {
  const { pid } = JSON.parse((await signalbox("status", "--json")).stdout);
  const { code } = await signalbox("down");
  if (code !== 0 && pid !== undefined) process.kill(pid, "SIGKILL");
  removeFolder(base);
}, 60_000);

test("a new user without workspaces gets a clear message", async () => {
  expect(await signalbox("workspace", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: "There are no workspaces. A task gets one when it starts to work.\n",
  });
  expect(await signalbox("workspace", "gc")).toEqual({
    code: 0,
    stdout: "",
    stderr: "There are no workspaces, no branches of ended tasks, and no trash.\n",
  });
  expect(await signalbox("salvage", "list")).toEqual({ code: 0, stdout: "", stderr: "Nothing is salvaged.\n" });
  expect(JSON.parse((await signalbox("salvage", "list", "--json")).stdout)).toEqual({ salvaged: [], unreadable: [] });
  expect(await signalbox("salvage", "list", "--project", "coffee")).toMatchObject({ code: 3, stdout: "" });
  const nowhere = await signalbox("salvage", "restore", "bbbbb/x");
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining("--to FOLDER") });
  expect(await signalbox("salvage", "restore", "bbbbb/x", "--branch", "b")).toMatchObject({
    code: 3,
    stderr: 'error: There is no salvage "bbbbb/x".\nList the salvage: signalbox salvage list\n',
  });
  expect(await signalbox("salvage", "drop", "bbbbb/x")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("add --yes"),
  });
});

test("an agent's uncommitted work can be restored, and everything can be removed", async () => {
  await signalbox("init", "--workflow", "brew");
  const [id = ""] = (await signalbox("task", "create", "Brew stronger")).stdout.split(" ");
  await signalbox("task", "continue", id);
  const workspace = await workspaceOf(id, true);
  writeFileSync(join(workspace, "idea.md"), "cold brew\n");
  const listed = await signalbox("workspace", "list");
  expect(listed.stdout).toMatch(/^PROJECT +TASK +STATE +BRANCH +KIND +SIZE +PATH\n/);
  expect(listed.stdout.replaceAll(/\s+/g, " ")).toContain(`coffee coffee#1 dirty signalbox/${id} clone`);
  expect(listed.stderr).toMatch(/^\n1 workspace, \d+ \w?B\.\n$/);

  // From the person's own folder, where another branch is checked out.
  expect(await signalbox("task", "update", id, "--branch", "stronger")).toMatchObject({
    code: 0,
    stderr: "Changed: branch.\n",
  });
  execFileSync("git", ["-C", workspace, "branch", "-m", "by-hand"]);
  await signalbox("task", "update", id, "--branch");
  expect(JSON.parse((await signalbox("task", "show", id, "--json")).stdout).task.branch).toBe("by-hand");
  expect(await signalbox("task", "fetch", id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^by-hand /) });
  expect(git("branch", "--format=%(refname:short)")).toBe("by-hand\nmain");

  await signalbox("task", "cancel", id);
  await workspaceOf(id, false);
  const { salvaged } = JSON.parse((await signalbox("salvage", "list", "--json")).stdout);
  expect(salvaged).toMatchObject([
    { project: "coffee", task: id, files: 1, size: 10, on: expect.stringMatching(/^[0-9a-f]{10} First recipe$/) },
  ]);
  const [{ ref }] = salvaged;
  const salvage = await signalbox("salvage", "list");
  expect(salvage.stdout).toContain(ref);
  expect(salvage.stderr).toContain("signalbox salvage restore REF --to FOLDER");
  expect((await signalbox("complete", "--", "salvage", "drop", "")).stdout.split("\n")).toContain(ref);
  const found = join(base, "found");
  expect(await signalbox("salvage", "restore", ref, "--to", "../found")).toEqual({
    code: 0,
    stdout: `${found}\n`,
    stderr: "The files are in:\n",
  });
  expect(readFileSync(join(found, "idea.md"), "utf8")).toBe("cold brew\n");
  expect(await signalbox("salvage", "restore", ref, "--to", "../found")).toMatchObject({ code: 1, stdout: "" });
  expect(await signalbox("salvage", "restore", ref, "--branch", "found")).toMatchObject({ code: 0, stdout: "found\n" });
  expect(git("show", "found:idea.md")).toBe("cold brew");

  // A branch that the agent has renamed still belongs to the task: without a commit it is deleted with the task.
  await vi.waitFor(() => expect(git("branch", "--list", "by-hand")).toBe(""), 30_000);
  const dry = await signalbox("workspace", "gc", "--dry-run");
  expect(dry.stdout).toContain("would keep");
  expect(dry.stderr).toBe("\nThere is nothing to clean up.\n");
  const removed = await signalbox("project", "remove", "coffee", "--yes");
  const control = join(home, "control", "coffee.git");
  expect(removed.stderr).toContain(`and 1 salvage, are kept in ${control}\n`);
  expect(existsSync(workspace)).toBe(false);
  expect(git("worktree", "list").split("\n").length).toBe(1);

  // Registering the project again restores everything.
  await signalbox("init", "--workflow", "brew");
  expect(await signalbox("salvage", "drop", ref, "--yes")).toMatchObject({ code: 0, stderr: `${ref} is deleted.\n` });
  expect((await signalbox("salvage", "list")).stderr).toBe("Nothing is salvaged.\n");
}, 120_000);
