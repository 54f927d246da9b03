import type { HarnessError, HarnessEvent, OutputReader } from "../../../ports/harness.ts";
import { isJsonObject } from "../../json-at.ts";
import { endedBadly, endedByUs, failureOf } from "../failure-of.ts";
import { jsonLines } from "../json-lines.ts";

/** Reads what our bridge prints. */
export function readBridge(title: string): OutputReader {
  const lines = jsonLines();
  let text = "";
  let isOver = false;
  let error: HarnessError | undefined;

  function read(line: Readonly<Record<string, unknown>>): readonly HarnessEvent[] {
    if ("end" in line) {
      isOver = true;
      if (isJsonObject(line.end)) error = line.end as unknown as HarnessError;
    }
    if (!isJsonObject(line.event)) return [];
    const event = line.event as unknown as HarnessEvent;
    if (event.kind === "said") text = event.text;
    return [event];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end(end, errors) {
      const events = lines.rest().flatMap(read);
      return { text, answer: undefined, events, error: endedByUs(end, title) ?? told() };

      function told(): HarnessError | undefined {
        if (!isOver) return endedBadly(end, title, errors);
        if (error === undefined || error.kind !== "other" || !/has ended/.test(error.message)) return error;
        // It went away in the middle. The reason, if it gave one, is on the other channel.
        const said = errors.trim().split("\n").at(-1) ?? "";
        return said === "" ? error : failureOf(said);
      }
    },
  };
}
