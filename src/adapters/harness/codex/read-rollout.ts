import type { HarnessEvent } from "../../../ports/harness.ts";
import { errorOf } from "./error-of.ts";
import { jsonAt, parseObject, textAt } from "./json-at.ts";
import { noTokens, readCount, usageBetween } from "./token-count.ts";

/** What a line of a session's transcript says beyond what the hooks have said. */
export function readRollout(line: string, now: number): readonly HarnessEvent[] {
  const json = parseObject(line);
  const payload = jsonAt(json, "payload");
  switch (textAt(json, "type")) {
    // One for each answer of the model. `token_count` says the same, but now and then once more.
    case "token_usage_record": {
      const usage = usageBetween(noTokens, readCount(jsonAt(payload, "usage")), "");
      return usage === undefined ? [] : [{ kind: "usage", usage }];
    }
    case "response_item":
      return readItem(payload);
    case "event_msg":
      return readMessage(payload, now);
    default:
      return [];
  }
}

function readItem(payload: unknown): readonly HarnessEvent[] {
  const type = textAt(payload, "type");
  return type === "function_call" || type === "custom_tool_call"
    ? [{ kind: "busy", what: textAt(payload, "name") }]
    : [];
}

function readMessage(payload: unknown, now: number): readonly HarnessEvent[] {
  const type = textAt(payload, "type");
  if (type === "item_completed" && textAt(payload, "item", "type") === "AgentMessage") {
    const content = jsonAt(payload, "item", "content");
    const text = Array.isArray(content) ? content.map((part) => textAt(part, "text")).join("") : "";
    return text === "" ? [] : [{ kind: "said", text }];
  }
  // A turn that failed runs no hook at its end.
  const failure = type === "task_complete" ? textAt(payload, "error", "message") : "";
  if (failure === "") return [];
  return [
    { kind: "failed", error: errorOf(failure, now) },
    { kind: "idle", said: "" },
  ];
}
