import { PassThrough, Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { toolClasses } from "../../../engine/tools.ts";
import type { HarnessEvent } from "../../../ports/harness.ts";
import { reducedCommand } from "../launch.ts";
import type { PermissionRules } from "./acp.ts";
import { answerPermission, converse } from "./converse.ts";

const options = [
  { optionId: "always", kind: "allow_always" },
  { optionId: "once", kind: "allow_once" },
  { optionId: "no", kind: "reject_once" },
];
const full: PermissionRules = { classes: toolClasses, own: undefined, reduced: undefined };
const commands = reducedCommand({ cli: "signalbox", testCommand: ["npm", "test"] }).source;
const reduced: PermissionRules = {
  classes: ["read", "write", "execute"],
  own: undefined,
  reduced: { commands, folder: "/workspace", taskFile: "/workspace/TASK.md" },
};
const answer = (toolCall: unknown, rules: PermissionRules) => {
  const { outcome } = answerPermission({ toolCall, options }, rules) as { outcome: { optionId?: string } };
  return outcome.optionId;
};

test("with full permissions everything is allowed, each time once", () => {
  expect(answer({ kind: "execute", title: "rm -rf ." }, full)).toBe("once");
  expect(answer({ kind: "something new" }, full)).toBe("once");
});

test("a tool of a class that the order does not list is refused", () => {
  expect(answer({ kind: "execute", title: "ls" }, { classes: ["read"], own: undefined, reduced: undefined })).toBe(
    "no",
  );
});

test("of our MCP server's tools only those that are listed are allowed; the web is, if it is listed", () => {
  for (const rules of [full, reduced].map((each) => ({ ...each, classes: ["web"] as const, own: ["comment"] }))) {
    expect(answer({ kind: "other", title: "mcp__signalbox__comment" }, rules)).toBe("once");
    expect(answer({ kind: "other", title: "task_update (signalbox MCP Server)" }, rules)).toBe("no");
    expect(answer({ kind: "other", title: "spawn" }, rules)).toBe("no");
    expect(answer({ kind: "fetch", title: "https://example.org" }, rules)).toBe("once");
    expect(answer({ kind: "read", title: "a.txt" }, rules)).toBe("no");
  }
});

test.each([
  [{ kind: "read", title: "a.txt" }, "once"],
  [{ kind: "execute", rawInput: { command: "git log -1" } }, "once"],
  [{ kind: "execute", title: "npm test" }, "once"],
  [{ kind: "execute", title: "git log …" }, "no"],
  [{ kind: "execute", title: "git log", rawInput: { command: "git push" } }, "no"],
  [{ kind: "edit", locations: [{ path: "/workspace/TASK.md" }] }, "once"],
  [{ kind: "edit", rawInput: { file_path: "TASK.md" } }, "once"],
  [{ kind: "edit", locations: [{ path: "TASK.md" }, { path: "a.txt" }] }, "no"],
  [{ kind: "edit", title: "TASK.md" }, "no"],
  [{ kind: "delete", locations: [{ path: "/workspace/TASK.md" }] }, "no"],
  [{ kind: "fetch", title: "https://example.org" }, "no"],
  [{ kind: "other", title: "mcp__signalbox__task_update" }, "once"],
  [{ kind: "other", title: "comment (signalbox MCP Server)" }, "once"],
  [{ kind: "other", title: "comment (signalbox-too MCP Server)" }, "no"],
  [{ kind: "execute", title: "signalbox task update && touch x" }, "no"],
  [{ kind: "other", title: "spawn" }, "no"],
  [{}, "no"],
])("with reduced permissions %j is answered with %s", (call, chosen) => expect(answer(call, reduced)).toBe(chosen));

test("a permission request without an option to refuse is cancelled", () => {
  const params = { toolCall: { kind: "fetch" }, options: [{ optionId: "once", kind: "allow_once" }] };
  expect(answerPermission(params, reduced)).toEqual({ outcome: { outcome: "cancelled" } });
});

test("an agent that uses the protocol's own package understands every message", async () => {
  const told: unknown[] = [];
  const option = { id: "model", name: "Model", category: "model", type: "select" } as const;
  const configOptions = [
    {
      ...option,
      currentValue: "small",
      options: [
        { value: "small", name: "S" },
        { value: "large", name: "L" },
      ],
    },
  ];
  const sdkAgent = agent({ name: "example" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      told.push(params);
      return { protocolVersion: PROTOCOL_VERSION, agentCapabilities: { loadSession: false } };
    })
    .onRequest(methods.agent.session.new, ({ params }) => {
      told.push(params);
      return { sessionId: "s-1", configOptions };
    })
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      told.push(params);
      return { configOptions };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      told.push(params);
      const { sessionId } = params;
      const call = { toolCallId: "t", title: "npm test", kind: "execute" } as const;
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { ...call, sessionUpdate: "tool_call", status: "pending" },
      });
      const answer = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: call,
        options: [
          { optionId: "yes", name: "Yes", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      });
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" },
      });
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: JSON.stringify(answer) } },
      });
      return { stopReason: "end_turn" };
    });
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const connection = sdkAgent.connect(
    ndJsonStream(Writable.toWeb(fromAgent), Readable.toWeb(toAgent) as ReadableStream<Uint8Array>),
  );
  const events: HarnessEvent[] = [];
  const order = {
    ...{ argv: [], folder: "/workspace", prompt: "Brew", model: "large", resume: "", rules: reduced },
    mcp: { argv: ["signalbox", "mcp"], env: { SIGNALBOX_TOKEN: "x" } },
  };
  const { turn } = converse(order, { input: fromAgent, output: toAgent }, (event) => events.push(event));
  expect(await turn).toBeUndefined();
  connection.close();
  const env = [{ name: "SIGNALBOX_TOKEN", value: "x" }];
  expect(told).toEqual([
    expect.objectContaining({ protocolVersion: 1, clientInfo: expect.objectContaining({ name: "signalbox" }) }),
    { cwd: "/workspace", mcpServers: [{ name: "signalbox", command: "signalbox", args: ["mcp"], env }] },
    { sessionId: "s-1", configId: "model", value: "large" },
    { sessionId: "s-1", prompt: [{ type: "text", text: "Brew" }] },
  ]);
  expect(events).toEqual([
    { kind: "session", id: "s-1", transcript: "" },
    { kind: "prompted", text: "Brew" },
    { kind: "tool", name: "npm test", state: "began" },
    { kind: "tool", name: "npm test", state: "ended" },
    { kind: "said", text: '{"outcome":{"outcome":"selected","optionId":"yes"}}' },
  ]);
});
