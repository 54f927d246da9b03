import type { HarnessError, HarnessEvent, OutputReader } from "../../../ports/harness.ts";
import { endedBadly } from "../ended-badly.ts";
import { parseObject, readEventLine } from "../event-line.ts";
import { createLineSplitter } from "../line-splitter.ts";

/** Reads the lines that a turn prints: events, and one result at its end. What else is printed is passed over. */
export function readScriptedOutput(): OutputReader {
  const lines = createLineSplitter();
  let result: Readonly<Record<string, unknown>> | undefined;
  let failed: HarnessError | undefined;
  let said = "";
  const take = (line: string): readonly HarnessEvent[] => {
    const event = readEventLine(line);
    if (event?.kind === "failed") {
      failed = event.error;
      return [];
    }
    if (event?.kind === "said") said = event.text;
    if (event !== undefined) return [event];
    const read = parseObject(line);
    if (read?.kind === "result") result = read;
    return [];
  };
  return {
    push: (chunk) => lines.push(chunk).flatMap(take),
    end(end, errors) {
      const events = take(lines.rest());
      const text = typeof result?.text === "string" ? result.text : said;
      const silent: HarnessError = {
        kind: "other",
        message: "The scripted agent ended without a result.",
        resetAt: undefined,
      };
      const error =
        failed ?? endedBadly("The scripted agent", end, errors) ?? (result === undefined ? silent : undefined);
      return { text, answer: result?.answer, error, events };
    },
  };
}
