import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentRequestParamsByMethod, McpServer, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { ToolClass } from "../../../engine/tools.ts";
import { isJsonObject, jsonAt, numberAt, textAt } from "../../../json.ts";
import type { HarnessError, HarnessEvent } from "../../../ports/harness.ts";
import { jsonLines } from "../../lines.ts";
import { failureOf } from "../failure.ts";
import { type BridgeOrder, type PermissionRules, usageIn } from "./acp.ts";

const mcpName = "signalbox";

/** The protocol's kinds of tools; all other kinds belong to no class. */
const classOf: Readonly<Record<string, ToolClass>> = {
  read: "read",
  search: "read",
  edit: "write",
  delete: "write",
  move: "write",
  execute: "execute",
  fetch: "web",
};

/** The answer to `session/request_permission`. */
export function answerPermission(params: unknown, rules: PermissionRules): RequestPermissionResponse {
  const wanted = isAllowed(jsonAt(params, "toolCall"), rules)
    ? ["allow_once", "allow_always"]
    : ["reject_once", "reject_always"];
  const options = jsonAt(params, "options");
  const all: readonly unknown[] = Array.isArray(options) ? options : [];
  const chosen = wanted.map((kind) => all.find((option) => textAt(option, "kind") === kind)).find(Boolean);
  const optionId = textAt(chosen, "optionId");
  // If the agent offers no matching option, cancelling is the only way to refuse.
  return { outcome: optionId === "" ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
}

function isAllowed(call: unknown, { classes, own, reduced }: PermissionRules): boolean {
  const kind = textAt(call, "kind");
  const itsClass = Object.hasOwn(classOf, kind) ? classOf[kind] : undefined;
  if (reduced !== undefined && kind === "edit" && isTaskFile(call, reduced)) return true;
  const ours = ownTool(textAt(call, "title"));
  if (itsClass === undefined && ours !== "") return own === undefined || own.includes(ours);
  if (itsClass === undefined) return reduced === undefined && own === undefined;
  if (!classes.includes(itsClass)) return false;
  if (reduced === undefined || itsClass === "read" || itsClass === "web") return true;
  return itsClass === "execute" && new RegExp(reduced.commands).test(commandIn(call));
}

/**
 * The tool of our MCP server that agents mean by `mcp__signalbox__comment` or `comment (signalbox MCP Server)`; empty for
 * any other.
 */
function ownTool(title: string): string {
  const found = new RegExp(`^(?:(?:mcp_+)?${mcpName}[_.:/-]+(\\w+)|(\\w+) \\(${mcpName} MCP Server\\))$`).exec(title);
  return found?.[1] ?? found?.[2] ?? "";
}

/** Some agents put the command only into the title. A shortened title cannot be judged, so it gives an empty text. */
function commandIn(call: unknown): string {
  const command = textAt(call, "rawInput", "command");
  if (command !== "") return command;
  const title = textAt(call, "title");
  return /(?:…|\.\.\.)\s*$/.test(title) ? "" : title;
}

function isTaskFile(call: unknown, { folder, taskFile }: NonNullable<PermissionRules["reduced"]>): boolean {
  const paths = pathsIn(call);
  return taskFile !== "" && paths.length > 0 && paths.every((path) => resolve(folder, path) === resolve(taskFile));
}

function pathsIn(call: unknown): readonly string[] {
  const named = ["file_path", "filePath", "path", "filepath"].map((key) => textAt(call, "rawInput", key));
  const listed = ["locations", "content"].flatMap((key) => {
    const list = jsonAt(call, key);
    return Array.isArray(list) ? list.map((each: unknown) => textAt(each, "path")) : [];
  });
  return [...named, ...listed].filter((path) => path !== "");
}

/** After this many milliseconds without an update, the agent has replayed the whole resumed session. */
const quiet = 1_000;

interface Conversation {
  /** Resolves when the turn ends, with its error; undefined if it succeeded. */
  readonly turn: Promise<HarnessError | undefined>;
  /** Asks the agent to stop. */
  cancel(): void;
}

/** Has one turn with an agent over the Agent Client Protocol. */
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
      // A resumed session first reports its cost so far.
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
      return { kind: "start", message: `The agent refused to initialise: ${hello.error.message}`, resetAt: undefined };
    if (numberAt(hello.result, "protocolVersion") !== 1)
      return { kind: "start", message: "The agent does not speak version 1 of the protocol.", resetAt: undefined };
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

  /** Waits until the replay of earlier messages is over; some agents send it only after their answer. */
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

function serversOf({ mcp }: BridgeOrder): McpServer[] {
  if (mcp === undefined) return [];
  const [command = "", ...args] = mcp.argv;
  return [{ name: mcpName, command, args, env: Object.entries(mcp.env).map(([name, value]) => ({ name, value })) }];
}

/** Agents offer one of two ways to choose the model. */
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
    message: `The agent does not accept the model "${model}": ${answer.error.message}`,
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

/** An error that the agent answered. */
interface PeerError {
  readonly code: number;
  readonly message: string;
}

type PeerAnswer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: PeerError };

