import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessError, HarnessEvent } from "../../../ports/harness.ts";
import { isJsonObject, jsonAt } from "../../json-at.ts";
import { failureOf } from "../failure-of.ts";
import { numberAt, textAt } from "../json-at.ts";
import { answerPermission, mcpName } from "./answer-permission.ts";
import type { BridgeOrder } from "./bridge-order.ts";
import { createPeer, type Peer, type PeerError } from "./peer.ts";
import { usageIn } from "./usage-in.ts";

/** Milliseconds without a word after which an agent has told all of an old session. */
const quiet = 1_000;

export interface Conversation {
  /** Has one turn with the agent; undefined where it ended well. */
  readonly turn: Promise<HarnessError | undefined>;
  /** Asks the agent to stop. */
  cancel(): void;
}

/** One turn with an agent, in the words of the Agent Client Protocol. */
export function converse(
  order: BridgeOrder,
  streams: { readonly input: Readable; readonly output: Writable },
  tell: (event: HarnessEvent) => void,
): Conversation {
  let session = "";
  let isListening = false;
  let heardAt = 0;
  let text = "";
  const tools = new Map<string, string>();
  const over = new Set<string>();
  let before: number | undefined = order.resume === "" ? 0 : undefined;
  let cost: number | undefined;

  const peer: Peer = createPeer(streams.input, streams.output, {
    notified: (method, params) => method === "session/update" && learn(jsonAt(params, "update")),
    asked: (method, params) =>
      method === "session/request_permission" ? answerPermission(params, order.rules) : undefined,
  });

  function learn(update: unknown): void {
    heardAt = performance.now();
    const kind = textAt(update, "sessionUpdate");
    if (kind === "usage_update" && textAt(update, "cost", "currency") === "USD") {
      cost = numberAt(update, "cost", "amount");
      // A session that is resumed tells first what it has cost so far.
      if (!isListening) before = cost;
    }
    if (!isListening) return;
    if (kind === "agent_message_chunk") text += textAt(update, "content", "text");
    if (kind === "tool_call" || kind === "tool_call_update") learnTool(update);
  }

  function learnTool(update: unknown): void {
    const id = textAt(update, "toolCallId");
    const isOver = ["completed", "failed"].includes(textAt(update, "status"));
    if (!tools.has(id)) {
      speak();
      tools.set(id, textAt(update, "title") || textAt(update, "kind"));
      tell({ kind: "tool", name: tools.get(id) ?? "", state: "began" });
    }
    if (!isOver || over.has(id)) return;
    over.add(id);
    tell({ kind: "tool", name: tools.get(id) ?? "", state: "ended" });
  }

  function speak(): void {
    if (text.trim() !== "") tell({ kind: "said", text });
    text = "";
  }

  async function start(): Promise<{ readonly answer: unknown } | HarnessError> {
    const hello = await peer.call("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "signalbox", title: "Signalbox", version: "0" },
    });
    if (!hello.ok)
      return { kind: "start", message: `It did not take our greeting: ${hello.error.message}`, resetAt: undefined };
    if (numberAt(hello.result, "protocolVersion") !== 1)
      return { kind: "start", message: "It speaks another version of the protocol than 1.", resetAt: undefined };
    const place = { cwd: order.folder, mcpServers: serversOf(order) };
    const can = jsonAt(hello.result, "agentCapabilities");
    const canResume = isJsonObject(jsonAt(can, "sessionCapabilities", "resume"));
    const how = order.resume === "" ? "session/new" : canResume ? "session/resume" : "session/load";
    if (how === "session/load" && jsonAt(can, "loadSession") !== true)
      return { kind: "session-unknown", message: "This agent cannot resume sessions.", resetAt: undefined };
    const opened = await peer.call(how, order.resume === "" ? place : { ...place, sessionId: order.resume });
    if (!opened.ok) return order.resume === "" ? failureFrom(opened.error) : unknownSession(opened.error);
    session = order.resume === "" ? textAt(opened.result, "sessionId") : order.resume;
    tell({ kind: "session", id: session, transcript: "" });
    if (how === "session/load") await silence();
    return { answer: opened.result };
  }

  /** What was said before is told again, by some agents only after they have answered. */
  async function silence(): Promise<void> {
    heardAt = performance.now();
    while (performance.now() - heardAt < quiet) await sleep(50);
  }

  async function turn(): Promise<HarnessError | undefined> {
    const opened = await start();
    if ("kind" in opened) return opened;
    const refused = order.model === "" ? undefined : await chooseModel(peer, session, opened.answer, order.model);
    if (refused !== undefined) return refused;
    isListening = true;
    tell({ kind: "prompted", text: order.prompt });
    const answer = await peer.call("session/prompt", {
      sessionId: session,
      prompt: [{ type: "text", text: order.prompt }],
    });
    speak();
    if (!answer.ok) return failureFrom(answer.error);
    const spent = cost === undefined || before === undefined ? undefined : Math.max(0, cost - before);
    for (const usage of usageIn(answer.result, order.model || modelIn(opened.answer), spent))
      tell({ kind: "usage", usage });
    return stopped(textAt(answer.result, "stopReason"));
  }

  return { turn: turn(), cancel: () => peer.notify("session/cancel", { sessionId: session }) };
}

function serversOf({ mcp }: BridgeOrder): readonly unknown[] {
  if (mcp === undefined) return [];
  const [command = "", ...args] = mcp.argv;
  return [{ name: mcpName, command, args, env: Object.entries(mcp.env).map(([name, value]) => ({ name, value })) }];
}

/** There are two ways in which agents let one choose. */
async function chooseModel(
  peer: Peer,
  sessionId: string,
  opened: unknown,
  model: string,
): Promise<HarnessError | undefined> {
  const option = modelOption(opened);
  const answer =
    option === undefined
      ? await peer.call("session/set_model", { sessionId, modelId: model })
      : await peer.call("session/set_config_option", { sessionId, configId: textAt(option, "id"), value: model });
  if (answer.ok) return undefined;
  return {
    kind: "start",
    message: `It does not take the model "${model}": ${answer.error.message}`,
    resetAt: undefined,
  };
}

function modelOption(opened: unknown): unknown {
  const options = jsonAt(opened, "configOptions");
  return Array.isArray(options) ? options.find((each: unknown) => textAt(each, "category") === "model") : undefined;
}

function modelIn(opened: unknown): string {
  return textAt(modelOption(opened), "currentValue") || textAt(opened, "models", "currentModelId");
}

function failureFrom({ code, message }: PeerError): HarnessError {
  if (code === -32000) return { ...failureOf(message), kind: "authentication" };
  const failure = failureOf(message, { status: code >= 400 && code < 600 ? code : undefined });
  return code === -32603 && failure.kind === "other" ? { ...failure, kind: "server" } : failure;
}

function unknownSession(error: PeerError): HarnessError {
  const failure = failureFrom(error);
  return failure.kind === "authentication" ? failure : { ...failure, kind: "session-unknown" };
}

function stopped(reason: string): HarnessError | undefined {
  if (reason === "end_turn") return undefined;
  if (reason === "refusal") return { kind: "refusal", message: "The model refused.", resetAt: undefined };
  if (reason === "cancelled") return { kind: "other", message: "The turn was cancelled.", resetAt: undefined };
  return { kind: "other", message: `The turn was cut off (${reason}).`, resetAt: undefined };
}
