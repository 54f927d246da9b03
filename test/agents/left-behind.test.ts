import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/process-table.ts";
import { removeFolder } from "../remove-folder.ts";
import { eventually, startStage } from "./stage.ts";

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

// The brake has the same against a person's commands: test/agents/brake.test.ts
for (const mode of ["session", "turn"] as const) {
  test(`the end of an agent in a ${mode} ends the processes that it has left behind`, async () => {
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
    await stage.create("a cup");
    await stage.untilRun(({ key, pid }) => key === "worker#1" && pid > 0);
    const left = await eventually(async () => {
      const all = readFileSync(pids, "utf8").trim().split("\n").map(Number);
      return all.length === 3 ? all : undefined;
    });
    onTestFinished(() => left.forEach(kill));
    expect(await alive(left)).toBe(3);
    writeFileSync(`${pids}.leave`, "");
    await eventually(
      async () => ((await alive(left)) === 0 ? true : undefined),
      10_000,
      async () => left.map(environmentOf).join("\n"),
    );
  });
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
