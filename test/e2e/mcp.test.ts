import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test, vi } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** A scripted agent that runs the commands it is sent. */
const obedient = `roles:
  worker:
    - { when: { prompt: "Work on" }, steps: [{ say: "At your service." }] }
    - { when: { prompt: "write notes" }, steps: [{ section: { heading: "## Notes", text: "There are some." } }, { say: "Written." }] }
    - { steps: [{ run: [sh, -c, "{prompt}"] }, { say: "Done: {turn}." }] }
  teller:
    - { steps: [{ sleep: 10m }] }
`;

const hello = [
  { id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} } },
  { method: "notifications/initialized" },
];

function lines(...calls: readonly object[]): string {
  return [...hello, ...calls].map((each) => `${JSON.stringify({ jsonrpc: "2.0", ...each })}\n`).join("");
}

function tool(id: number, name: string, args: object) {
  return { id, method: "tools/call", params: { name, arguments: args } };
}

function answers(text: string): readonly { id: number; result: { content: { text: string }[]; isError: boolean } }[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ id }) => id !== 0);
}

test("an agent reports its task's state, learns what is missing, fixes it, and the task moves", async () => {
  // The agent reads and writes files outside of its workspace.
  const { atDesk, signalbox, base, json, events, until } = await startCommands(obedient, { agents: "sandbox: off" });
  const id = await atDesk("stronger");
  let asked = 0;
  /** Lets the agent itself call the server. */
  const speak = async (...calls: readonly object[]) => {
    const [input, output] = [join(base, `in-${++asked}`), join(base, `out-${asked}`)];
    writeFileSync(input, lines(...calls));
    await signalbox(["task", "send", id, `signalbox mcp < ${input} > ${output}.part && mv ${output}.part ${output}`]);
    return answers(await eventually(async () => readFileSync(output, "utf8")));
  };

  const first = await speak(
    tool(1, "comment", { text: "I have begun.\nIt looks good." }),
    tool(2, "task_update", { status: "telling", summary: "Make it much stronger" }),
    tool(3, "task_update", {}),
    tool(4, "comment", { text: " " }),
    tool(5, "task_update", { status: 7 }),
    tool(6, "task_update", { task: "another" }),
  );
  expect(first.map(({ result }) => result.isError)).toEqual([false, true, true, true, true, true]);
  const refused = first[1]?.result.content[0]?.text;
  expect(refused).toContain("## Notes");
  expect(refused).toContain("Nothing else has changed.");
  expect(first[2]?.result.content[0]?.text).toContain("Give status, summary or branch.");
  expect(await json("task", "show", id)).toMatchObject({ task: { status: "desk", summary: "Make it much stronger" } });
  const comment = (await events(id)).find(({ type }) => type === "task.commented");
  expect(comment).toMatchObject({ by: "worker", data: { text: "I have begun.\nIt looks good.", run: "worker#1" } });
  expect((await signalbox(["task", "history", id])).stdout).toMatch(
    /task\.commented +worker#1 +I have begun\. It looks good\.$/m,
  );

  await signalbox(["task", "send", id, "write notes", "--wait"]);
  const [moved] = await speak(tool(1, "task_update", { status: "telling" }));
  expect(moved?.result).toEqual({ content: [{ type: "text", text: "desk → telling" }], isError: false });
  await until(id, ({ status }) => status === "telling");
});

test("without a run's credential the tools refuse, and say why", async () => {
  const { signalbox, atDesk, events } = await startCommands(obedient);
  const id = await atDesk("stronger");
  const input = lines({ id: 1, method: "tools/list" }, tool(2, "comment", { text: "Hello" }));
  const { code, stdout } = await signalbox(["mcp"], input);
  expect(code).toBe(0);
  const [listed, called] = stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line).result);
  expect(listed.tools.map(({ name }: { name: string }) => name)).toEqual(["task_update", "comment"]);
  expect(called).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("SIGNALBOX_TOKEN") }] });
  const forged = await signalbox(["mcp"], input, { SIGNALBOX_TOKEN: "made-up" });
  expect(answers(forged.stdout)[1]?.result).toMatchObject({ isError: true });
  expect((await events(id)).map(({ type }) => type)).not.toContain("task.commented");
});

test("the official MCP client lists the tools, and calls them for a run", async () => {
  const { main, env, atDesk, events, call, task } = await startCommands(obedient);
  const id = await atDesk("stronger");
  const { workspace: folder } = await task(id);
  const body = { role: "worker", folder };
  const { token } = await call(routes.registerRun, { params: { task: id }, body });
  const client = new Client({ name: "test", version: "1" });
  const server = { command: process.execPath, args: [main, "mcp"], cwd: folder };
  await client.connect(new StdioClientTransport({ ...server, env: { ...env, SIGNALBOX_TOKEN: token } }));
  onTestFinished(() => client.close());
  expect(client.getServerVersion()).toMatchObject({ name: "signalbox" });
  const { tools } = await client.listTools();
  expect(tools.map(({ name, inputSchema }) => [name, inputSchema.type])).toEqual([
    ["task_update", "object"],
    ["comment", "object"],
  ]);
  expect(await client.callTool({ name: "comment", arguments: { text: "I have begun." } })).toMatchObject({
    isError: false,
  });
  const comment = (await events(id)).find(({ type }) => type === "task.commented");
  expect(comment).toMatchObject({ by: "worker", data: { text: "I have begun." } });
  expect(await client.callTool({ name: "task_update", arguments: { status: "telling" } })).toMatchObject({
    isError: true,
  });
  await expect(client.callTool({ name: "none" })).rejects.toThrow("There is no tool");
});
