import { parseObject } from "./json-at.ts";

/** A line may hold what a tool printed, but a program that never ends its line must not fill the memory. */
const longest = 32 * 1024 * 1024;

export interface JsonLines {
  /** The objects in the lines that are complete now. Lines that are none are passed over: programs talk. */
  push(chunk: Uint8Array): readonly Readonly<Record<string, unknown>>[];
  /** What the last line holds, though nothing ends it. */
  rest(): readonly Readonly<Record<string, unknown>>[];
}

export function jsonLines(): JsonLines {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;

  function take(): readonly Readonly<Record<string, unknown>>[] {
    const line = length > longest ? "" : pieces.join("").trim();
    pieces = [];
    length = 0;
    const value = line.startsWith("{") ? parseObject(line) : undefined;
    return value === undefined ? [] : [value];
  }

  function add(text: string): void {
    length += text.length;
    if (length > longest) pieces = [];
    else pieces.push(text);
  }

  return {
    push(chunk) {
      const found: Readonly<Record<string, unknown>>[] = [];
      const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
      add(first);
      for (const piece of others) {
        found.push(...take());
        add(piece);
      }
      return found;
    },
    rest: take,
  };
}
