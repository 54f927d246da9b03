import type { HarnessEvent } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { failureOf } from "../failure-of.ts";
import { numberAt, parseObject, textAt } from "../json-at.ts";
import { failureIn } from "./failure-in.ts";
import { usageOf } from "./read-turn.ts";

/** Reads a line that our plugin handed to the hook. */
export function readEvent(line: string): readonly HarnessEvent[] {
  const event = parseObject(line);
  if (event === undefined || event.harness !== "opencode") return [];
  switch (event.event) {
    case "session":
      return [{ kind: "session", id: textAt(event, "session"), transcript: "" }];
    case "prompted":
      return [{ kind: "prompted", text: textAt(event, "text") }];
    case "busy":
      return [{ kind: "busy", what: textAt(event, "what") }];
    case "retry":
      return [
        {
          kind: "failed",
          error: failureOf(textAt(event, "message"), { resetAt: numberAt(event, "next") }),
        },
        { kind: "busy", what: "waits to try again" },
      ];
    case "said":
      return [{ kind: "said", text: textAt(event, "text") }];
    case "tool":
      return [{ kind: "tool", name: textAt(event, "name"), state: event.state === "ended" ? "ended" : "began" }];
    case "usage":
      return [usageOf(event, textAt(event, "model"))];
    case "idle":
      return [{ kind: "idle", said: textAt(event, "said") }];
    case "asks":
      return [{ kind: "asks", about: textAt(event, "about") }];
    case "failed":
      return [{ kind: "failed", error: failureIn(jsonAt(event, "error")) }];
    default:
      return [];
  }
}
