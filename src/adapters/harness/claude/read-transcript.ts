import type { HarnessEvent } from "../../../ports/harness.ts";
import { objectOf, parseObject, textOf } from "../read-json.ts";
import { usageOfMessage } from "./read-usage.ts";

const remembered = 1000;

/** Reads transcripts for what was used up; all else hooks have said before. */
export function createTranscriptReader(): (line: string) => readonly HarnessEvent[] {
  // Each part of an answer is a line of its own, with the usage of the whole.
  const counted = new Set<string>();
  return (line) => {
    // Most lines are something else, and some are very long.
    if (!line.includes('"assistant"')) return [];
    const { type, message } = parseObject(line);
    const { id, model, usage } = objectOf(message);
    if (type !== "assistant" || usage === undefined || model === "<synthetic>" || counted.has(textOf(id))) return [];
    counted.add(textOf(id));
    if (counted.size > remembered) counted.delete(counted.values().next().value ?? "");
    return [{ kind: "usage", usage: usageOfMessage(textOf(model), objectOf(usage)) }];
  };
}
