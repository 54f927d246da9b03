import type { Readable } from "node:stream";
import { type Call, Refusal } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { packageVersion } from "../../home/places.ts";
import { isJsonObject, parseJson } from "../../json.ts";
import { createCall } from "../connect.ts";
import { writeRefusal } from "../fast/tell.ts";
import { count } from "../text.ts";
import { commentTask, moveTask } from "../unanswered-requests.ts";
import { command } from "./command.ts";

export const mcp = command({
  isForRuns: true,
  parameters: {},
  docs: {
    brief: "Speak the Model Context Protocol on stdin and stdout, for the agent that starts it",
    fullDescription: `Harnesses start it for their agents; you do not need to. It acts for the run whose SIGNALBOX_TOKEN it has, and only on that run's task. Its tools are task_update (status, summary, branch) and comment (text). A refusal is an error of the tool, which says what is missing.

Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
  async func(): Promise<void> {
    const answer = mcpServer(runTools(createCall(this), process.env.SIGNALBOX_TOKEN), packageVersion);
    await serveLines(process.stdin, (line) => this.process.stdout.write(`${line}\n`), answer);
  },
});

/** JSON-RPC 2.0 as one JSON text on each line. */
type Id = string | number | null;

interface Request {
  readonly id: Id;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The client expects no answer. */
  readonly isNotification: boolean;
}

type Reply =
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly result: unknown }
  | { readonly jsonrpc: "2.0"; readonly id: Id; readonly error: { readonly code: number; readonly message: string } };

const errorCodes = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602, internal: -32_603 };

function resultOf(id: Id, result: unknown): Reply {
  return { jsonrpc: "2.0", id, result };
}

function errorOf(id: Id, kind: keyof typeof errorCodes, message: string): Reply {
  return { jsonrpc: "2.0", id, error: { code: errorCodes[kind], message } };
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

/** The newest version comes first. */
const versions = ["2025-06-18", "2025-03-26", "2024-11-05"];

/** Handles the requests of the Model Context Protocol, for a server that has only tools. */
export function mcpServer(tools: readonly Tool[], version: string): (request: Request) => Promise<Reply | undefined> {
  return async ({ id, method, params }) => {
    switch (method) {
      case "initialize":
        return resultOf(id, {
          // For an unknown version the server offers its newest, and the client decides.
          protocolVersion: versions.find((each) => each === params.protocolVersion) ?? versions[0],
          capabilities: { tools: { listChanged: false } },
          serverInfo: { name: "signalbox", title: "Signalbox", version },
          instructions:
            "Reports the state of your task to Signalbox. A refusal says what is missing: fix it and ask again.",
        });
      case "ping":
        return resultOf(id, {});
      case "tools/list":
        return resultOf(id, { tools: tools.map(({ call: _, ...tool }) => tool) });
      case "tools/call":
        return callTool(tools, id, params);
      default:
        return method.startsWith("notifications/")
          ? undefined
          : errorOf(id, "method", `There is no method "${method}" here.`);
    }
  };
}

async function callTool(tools: readonly Tool[], id: Request["id"], params: Request["params"]): Promise<Reply> {
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    return errorOf(id, "params", `There is no tool ${JSON.stringify(params.name ?? "")}. There are ${names}.`);
  }
  const { text, isError } = await tool.call(params.arguments ?? {});
  return resultOf(id, { content: [{ type: "text", text }], isError });
}

const own = { params: { task: "." }, query: {} };

/** The tools of a run. The run's credential determines the task; a caller cannot choose another. */
function runTools(call: Call, token: string | undefined): readonly Tool[] {
  return [
    {
      name: "task_update",
      title: "Update the task",
      description:
        "Ask for the next state of your task, or change its summary or the name of its branch. A refusal says what is missing; then fix it and ask again.",
      inputSchema: form({
        status: "The state to ask for",
        summary: "The task in one line",
        branch: "The new name of its branch",
      }),
      call: safely(token, async (input) => {
        const { status, summary, branch } = texts(input, ["status", "summary", "branch"]);
        const set = { ...(summary === undefined ? {} : { summary }), ...(branch === undefined ? {} : { branch }) };
        const isEdit = Object.keys(set).length > 0;
        if (!isEdit && status === undefined)
          throw new Fault("usage", "There is nothing to change.", { hint: "Give status, summary or branch." });
        const edited = isEdit ? await call(routes.editTask, { ...own, body: set }) : undefined;
        const moved = status === undefined ? undefined : await move(call, status, isEdit);
        return [...(edited === undefined ? [] : [`Changed: ${Object.keys(set).join(", ")}.`]), ...(moved ?? [])];
      }),
    },
    {
      name: "comment",
      title: "Comment on the task",
      description: "Write something into the history of your task, for the people who follow it.",
      inputSchema: form({ text: "What they should know" }, ["text"]),
      call: safely(token, async (input) => {
        const { text = "" } = texts(input, ["text"]);
        if (text.trim() === "") throw new Fault("usage", "The comment is empty.", { hint: "Give a text." });
        await commentTask(call, own, text);
        return ["The comment is in the task's history."];
      }),
    },
  ];
}

async function move(call: Call, to: string, wasEdited: boolean): Promise<readonly string[]> {
  try {
    const { kind, from, task, why } = await moveTask(call, own, { to });
    const said = kind === "moved" ? `${from} → ${task.status}` : kind === "stayed" ? task.status : why;
    return [said, ...(task.held === null ? [] : [`Held for a person: ${task.held.reason}`])];
  } catch (error) {
    if (!(error instanceof Refusal) || !wasEdited) throw error;
    throw new Fault("refused", written(error, "Nothing else has changed."), { cause: error });
  }
}

/** Errors become the tool's result, which the agent reads; the protocol's own errors reach only its client. */
function safely(token: string | undefined, work: (input: unknown) => Promise<readonly string[]>): Tool["call"] {
  return async (input) => {
    try {
      if (!token)
        throw new Fault("caller.unknown", "This server acts for a run, but SIGNALBOX_TOKEN is not set.", {
          hint: "Use it only in agents that Signalbox has started.",
        });
      return { text: (await work(input)).join("\n"), isError: false };
    } catch (error) {
      return { text: written(error), isError: true };
    }
  };
}

function written(error: unknown, last = "Nothing has changed."): string {
  if (error instanceof Refusal) {
    const { message, hint } = writeRefusal(error.reasons, last);
    return `${message}\n${hint}`;
  }
  if (error instanceof Fault) return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
  return `Signalbox has a bug: ${error instanceof Error ? error.message : String(error)}`;
}

function form(texts: Readonly<Record<string, string>>, required: readonly string[] = []): unknown {
  const properties = Object.entries(texts).map(([name, description]) => [name, { type: "string", description }]);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function texts<Name extends string>(input: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  if (!isJsonObject(input)) throw new Fault("usage", "The arguments must be an object.");
  const wrong = Object.entries(input).filter(
    ([name, value]) => !names.includes(name as Name) || typeof value !== "string",
  );
  if (wrong.length === 0) return input as Partial<Record<Name, string>>;
  throw new Fault("usage", `The tool does not accept ${count(wrong.length, "argument")}: ${wrong[0]?.[0]}.`, {
    hint: `It takes ${names.join(", ")}, each a string.`,
  });
}

/** Longer than any sensible message. */
const maxLength = 4 * 1024 * 1024;

/**
 * Answers the lines one after the other, because an agent's later request may depend on an earlier one.
 * Returns at the end of the input.
 */
export async function serveLines(
  input: Readable,
  write: (line: string) => void,
  answer: (request: Request) => Promise<Reply | undefined>,
): Promise<void> {
  for await (const line of linesOf(input)) {
    const reply =
      line === undefined ? errorOf(null, "request", "The message is too long.") : await answerLine(line, answer);
    if (reply !== undefined) write(JSON.stringify(reply));
  }
}

async function answerLine(line: string, answer: (request: Request) => Promise<Reply | undefined>) {
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return errorOf(null, "parse", "The line is not JSON.");
  }
  // An older protocol version allows batches.
  if (!Array.isArray(value)) return answerOne(value, answer);
  const replies: Reply[] = [];
  for (const each of value) {
    const reply = await answerOne(each, answer);
    if (reply !== undefined) replies.push(reply);
  }
  return replies.length > 0 ? replies : undefined;
}

async function answerOne(value: unknown, answer: (request: Request) => Promise<Reply | undefined>) {
  const request = readRequest(value);
  if (request === undefined) return undefined;
  if (typeof request === "string") return errorOf(null, "request", request);
  const reply = await answer(request);
  return request.isNotification ? undefined : reply;
}

/** Lines without their newlines; undefined stands for a line that is too long. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let isTooLong = false;
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      yield isTooLong ? undefined : line;
      isTooLong = false;
    }
    if (rest.length > maxLength) {
      isTooLong = true;
      rest = "";
    }
  }
  if (rest !== "" && !isTooLong) yield rest;
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
