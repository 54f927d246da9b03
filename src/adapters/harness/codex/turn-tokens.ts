import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { jsonAt } from "../../json-at.ts";
import { parseObject } from "../json-at.ts";
import { noTokens, readCount, type TokenCount } from "./token-count.ts";

const first = 64 * 1024;
const most = 64 * 1024 * 1024;

/**
 * What the last turn of a session has used up, as the end of its transcript tells; undefined where there is no
 * transcript. Looks only as far back as it must.
 */
export function turnTokens(transcript: string): TokenCount | undefined {
  let file: number;
  try {
    file = openSync(transcript, "r");
  } catch {
    return undefined;
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

/** Undefined where the text begins in the middle of the turn, before anything was told. */
function lastCount(text: string): TokenCount | undefined {
  for (const line of text.split("\n").reverse()) {
    if (!line.includes('"token_usage_record"') && !line.includes('"task_started"')) continue;
    const json = parseObject(line);
    if (jsonAt(json, "type") === "token_usage_record") return readCount(jsonAt(json, "payload", "turn_token_usage"));
    if (jsonAt(json, "payload", "type") === "task_started") return noTokens;
  }
  return undefined;
}
