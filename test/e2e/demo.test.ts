import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkDemo } from "../../scripts/check-demo.ts";
import { readExport, summarise } from "../../src/cli/demo/summary.ts";
import { loadSound } from "../../src/cli/findings.ts";
import { findWorkflow } from "../../src/home/workflows.ts";
import { eventually, processesWith } from "../agents/stage.ts";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

vi.setConfig({ testTimeout: 300_000 });

/** A person with only a folder for temporary files. */
function createPerson() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-person-")));
  const temporary = join(base, "tmp");
  mkdirSync(temporary);
  onTestFinished(() => removeFolder(base));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: base,
    TMPDIR: temporary,
    SIGNALBOX_HOME: join(base, "own"),
    SIGNALBOX_HARNESS: "claude",
    NODE_COMPILE_CACHE: resolve(import.meta.dirname, "../../node_modules/.cache/compiled"),
  };
  return { base, temporary, env };
}

test("four tasks are merged, as git and the exported histories show, and nothing is left running", async () => {
  const { base, temporary, env } = createPerson();
  const histories = join(base, "histories");
  const args = [cliFile, "demo", "--keep", "--export", histories];
  const { code, stdout, stderr } = await new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    execFile(process.execPath, args, { env, cwd: base }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), stdout: out, stderr: err }),
    );
  });
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  expect(existsSync(env.SIGNALBOX_HOME)).toBe(false);
  const [folder = ""] = readdirSync(temporary).filter((name) => name.startsWith("signalbox-demo-"));
  const stage = join(temporary, folder);
  const [home, repository] = [join(stage, "home"), join(stage, "coffee")];

  const outside = { repository, histories, home };
  expect(checkDemo(outside)).toEqual([]);

  // A line for each event, then the summary of each task.
  expect(stdout).toMatch(/^ +\d+\.\ds {2}#2 {2}agent-review → working, by reviewer#\d with ## Review: FAIL$/m);
  expect(stdout).toMatch(/^ +\d+\.\ds {2}#4 {2}worker#1 has died$/m);
  expect(stdout).toMatch(/^✓ 4 tasks merged into main in \d+\.\ds$/m);
  expect(stdout).toMatch(/^ {4}review {4}FAIL by reviewer#\d: The flat white has no price\.$/m);
  expect(stdout).toMatch(/^ {4}answered {2}On Sundays from 9 to 12\./m);
  // Includes the usage of agents that ended immediately after their request.
  expect(stdout).toMatch(/^together +10 +114k +72k +8\.8k +\$0\.28$/m);
  expect(stdout).toContain("The figures are scripted");
  expect(stderr).toContain(`git -C ${repository} log --graph --oneline`);
  expect(stderr).toContain(`SIGNALBOX_HOME=${home}`);

  const workflow = loadSound(findWorkflow({ home }, "default"));
  const usage = { runs: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, unknown: 0 };
  const told = readdirSync(histories).map((file) =>
    summarise(readExport(readFileSync(join(histories, file), "utf8")), usage, workflow),
  );
  expect(told).toMatchObject([
    { number: 1, branch: "menu", status: "done", replays: true, crashes: [], question: undefined },
    { number: 2, reviews: [{ verdict: "FAIL" }, { verdict: "PASS" }] },
    { number: 3, question: { asked: "Are we open on Sundays, and from when to when?" } },
    { number: 4, crashes: [{ run: "worker#1", reason: "It was ended by SIGKILL.", next: "worker#2" }] },
  ]);
  expect(told[0]?.stays.map(({ status }) => status)).toEqual([
    ...["pending", "planning", "working", "agent-review", "reviewing"],
  ]);

  // The checks do find the errors that they are for.
  const left = spawn("sleep", ["600"], { env: { ...env, SIGNALBOX_HOME: home }, stdio: "ignore" });
  onTestFinished(() => void left.kill("SIGKILL"));
  await eventually(async () => checkDemo(outside).join() === `the process ${left.pid} still runs` || undefined);
  left.kill("SIGKILL");
  const file = join(histories, "1-menu.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.filter((line) => !line.includes('"to":"working"')).join("\n"));
  expect(checkDemo(outside).join()).toContain("menu: it leaves working, but was in planning");
  execFileSync("git", ["-C", repository, "reset", "--quiet", "--hard", "HEAD~1"]);
  expect(checkDemo(outside).join()).toContain("main has 3 merge commits instead of 4");
});

test("on a terminal of 80 columns and 24 lines the demo is shown live, and Ctrl-C removes everything", async () => {
  const { base, temporary, env } = createPerson();
  const socket = join(base, "outer.sock");
  const outer = (...args: readonly string[]) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], { env, cwd: base, encoding: "utf8" });
  onTestFinished(() => void outer("kill-server"));
  // Ctrl-C reaches the shell too, which still has to print.
  const line = `trap : INT; '${process.execPath}' '${cliFile}' demo; echo "it ended with $?"; sleep 600`;
  outer("new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", line);
  const screen = () => outer("capture-pane", "-p");
  const shows = (what: RegExp) =>
    eventually(
      async () => (what.test(screen()) ? screen() : undefined),
      120_000,
      async () => screen(),
    );
  const shown = await shows(/#1 {2}Write the menu[\s\S]*planning[\s\S]*● worker#1/);
  const rows = shown.trimEnd().split("\n");
  expect(rows[0]).toMatch(/^Signalbox demo: .* \d+\.\ds$/);
  expect(rows.filter((row) => /^#\d {2}/.test(row))).toHaveLength(4);
  expect(rows.length).toBeLessThanOrEqual(24);

  const [folder = ""] = readdirSync(temporary).filter((name) => name.startsWith("signalbox-demo-"));
  const home = join(temporary, folder, "home");
  expect(processesWith([`SIGNALBOX_HOME=${home}`]).length).toBeGreaterThan(1);
  outer("send-keys", "C-c");
  await shows(/Interrupted\. Everything is removed\.[\s\S]*it ended with 1/);
  expect(processesWith([`SIGNALBOX_HOME=${home}`])).toEqual([]);
  expect(readdirSync(temporary).filter((name) => name.startsWith("signalbox-"))).toEqual([]);
});
