import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { routes } from "../../src/api/routes.ts";
import { removeFolder } from "../remove-folder.ts";
import { eventually, type Stage, startStage } from "./stage.ts";

const table = systemProcessTable();

const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    outcomes: [{ then: stuck }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
  cancelled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: "Work on {summary}" }
`;

/**
 * An agent that leaves three processes behind, each with a session of its own and without a living parent. The last has
 * dropped the variables of its run.
 */
const leaver = (mode: "session" | "turn", pids: string) => {
  const run = "exec nohup sleep 600";
  const forget = "env -u SIGNALBOX_EVENTS -u SIGNALBOX_TASK -u SIGNALBOX_RUN -u SIGNALBOX_TOKEN";
  const script = `
    (setsid nohup sh -c 'echo $$ >>${pids}; ${run}' >/dev/null 2>&1 &)
    (setsid sh -c '(setsid sh -c "echo \\$\\$ >>${pids}; ${run}" >/dev/null 2>&1 &)' &)
    (setsid ${forget} sh -c 'echo $$ >>${pids}; ${run}' >/dev/null 2>&1 &)
    while [ "$(wc -l <${pids} 2>/dev/null || echo 0)" -lt 3 ]; do sleep 0.05; done
    while ! [ -e ${pids}.leave ]; do sleep 0.1; done`;
  return `harnesses:
  leaver:
    title: Leaver
    ${mode}: { argv: ["sh", "-c", ${JSON.stringify(script)}, "{prompt}"] }
`;
};

const ways: Readonly<Record<string, (stage: Stage, task: string, pids: string) => Promise<unknown>>> = {
  "task cancel": (stage, task) => stage.call(routes.cancelTask, { params: { task }, body: {} }),
  "agent kill": (stage, task) => stage.call(routes.killRun, { params: { task, run: "worker#1" }, body: {} }),
  "pause --now": (stage) => stage.call(routes.pause, { body: { all: true, now: true } }),
  "the agent's own end": async (_stage, _task, pids) => writeFileSync(`${pids}.leave`, ""),
};

for (const mode of ["session", "turn"] as const) {
  for (const [how, end] of Object.entries(ways)) {
    test(`${how} ends the processes that an agent in a ${mode} has left behind`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-left-"));
      onTestFinished(() => removeFolder(folder));
      const pids = join(folder, "pids");
      // In a sandbox the kernel ends them: test/agents/sandbox.test.ts.
      const stage = await startStage({
        flow: flow(mode),
        config: leaver(mode, pids),
        harness: "leaver",
        agents: "sandbox: off",
      });
      const task = await stage.create("a cup");
      await stage.untilRun(({ key, pid }) => key === "worker#1" && pid > 0);
      const left = await eventually(async () => {
        const all = readFileSync(pids, "utf8").trim().split("\n").map(Number);
        return all.length === 3 ? all : undefined;
      });
      onTestFinished(() => left.forEach(kill));
      expect(await alive(left)).toBe(3);
      await end(stage, task, pids);
      await eventually(
        async () => ((await alive(left)) === 0 ? true : undefined),
        10_000,
        async () => left.map(environmentOf).join("\n"),
      );
    });
  }
}

async function alive(pids: readonly number[]): Promise<number> {
  return (await Promise.all(pids.map(table.identify))).filter((each) => each !== undefined).length;
}

function environmentOf(pid: number): string {
  try {
    return `${pid}: ${readFileSync(`/proc/${pid}/environ`, "utf8").replaceAll("\0", " ")}`;
  } catch {
    return `${pid} has ended`;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
