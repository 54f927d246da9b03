import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { jsonAt, parseObject } from "./json-at.ts";
import { noTokens, readCount, type TokenCount } from "./token-count.ts";

const first = 64 * 1024;
const most = 64 * 1024 * 1024;

/** What a session has used up so far, as the end of its transcript tells. Looks only as far back as it must. */
export function tokensOf(transcript: string): TokenCount {
  if (transcript === "") return noTokens;
  let file: number;
  try {
    file = openSync(transcript, "r");
  } catch {
    return noTokens;
  }
  try {
    const { size } = fstatSync(file);
    for (let length = first; ; length *= 4) {
      const tail = Buffer.alloc(Math.min(length, size));
      readSync(file, tail, 0, tail.length, size - tail.length);
      const found = lastCount(tail.toString("utf8"));
      if (found !== undefined) return found;
      if (tail.length === size || length > most) return noTokens;
    }
  } finally {
    closeSync(file);
  }
}

function lastCount(text: string): TokenCount | undefined {
  const lines = text.split("\n");
  const line = lines.findLast((each) => each.includes('"token_usage_record"') && parseObject(each) !== undefined);
  return line === undefined ? undefined : readCount(jsonAt(parseObject(line), "payload", "thread_token_usage"));
}
