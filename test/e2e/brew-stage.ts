import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Only people move these tasks, so no agent is needed. */
const brew = `name: brew
version: 1
unclear: asking
states:
  todo: { waits_for: human, next: brewing }
  asking: { waits_for: human, ask: What do you want?, next: todo }
  brewing: { terminal: false }
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: brewing, by: human, hooks: [acquire_workspace] }
  - { from: brewing, to: served, by: human, hooks: [release_workspace] }
  - { from: any, to: spilled, by: human, hooks: [release_workspace] }
`;

export function git(folder: string, ...args: readonly string[]): string {
  // An empty folder would be the current one, which is the repository of these tests.
  if (folder === "") throw new Error("git needs a folder");
  const me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  return execFileSync("git", ["-C", folder, ...me, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** A person's home and folders, with git repositories that have one commit each. Those in `projects` are registered. */
export async function startBrew(repositories: readonly string[], projects: readonly string[] = repositories) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-brew-")));
  const home = join(base, "home");
  for (const folder of [join(home, "workflows"), join(base, "tmp")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, "workflows", "brew.yml"), brew);
  writeFileSync(join(home, "config.yml"), "workflow: brew\n");
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SIGNALBOX_|TMUX)/.test(name));
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    ...{ SIGNALBOX_HOME: home, NO_COLOR: "1", TMPDIR: join(base, "tmp") },
  };
  const signalbox = (args: readonly string[], cwd = base, input = ""): Promise<Ran> =>
    new Promise((done) => {
      const child = execFile(process.execPath, [cliFile, ...args], { cwd, env }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  onTestFinished(async () => {
    await signalbox(["down", "--force"]);
    removeFolder(base);
  });
  for (const name of repositories) makeRepository(join(base, name));
  for (const name of projects) await signalbox(["init", "--json"], join(base, name));
  return { base, home, env, signalbox, in: (name: string) => join(base, name) };
}

type Signalbox = (...args: readonly string[]) => Promise<Ran>;

/** Creates a task with this branch, and commits a file with its name in the task's workspace. */
export async function workOn(signalbox: Signalbox, branch: string): Promise<string> {
  await signalbox("task", "create", branch, `A ${branch}`);
  await signalbox("task", "continue", branch);
  const workspace = await vi.waitFor(
    async () => {
      const { code, stdout } = await signalbox("task", "path", branch);
      if (code !== 0) throw new Error(`${branch} has no workspace yet`);
      return stdout.trimEnd();
    },
    { timeout: 60_000, interval: 200 },
  );
  writeFileSync(join(workspace, `${branch}.md`), "full\n");
  git(workspace, "add", "-A");
  git(workspace, "commit", "-qm", `Add a ${branch}`);
  return workspace;
}

export function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch", "main");
  git(folder, "config", "user.name", "Ada");
  git(folder, "config", "user.email", "ada@example.org");
  writeFileSync(join(folder, "recipe.md"), "beans\n");
  git(folder, "add", "-A");
  git(folder, "commit", "--quiet", "-m", "first");
}
