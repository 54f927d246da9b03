import { type JsonObject, parseObject } from "./json-at.ts";

/** A line may hold what a command printed, but a program that never ends its line must not fill the memory. */
const longest = 32 * 1024 * 1024;

export interface JsonLines {
  /** The objects in the lines that are complete now. Whatever else is printed is passed over. */
  push(chunk: Uint8Array): readonly JsonObject[];
  /** What the last line holds, though nothing ended it. */
  rest(): readonly JsonObject[];
}

export function jsonLines(): JsonLines {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;
  const add = (text: string) => {
    length += text.length;
    if (length > longest) pieces = [];
    else pieces.push(text);
  };
  const take = (): readonly JsonObject[] => {
    const found = parseObject(pieces.join(""));
    pieces = [];
    length = 0;
    return found === undefined ? [] : [found];
  };
  return {
    push(chunk) {
      const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
      add(first);
      return others.flatMap((piece) => {
        const found = take();
        add(piece);
        return found;
      });
    },
    rest: take,
  };
}
