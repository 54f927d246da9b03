import type { HarnessEvent } from "../../../ports/harness.ts";
import { parseObject, textOf } from "../read-json.ts";
import { classifyError } from "./classify-error.ts";

/** What a hook was told, as events of ours. */
export function readHook(line: string): readonly HarnessEvent[] {
  const told = parseObject(line);
  const tool = textOf(told.tool_name);
  switch (told.hook_event_name) {
    case "SessionStart":
      return [{ kind: "session", id: textOf(told.session_id), transcript: textOf(told.transcript_path) }];
    // Also for a message that came while it was busy, as soon as it is among those to be read.
    case "UserPromptSubmit":
      return [
        { kind: "prompted", text: textOf(told.prompt) },
        { kind: "busy", what: "" },
      ];
    case "PreToolUse":
      return [{ kind: "tool", name: tool, state: "began" }];
    case "PostToolUse":
    case "PostToolUseFailure":
      return [{ kind: "tool", name: tool, state: "ended" }];
    case "PermissionRequest":
      return [{ kind: "asks", about: tool }];
    case "Notification":
      return isDialog(textOf(told.notification_type)) ? [{ kind: "asks", about: textOf(told.message) }] : [];
    case "PreCompact":
      return [{ kind: "busy", what: "shortens the conversation" }];
    case "Stop":
      return [{ kind: "idle", said: textOf(told.last_assistant_message) }];
    case "StopFailure": {
      const text = textOf(told.last_assistant_message);
      const error = classifyError({ text, status: 0, words: [textOf(told.error)], resetAt: undefined });
      return [
        { kind: "failed", error },
        { kind: "idle", said: text },
      ];
    }
    case "SessionEnd":
      // A person who clears the conversation, or takes up another, goes on in a session of another id.
      return ["clear", "resume"].includes(textOf(told.reason)) ? [] : [{ kind: "over" }];
    default:
      return [];
  }
}

function isDialog(notification: string): boolean {
  return ["permission_prompt", "elicitation_dialog"].includes(notification);
}
