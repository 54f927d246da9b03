import type { HarnessEvent } from "../../../ports/harness.ts";
import { parseObject, textAt } from "../json-at.ts";

/** Reads what Gemini hands to a hook. */
export function readEvent(line: string): readonly HarnessEvent[] {
  const event = parseObject(line);
  if (event === undefined) return [];
  switch (event.hook_event_name) {
    case "SessionStart":
      return [{ kind: "session", id: textAt(event, "session_id"), transcript: textAt(event, "transcript_path") }];
    case "BeforeAgent":
      return [
        { kind: "prompted", text: textAt(event, "prompt") },
        { kind: "busy", what: "" },
      ];
    case "AfterAgent":
      // The answer that comes with it has words twice; the transcript has it right.
      return [{ kind: "idle", said: "" }];
    case "BeforeTool":
      return [{ kind: "tool", name: textAt(event, "tool_name"), state: "began" }];
    case "AfterTool":
      return [{ kind: "tool", name: textAt(event, "tool_name"), state: "ended" }];
    case "Notification":
      return [{ kind: "asks", about: textAt(event, "message") }];
    case "SessionEnd":
      // A cleared session is followed by another one.
      return event.reason === "clear" ? [] : [{ kind: "over" }];
    default:
      return [];
  }
}
