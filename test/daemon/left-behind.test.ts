import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { createProcesses } from "../../src/adapters/processes/processes.ts";
import { systemClock } from "../../src/adapters/system.ts";
import type { Tails } from "../../src/ports/tail.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedTerminal } from "../scripted-terminal.ts";
import { human } from "./git-core.ts";
import { startWorkspaceStage } from "./workspace-stage.ts";

/** A process that has left its group and its session, prints its id, and keeps writing into the workspace. */
const leaving = (pids: string, file: string) =>
  `setsid sh -c 'echo $$ >>${pids}; for i in $(seq 6000); do echo x >>${file}; sleep 0.01; done' >/dev/null 2>&1 &
   while ! [ -e ${file} ]; do sleep 0.01; done`;
const sh = (...lines: readonly string[]) => ["sh", "-c", lines.join("\n")];

async function startStage() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-left-"));
  onTestFinished(() => removeFolder(folder));
  const table = systemProcessTable();
  const processes = createProcesses({ folder, supervisor: [], table });
  // No agent is started here.
  const terminal = createScriptedTerminal(systemClock);
  const tails = { watch: () => () => {} } as unknown as Tails;
  const agents = { env: {}, table, processes, terminal, tails, harnesses: () => new Map() };
  const stage = await startWorkspaceStage(1, { agents });
  return { ...stage, table };
}

test("no process of a cancelled task's commands keeps working in the next task's folder", async () => {
  const stage = await startStage();
  const pids = join(stage.base, "pids");
  stage.say({
    setup: sh('[ "$SIGNALBOX_TASK" = b2222 ] && exit', leaving(pids, "by-setup.txt")),
    testCommand: sh(leaving(pids, "by-tests.txt"), "sleep 600"),
    teardown: sh(leaving(pids, "by-teardown.txt")),
  });
  const { workspace } = await stage.begin("b1111");
  const shell = spawn("sleep", ["600"], { cwd: workspace, env: { ...process.env, SIGNALBOX_TASK: "b1111" } });
  onTestFinished(() => void shell.kill("SIGKILL"));
  await stage.core.submit("b1111", { kind: "continue", actor: human });
  await expect.poll(() => existsSync(join(workspace, "by-tests.txt")), { timeout: 30_000 }).toBe(true);
  const letGo = stage.core.commands.stop("b1111");
  await stage.core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  letGo();
  // Its workspace is released a moment before its slot.
  await expect.poll(() => stage.core.scheduler.isFull("coffee", "b2222"), { timeout: 30_000 }).toBe(false);
  const next = await stage.begin("b2222");
  expect(next.workspace).toBe(workspace);
  const left = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  expect(left).toHaveLength(3);
  expect(await Promise.all(left.map(stage.table.identify))).toEqual([undefined, undefined, undefined]);
  expect(stage.git(workspace, "status", "--porcelain")).toBe("");
  // A person's shell is not the task's.
  expect([shell.exitCode, shell.signalCode]).toEqual([null, null]);
});
