import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import type { Call } from "../../api/client.ts";
import { type Answer, errorOf, mcpServer, type Reply, type Tool, type ToolsOf } from "../../api/mcp-server.ts";
import { runToolNames, runTools } from "../../api/mcp-tools.ts";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { packageVersion } from "../../home/places.ts";
import { parseJson } from "../../json.ts";
import { createCall } from "../connect.ts";
import { commentTask, moveTask } from "../unanswered-requests.ts";
import { command } from "./command.ts";

export const mcp = command({
  isForRuns: true,
  parameters: {},
  docs: {
    brief: "Speak the Model Context Protocol on stdin and stdout, for the agent that starts it",
    fullDescription: `Harnesses start it for their agents; you do not need to. It acts for the run whose SIGNALBOX_TOKEN it has, and only on that run's task. Its tools are those that the workflow gives the run by name under tools: task_update (status, summary, branch), comment (text), stage_message (to, message, priority) and work_complete (summary, outcome, reason, documents). Without such a list they are task_update and comment. A refusal is an error of the tool, which says what is missing.

The daemon speaks the same protocol over HTTP, as POST /v1/mcp; there a person's token gives the tools task_create, task_list, task_show, task_answer, task_explain and task_findings.

Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
  async func(): Promise<void> {
    const call = createCall(this);
    const answer = mcpServer(ownTools(call, process.env.SIGNALBOX_TOKEN), packageVersion);
    await serveLines(process.stdin, (line) => this.process.stdout.write(`${line}\n`), answer);
  },
});

const own = { params: { task: "." }, query: {} };

/** The tools of the run, as its workflow gives them to it in the state in which the client lists them. */
function ownTools(call: Call, token: string | undefined): ToolsOf {
  const tools = runTools({
    call,
    move: (to) => moveTask(call, own, { to }),
    comment: (text) => commentTask(call, own, text),
  });
  if (!token) return async () => named(tools, runToolNames(undefined)).map(refusing);
  let names: readonly string[] | undefined;
  return async (isListing) => {
    if (isListing || names === undefined) names = (await call(routes.listTools)).tools;
    return named(tools, names);
  };
}

function named(tools: readonly Tool[], names: readonly string[]): readonly Tool[] {
  return tools.filter(({ name }) => names.includes(name));
}

function refusing(tool: Tool): Tool {
  const { message, hint } = new Fault("caller.unknown", "This server acts for a run, but SIGNALBOX_TOKEN is not set.", {
    hint: "Use it only in agents that Signalbox has started.",
  });
  return { ...tool, call: async () => ({ text: `${message}\n${hint}`, isError: true }) };
}

/** Longer than any sensible message: a document of 1 MB can be several times as long in JSON. */
const maxLength = 8 * 1024 * 1024;

/**
 * Answers the lines one after the other, because an agent's later request may depend on an earlier one.
 * Returns at the end of the input.
 */
export async function serveLines(input: Readable, write: (line: string) => void, answer: Answer): Promise<void> {
  for await (const line of linesOf(input)) {
    const reply =
      line === undefined ? errorOf(null, "request", "The message is too long.") : await answerLine(line, answer);
    if (reply !== undefined) write(JSON.stringify(reply));
  }
}

async function answerLine(line: Buffer, answer: Answer): Promise<Reply | readonly Reply[] | undefined> {
  // Decoded leniently, wrong bytes would silently become other text.
  if (!isUtf8(line)) return errorOf(null, "parse", "The line is not UTF-8.");
  const text = line.toString("utf8");
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return errorOf(null, "parse", "The line is not JSON.");
  }
  return answer(value);
}

/** Lines without their newlines; undefined stands for a line that is too long. */
async function* linesOf(input: Readable): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Buffer | undefined => {
    const line = length > maxLength ? undefined : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  const add = (part: Buffer) => {
    length += part.length;
    if (length > maxLength) parts = [];
    else parts.push(part);
  };
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    let rest = Buffer.from(chunk);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      add(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      yield take();
    }
    add(rest);
  }
  if (length > 0 && length <= maxLength) yield take();
}
