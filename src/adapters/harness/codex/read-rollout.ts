import type { HarnessEvent } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { parseObject, textAt } from "../json-at.ts";
import { errorOf } from "./error-of.ts";
import { readCount, usageEvents } from "./token-count.ts";

/** The turns of which it is remembered which model they have. */
const mostTurns = 1000;

/** Reads the lines of transcripts, of any sessions: what they say beyond what hooks have said. */
export function createRolloutReader(now: () => number): (line: string) => readonly HarnessEvent[] {
  const models = new Map<string, string>();

  function remember(turn: string, model: string): void {
    models.set(turn, model);
    for (const oldest of models.keys()) {
      if (models.size <= mostTurns) return;
      models.delete(oldest);
    }
  }

  return (line) => {
    const json = parseObject(line);
    const payload = jsonAt(json, "payload");
    const turn = textAt(payload, "turn_id");
    switch (textAt(json, "type")) {
      case "turn_context":
        remember(turn, textAt(payload, "model"));
        return [];
      // One for each answer of the model. `token_count` says the same, but now and then once more.
      case "token_usage_record":
        return usageEvents(readCount(jsonAt(payload, "usage")), models.get(turn) ?? "");
      case "response_item":
        return readItem(payload);
      case "event_msg":
        return readMessage(payload, now());
      default:
        return [];
    }
  };
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
