import type { Readable } from "node:stream";
import { errorOf, type Reply, type Request, readRequest } from "./json-rpc.ts";

/** Longer than any message that makes sense. */
const longest = 4 * 1024 * 1024;

/**
 * Answers every line that comes in, one after the other: what an agent asks for later may depend on what it asked before.
 * Returns when nothing more comes.
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
    value = JSON.parse(line);
  } catch {
    return errorOf(null, "parse", "The line is no JSON.");
  }
  // An older protocol lets several come at once.
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

/** Lines without their ends; undefined stands for one that is too long. */
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
    if (rest.length > longest) {
      isTooLong = true;
      rest = "";
    }
  }
  if (rest !== "" && !isTooLong) yield rest;
}
