import { parseObject } from "./json-at.ts";
import { splitLines } from "./split-lines.ts";

export interface JsonLines {
  /** The objects in the lines that are complete now. Lines that are none are passed over: programs talk. */
  push(chunk: Uint8Array): readonly Readonly<Record<string, unknown>>[];
  /** What the last line holds, though nothing ends it. */
  rest(): readonly Readonly<Record<string, unknown>>[];
}

export function jsonLines(): JsonLines {
  const lines = splitLines();
  return {
    push: (chunk) => lines.push(chunk).flatMap(objectIn),
    rest: () => objectIn(lines.rest()),
  };
}

function objectIn(line: string): readonly Readonly<Record<string, unknown>>[] {
  const value = parseObject(line);
  return value === undefined ? [] : [value];
}
