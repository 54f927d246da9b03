import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** An agent that works undisturbed and needs no person. */
const brewing = `name: flow
version: 1
roles: { worker: { mode: turn, prompt: work } }
states:
  todo: { waits_for: slot, next: brewing }
  brewing: { agent: { role: worker }, outcomes: [{ then: served }] }
  served: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: brewing, by: human, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
prompts: { work: "Brew {summary}." }
`;
const script = "roles: { worker: [{ steps: [{ say: Patience. }, { think: 600s }] }] }";

test("a daemon that a person has stopped stays stopped while other commands watch, and they continue when it is back", async () => {
  const { signalbox, json, env, main, repository, untilRun } = await startCommands(script, { flow: brewing });
  const { id } = (await json("task", "create", "Make it stronger", "--workflow", "flow")).task;
  await untilRun((run) => run.task === id && run.activity === "busy");
  const begin = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [main, ...args], { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said.out += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said.err += chunk;
    });
    const ended = new Promise<number | null>((done) => child.once("close", done));
    return { args, child, said, ended };
  };
  const events = begin("events", "--follow", "--after", "0");
  const waits = begin("task", "wait", id, "--for", "dropped");
  const hurries = begin("task", "wait", id, "--for", "dropped", "--timeout", "8s");
  const logs = begin("task", "logs", id, "--follow");
  const runs = begin("agent", "ps", "--watch", "--json");
  const board = begin("status", "--watch", "--json");
  const all = [events, waits, hurries, logs, runs, board];
  for (const { said } of [events, runs, board]) await eventually(async () => said.out !== "" || undefined);
  await sleep(1_500);

  await signalbox(["down"]);
  await sleep(4_000);
  expect(await signalbox(["status"])).toMatchObject({ code: 3, stderr: expect.stringContaining("is not running") });
  for (const { args, said } of [events, logs, runs])
    expect({ args, err: said.err }).toEqual({
      args,
      err: expect.stringMatching(/^The daemon was stopped\..*signalbox up\n$/m),
    });
  expect(board.said.err).toContain("signalbox up starts it");
  // A timeout still ends the wait, and an interrupt still ends the follower.
  expect(await hurries.ended).toBe(4);
  logs.child.kill("SIGINT");
  expect(await logs.ended).toBe(0);

  await signalbox(["up"]);
  await signalbox(["task", "cancel", id]);
  expect(await waits.ended).toBe(0);
  for (const { said } of [events, board]) await eventually(async () => said.out.includes("dropped") || undefined);
  for (const { args, said } of all)
    expect([args, said.err.split("\n").filter((line) => line.startsWith("The daemon")).length]).toEqual([args, 1]);
});
