import type { OutputReader } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";
import { toldLines } from "../agents/told-lines.ts";
import type { ReadOutput } from "./output-part.ts";

/** What a harness needs to have read before to understand the next line, in bytes: what is said may come word by word. */
const context = 1024 * 1024;

export interface Asked {
  readonly from: number;
  /** How much is read at once; more only where a line is longer. */
  readonly most: number;
  /** Nothing more will be printed. */
  readonly isOver: boolean;
  /** How its program ended and what that printed last on its other channel, where that is known. */
  readonly ending?: { readonly end: ProcessEnd; readonly errors: string } | undefined;
}

/**
 * What a run without a terminal has told from a position on, for people: what its harness understands of it, and lines that
 * are no data as they are. Only whole lines, while more can come.
 */
export async function toldPart(
  read: ReadOutput,
  reader: OutputReader,
  { from, most, isOver, ending }: Asked,
): Promise<{ text: string; next: number }> {
  const begin = Math.max(0, from - context);
  for (const line of linesOf(await read(begin, from - begin), begin > 0).lines) reader.push(line);
  let bytes = await read(from, most);
  let limit = most;
  while (bytes.length === limit && !bytes.includes(newline)) {
    limit *= 4;
    bytes = await read(from, limit);
  }
  const { lines, rest } = linesOf(bytes, false);
  const isLast = isOver && bytes.length < limit;
  const all = isLast && rest.length > 0 ? [...lines, Buffer.concat([rest, Buffer.from("\n")])] : lines;
  const text = all.map((line) => toldIn(reader, line)).join("");
  // Who has read everything and asks again is not told again.
  const failure = isLast && bytes.length > 0 ? failureOf(reader, ending) : "";
  return {
    text: text.endsWith(failure) ? text : text + failure,
    next: from + bytes.length - (isLast ? 0 : rest.length),
  };
}

/** Only its end tells whether it went well. */
function failureOf(reader: OutputReader, ending: Asked["ending"]): string {
  const error = ending === undefined ? undefined : reader.end(ending.end, ending.errors).error;
  return error === undefined ? "" : `${toldLines([{ kind: "failed", error }])}\n`;
}

function toldIn(reader: OutputReader, line: Uint8Array): string {
  const events = reader.push(line);
  const text = new TextDecoder().decode(line);
  if (events.length === 0 && !isData(text)) return text;
  const told = toldLines(events);
  return told === "" ? "" : `${told}\n`;
}

/** Whole lines, each with its end, and what comes after them. `isCut`: the first is only the end of one. */
function linesOf(bytes: Uint8Array, isCut: boolean): { lines: readonly Uint8Array[]; rest: Uint8Array } {
  const lines: Uint8Array[] = [];
  let at = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, at)) {
    lines.push(bytes.subarray(at, end + 1));
    at = end + 1;
  }
  return { lines: isCut ? lines.slice(1) : lines, rest: bytes.subarray(at) };
}

function isData(line: string): boolean {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === "object" && read !== null;
  } catch {
    return false;
  }
}

const newline = 10;