/** The requests to agents, with the types of the protocol's own package. `session/set_model` is for older agents. */
type Questions = AgentRequestParamsByMethod & {
  readonly "session/set_model": { readonly sessionId: string; readonly modelId: string };
};

interface Peer {
  call<Method extends keyof Questions>(method: Method, params: Questions[Method]): Promise<PeerAnswer>;
  notify(method: "session/cancel", params: { readonly sessionId: string }): void;
}

interface PeerListener {
  notified(method: string, params: unknown): void;
  /** Answers the agent's request; undefined if the method is unknown. */
  asked(method: string, params: unknown): RequestPermissionResponse | undefined;
}

/** JSON-RPC over lines. Calls that are open when the agent ends are answered with an error. */
function createPeer(input: Readable, output: Writable, listener: PeerListener): Peer {
  const open = new Map<number, (answer: PeerAnswer) => void>();
  const lines = jsonLines();
  let last = 0;
  let isGone = false;

  const send = (message: Readonly<Record<string, unknown>>) =>
    output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  function take(message: Readonly<Record<string, unknown>>): void {
    const { id, method } = message;
    if (typeof method === "string" && id !== undefined) {
      const result = listener.asked(method, message.params);
      send(result === undefined ? { id, error: { code: -32601, message: "Method not found" } } : { id, result });
    } else if (typeof method === "string") listener.notified(method, message.params);
    else if (typeof id === "number") {
      open.get(id)?.(answerIn(message));
      open.delete(id);
    }
  }

  function gone(): void {
    isGone = true;
    for (const answer of open.values()) answer({ ok: false, error: { code: 0, message: "The agent has ended." } });
    open.clear();
  }

  input.on("data", (chunk: Buffer) => lines.push(chunk).forEach(take));
  input.on("close", gone);
  // The agent may have ended already; the input stream reports that.
  output.on("error", () => {});

  return {
    notify: (method, params) => void send({ method, params }),
    call: (method, params) =>
      new Promise((resolve) => {
        if (isGone) return resolve({ ok: false, error: { code: 0, message: "The agent has ended." } });
        open.set(++last, resolve);
        send({ id: last, method, params });
      }),
  };
}

function answerIn(message: Readonly<Record<string, unknown>>): PeerAnswer {
  if (!isJsonObject(message.error)) return { ok: true, result: message.result };
  const details = jsonAt(message.error, "data", "details") ?? jsonAt(message.error, "data", "message");
  const said = [textAt(message.error, "message"), typeof details === "string" ? details : ""];
  return {
    ok: false,
    error: { code: numberAt(message.error, "code") ?? 0, message: said.filter((each) => each !== "").join(": ") },
  };
}
