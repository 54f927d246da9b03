import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import type { HarnessEvent, HarnessOrder } from "../../../ports/harness.ts";
import { spawnCommands } from "../../system.ts";
import { acp } from "./acp.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-acp-"));
afterAll(() => removeFolder(root));

/** An agent that speaks the protocol; the first word of a prompt is a command for it. */
const agent = join(root, "agent.mjs");
writeFileSync(
  agent,
  `import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const update = (update) => send({ method: "session/update", params: { sessionId: "s-1", update } });
const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const cost = (amount) => update({ sessionUpdate: "usage_update", cost: { amount, currency: "USD" } });
let prompt;
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  if (method === "session/new") send({ id, result: { sessionId: "s-1", models: { currentModelId: "m-1" } } });
  if (method === "session/set_model") send(params.modelId === "none" ? { id, error: { code: -32602, message: "no such model" } } : { id, result: {} });
  if (method === "session/load" && params.sessionId !== "s-1") send({ id, error: { code: -32602, message: "Invalid params" } });
  if (method === "session/load" && params.sessionId === "s-1") { say("Old words."); cost(1); send({ id, result: {} }); setTimeout(() => say("More old words."), 100); }
  if (method === "session/cancel") send({ id: prompt, result: { stopReason: "cancelled" } });
  if (method === "session/prompt") {
    prompt = id;
    const [word] = params.prompt[0].text.split(" ");
    if (word === "fail") send({ id, error: { code: 429, message: "Too many" } });
    if (word === "die") { process.stderr.write("The quota is used up\\n"); process.exit(3); }
    if (word === "file") send({ id: 7, method: "fs/read_text_file", params: {} });
    if (word === "ask") send({ id: 8, method: "session/request_permission", params: { toolCall: { kind: "execute", title: "git push" }, options: [{ optionId: "a", kind: "allow_once" }, { optionId: "r", kind: "reject_once" }] } });
    if (word === "hang") say("I begin.");
    if (word === "leave") {
      const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      say(String(left.pid));
      send({ id, result: { stopReason: "end_turn" } });
    }
    if (word === "work") {
      say("I ");
      say("look.");
      update({ sessionUpdate: "tool_call", toolCallId: "t", title: "bash", status: "pending" });
      update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
      update({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
      say("Done.");
      cost(1.25);
      send({ id, result: { stopReason: "end_turn", usage: { inputTokens: 5, outputTokens: 2, cachedReadTokens: 1 } } });
    }
  }
  if (method === undefined) { say(JSON.stringify(error?.code ?? result)); send({ id: prompt, result: { stopReason: "end_turn" } }); }
});`,
);

const bridge = [process.execPath, join(import.meta.dirname, "bridge.ts")];
const harness = acp(
  { name: "mine", title: "Mine", argv: [process.execPath, agent] },
  { commands: spawnCommands, env: {}, bridge },
);
const order: HarnessOrder = {
  run: "worker-1",
  mode: "turn",
  prompt: "work",
  system: "",
  folder: root,
  runFolder: root,
  model: "",
  effort: "",
  permissions: "full",
  tools: undefined,
  taskFile: "",
  testCommand: [],
  cli: "signalbox",
  session: { kind: "new", id: "" },
  schema: undefined,
  mcp: undefined,
  hook: [],
  costLimit: undefined,
  env: { PATH: process.env.PATH ?? "" },
};

async function turn(change: Partial<HarnessOrder>, used = harness, endOn = "") {
  const { argv, env, input } = await used.prepare({ ...order, ...change });
  const [program = "", ...rest] = argv;
  // In a group of its own, as the supervisor starts it.
  const child = spawn(program, rest, { cwd: root, env, detached: true });
  const reader = used.readOutput({ ...order, ...change });
  const events: HarnessEvent[] = [];
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdout.on("data", (chunk: Buffer) => {
    events.push(...reader.push(chunk));
    if (endOn !== "" && events.some(({ kind }) => kind === endOn)) child.kill("SIGTERM");
  });
  child.stdin.end(input);
  const code = await new Promise<number | undefined>((resolve) =>
    child.on("close", (exit) => resolve(exit ?? undefined)),
  );
  const end = reader.end({ kind: "ended", code, signal: "", cause: "exit", reason: "", at: 0 }, errors);
  return { ...end, events, code };
}

test("a turn reports its session, its messages, its tools and its usage", async () => {
  const { events, text, error, code } = await turn({});
  expect(events).toEqual([
    { kind: "session", id: "s-1", transcript: "" },
    { kind: "prompted", text: "work" },
    { kind: "said", text: "I look." },
    { kind: "tool", name: "bash", state: "began" },
    { kind: "tool", name: "bash", state: "ended" },
    { kind: "said", text: "Done." },
    { kind: "usage", usage: { model: "m-1", inputTokens: 5, outputTokens: 2, cachedTokens: 1, cost: 1.25 } },
  ]);
  expect([text, error, code]).toEqual(["Done.", undefined, 0]);
});

test("a resumed session reports neither old messages nor old costs", async () => {
  const { events } = await turn({ session: { kind: "resume", id: "s-1" } });
  expect(events.flatMap((event) => (event.kind === "said" ? [event.text] : []))).toEqual(["I look.", "Done."]);
  expect(events.at(-1)).toMatchObject({ usage: { cost: 0.25 } });
});

test("a session that does not exist is unknown", async () => {
  expect((await turn({ session: { kind: "resume", id: "s-2" } })).error?.kind).toBe("session-unknown");
});

test("a model that the agent does not have is an error", async () => {
  expect((await turn({ model: "none" })).error).toMatchObject({ kind: "start" });
  expect((await turn({ model: "m-2" })).error).toBeUndefined();
});

test("failures of the provider are classified", async () => {
  const { error, code } = await turn({ prompt: "fail" });
  expect([error?.kind, code]).toEqual(["rate-limit", 1]);
});

test("an agent that dies in the middle of a turn is reported with its last words", async () => {
  expect((await turn({ prompt: "die" })).error).toMatchObject({ kind: "rate-limit", message: "The quota is used up" });
});

test("the bridge offers the agent neither files nor terminals", async () => {
  expect((await turn({ prompt: "file" })).text).toBe("-32601");
});

test("permission requests are answered by the rules", async () => {
  expect((await turn({ prompt: "ask" })).text).toContain('"optionId":"a"');
  expect((await turn({ prompt: "ask", permissions: "reduced" })).text).toContain('"optionId":"r"');
});

test("ending a turn cancels it, and the agent ends too", async () => {
  const { error, text } = await turn({ prompt: "hang" }, harness, "prompted");
  expect(error?.message).toBe("The turn was cancelled.");
  expect(text).toBe("I begin.");
});

test("a turn ends although the agent and its child process keep running, and both are killed", async () => {
  const { text, error, code } = await turn({ prompt: "leave" });
  expect([error, code]).toEqual([undefined, 0]);
  const isAlive = () => {
    try {
      return process.kill(Number(text), 0);
    } catch {
      return false;
    }
  };
  while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 20));
});

test("a missing agent is reported as a failed start", async () => {
  const missing = acp(
    { name: "x", title: "X", argv: ["/nowhere/agent"] },
    { commands: spawnCommands, env: {}, bridge },
  );
  expect((await turn({}, missing)).error).toMatchObject({ kind: "start" });
  expect(await missing.detect()).toMatchObject({ found: false });
});
