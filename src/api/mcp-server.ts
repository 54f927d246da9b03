import { isJsonObject } from "../json.ts";

// The Model Context Protocol, over any transport, for a server that has only tools.

type Id = string | number | null;

interface Request {
  readonly id: Id;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The client expects no answer. */
  readonly isNotification: boolean;
}

export type Reply =
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly result: unknown }
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly error: { readonly code: number; readonly message: string } };

const errorCodes = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602, internal: -32_603 };

function resultOf(id: Id, result: unknown): Reply {
  return { jsonrpc: "2.0", id, result };
}

export function errorOf(id: Id, kind: keyof typeof errorCodes, message: string): Reply {
  return { jsonrpc: "2.0", id, error: { code: errorCodes[kind], message } };
}

/** A tool, as the client sees it, and its handler. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: unknown;
  call(input: unknown): Promise<{ readonly text: string; readonly isError: boolean }>;
}

/** The newest version comes first. */
export const protocolVersions = ["2025-06-18", "2025-03-26", "2024-11-05"];

/** Answers a JSON-RPC message; undefined where none is expected. */
export type Answer = (message: unknown) => Promise<Reply | readonly Reply[] | undefined>;

/**
 * The tools that the caller has. `isListing`: the client asks for the list; a later call may be checked against that list. It
 * may throw: then the list is an error, and so is every call.
 */
export type ToolsOf = (isListing: boolean) => Promise<readonly Tool[]>;

export function mcpServer(toolsOf: ToolsOf, version: string): Answer {
  const answerOne = async (value: unknown): Promise<Reply | undefined> => {
    const request = readRequest(value);
    if (request === undefined) return undefined;
    if (typeof request === "string") return errorOf(null, "request", request);
    const reply = await answer(toolsOf, version, request);
    return request.isNotification ? undefined : reply;
  };
  return async (message) => {
    // An older protocol version allows batches.
    if (!Array.isArray(message)) return answerOne(message);
    const replies: Reply[] = [];
    // One after the other, because a later request may depend on an earlier one.
    for (const each of message) {
      const reply = await answerOne(each);
      if (reply !== undefined) replies.push(reply);
    }
    return replies.length > 0 ? replies : undefined;
  };
}

/** Parses a request; a text says why it is invalid. Undefined for a response: this server sends no requests. */
function readRequest(value: unknown): Request | string | undefined {
  if (!isJsonObject(value) || value.jsonrpc !== "2.0") return "This is not a JSON-RPC 2.0 message.";
  const { id, method, params = {} } = value;
  if (method === undefined && ("result" in value || "error" in value)) return undefined;
  if (typeof method !== "string") return "The method must be a string.";
  if (id !== undefined && typeof id !== "string" && typeof id !== "number")
    return "The id must be a string or a number.";
  if (!isJsonObject(params)) return "The params must be an object.";
  return { id: id ?? null, method, params, isNotification: id === undefined };
}

async function answer(toolsOf: ToolsOf, version: string, { id, method, params }: Request): Promise<Reply | undefined> {
  switch (method) {
    case "initialize":
      return resultOf(id, {
        // For an unknown version the server offers its newest, and the client decides.
        protocolVersion: protocolVersions.find((each) => each === params.protocolVersion) ?? protocolVersions[0],
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: "signalbox", title: "Signalbox", version },
        instructions:
          "Reports the state of your task to Signalbox. A refusal says what is missing: fix it and ask again.",
      });
    case "ping":
      return resultOf(id, {});
    case "tools/list":
      try {
        return resultOf(id, { tools: (await toolsOf(true)).map(({ call: _, ...tool }) => tool) });
      } catch (error) {
        return errorOf(id, "internal", error instanceof Error ? error.message : String(error));
      }
    case "tools/call":
      return callTool(toolsOf, id, params);
    default:
      return method.startsWith("notifications/")
        ? undefined
        : errorOf(id, "method", `There is no method "${method}" here.`);
  }
}

async function callTool(toolsOf: ToolsOf, id: Request["id"], params: Request["params"]): Promise<Reply> {
  let tools: readonly Tool[];
  try {
    tools = await toolsOf(false);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return resultOf(id, { content: [{ type: "text", text }], isError: true });
  }
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    return errorOf(id, "params", `There is no tool ${JSON.stringify(params.name ?? "")}. There are ${names}.`);
  }
  const { text, isError } = await tool.call(params.arguments ?? {});
  return resultOf(id, { content: [{ type: "text", text }], isError });
}
