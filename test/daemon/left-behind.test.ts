import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { createProcesses } from "../../src/adapters/processes/processes.ts";
import { systemClock } from "../../src/adapters/system.ts";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import type { Tails } from "../../src/ports/tail.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedTerminal } from "../scripted-terminal.ts";
import { human } from "./git-core.ts";
import { startWorkspaceStage } from "./workspace-stage.ts";

/** A process that has left its group and its session, prints its id, and keeps writing into the workspace. */
const leaving = (pids: string, file: string, how = "") =>
  `setsid ${how} sh -c 'echo $$ >>${pids}; for i in $(seq 6000); do echo x >>${file}; sleep 0.01; done' >/dev/null 2>&1 &
   while ! [ -e ${file} ]; do sleep 0.01; done`;
const sh = (...lines: readonly string[]) => ["sh", "-c", lines.join("\n")];

async function startStage(poolSize = 1) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-left-"));
  onTestFinished(() => removeFolder(folder));
  const table = systemProcessTable();
  const processes = createProcesses({ folder, supervisor: [], table });
  // No agent is started here.
  const terminal = createScriptedTerminal(systemClock);
  const tails = { watch: () => () => {} } as unknown as Tails;
  const agents = { env: {}, table, processes, terminal, tails, harnesses: () => new Map() };
  const stage = await startWorkspaceStage(poolSize, { agents });
  return { ...stage, table };
}

test("tests of a merge that a killed daemon has left are ended before the next merge is tested in their checkout", async () => {
  const stage = await startStage(2);
  const pids = join(stage.base, "pids");
  const merge = (core: typeof stage.core, task: string) =>
    mergeTask(core)({ params: { task }, query: {}, body: {}, folder: "", lastEvent: "", caller: { kind: "human" } });
  stage.say({ testMerges: true, testCommand: ["true"] });
  for (const id of ["b1111", "b2222"]) {
    const { workspace } = await stage.begin(id);
    stage.put(join(workspace, `${id}.md`), "full\n");
    stage.git(workspace, "add", `${id}.md`);
    stage.git(workspace, "commit", "-qm", "a cup");
    expect(await stage.goOn(id)).toMatchObject({ status: "good" });
  }
  expect(await merge(stage.core, "b1111")).toMatchObject({ state: "merged" });
  await stage.core.close();
  const checkout = join(stage.places.workspaces, ".merging", "coffee");
  // What the killed daemon tested was another commit, of another task.
  const env = { PATH: process.env.PATH ?? "", SIGNALBOX_TASK: "b9999", SIGNALBOX_EFFECT: "merge:0123" };
  const left = stage.core.commands.run({
    ...{ argv: sh(leaving(pids, "left.txt"), "exec sleep 600"), cwd: checkout, env, timeout: 600_000 },
  });
  await expect.poll(() => existsSync(join(checkout, "left.txt")), { timeout: 30_000 }).toBe(true);
  stage.say({
    testMerges: true,
    testCommand: sh(`grep "^State:.[RSD]" /proc/$(cat ${pids})/status && exit 1`, "test ! -e left.txt"),
  });
  const next = stage.start();
  onTestFinished(() => next.close());
  const answer = await merge(next, "b2222");
  expect(answer, answer.reason).toMatchObject({ state: "merged" });
  await expect(left).resolves.toMatchObject({ code: undefined });
});

test("no process of a cancelled task's commands keeps working in the next task's folder", async () => {
  const stage = await startStage();
  const pids = join(stage.base, "pids");
  stage.say({
    setup: sh(
      '[ "$SIGNALBOX_TASK" = b2222 ] && exit',
      leaving(pids, "by-setup.txt"),
      // It has dropped all marks.
      leaving(pids, "by-stray.txt", 'env -i PATH="$PATH"'),
    ),
    testCommand: sh(leaving(pids, "by-tests.txt"), "sleep 600"),
    teardown: sh(leaving(pids, "by-teardown.txt")),
  });
  const { workspace } = await stage.begin("b1111");
  const shell = spawn("sleep", ["600"], { cwd: workspace, env: { ...process.env, SIGNALBOX_TASK: "b1111" } });
  const { SIGNALBOX_TASK: _, ...mine } = process.env;
  const other = spawn("sleep", ["600"], { cwd: workspace, env: { ...mine, TERM: "xterm" } });
  onTestFinished(() => void [shell, other].map((each) => each.kill("SIGKILL")));
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
  expect(left).toHaveLength(4);
  expect(await Promise.all(left.map(stage.table.identify))).toEqual(left.map(() => undefined));
  expect(stage.git(workspace, "status", "--porcelain")).toBe("");
  // A person's shell is not the task's.
  for (const { exitCode, signalCode } of [shell, other]) expect([exitCode, signalCode]).toEqual([null, null]);
});
