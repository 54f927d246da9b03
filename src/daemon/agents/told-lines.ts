import type { HarnessEvent } from "../../ports/harness.ts";

/** What a run without a terminal has told, for people: what it said, what it was asked, and what it is at. */
export function toldLines(events: readonly HarnessEvent[]): string {
  return events
    .flatMap(lineOf)
    .filter((line, i, all) => line !== "" && line !== all[i - 1])
    .join("\n");
}

function lineOf(event: HarnessEvent): readonly string[] {
  switch (event.kind) {
    case "prompted":
      return [`> ${event.text.trim().split("\n", 1)[0] ?? ""}`];
    case "said":
      return [event.text.trim()];
    case "tool":
      return event.state === "began" ? [`· ${event.name}`] : [];
    case "busy":
      return event.what === "" ? [] : [`· ${event.what}`];
    case "asks":
      return [`? ${event.about}`];
    case "failed":
      return [`! ${event.error.message}`];
    default:
      return [];
  }
}
