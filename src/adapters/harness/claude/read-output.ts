import type { HarnessError, HarnessEvent, OutputReader, TokenUsage } from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { type Json, listOf, numberOf, objectOf, parseObject, textOf } from "../read-json.ts";
import { splitLines } from "../split-lines.ts";
import { classifyError } from "./classify-error.ts";
import { usageOfMessage, usageOfResult } from "./read-usage.ts";

/** Reads what a turn prints: one JSON object in each line. */
export function readOutput(now: () => number): OutputReader {
  const lines = splitLines();
  const tools = new Map<string, string>();
  const answers = new Map<string, TokenUsage>();
  let said = "";
  let resetAt: number | undefined;
  let result: Json | undefined;

  function take(line: string): readonly HarnessEvent[] {
    const entry = parseObject(line);
    switch (entry.type) {
      case "system":
        return takeSystem(entry);
      case "assistant":
        return takeAnswer(entry);
      case "user":
        return listOf(objectOf(entry.message).content).flatMap(takeToolResult);
      case "rate_limit_event":
        resetAt = resetOf(objectOf(entry.rate_limit_info)) ?? resetAt;
        return [];
      case "result":
        result = entry;
        return [];
      default:
        return [];
    }
  }

  function takeSystem(entry: Json): readonly HarnessEvent[] {
    if (entry.subtype === "init")
      return [
        { kind: "session", id: textOf(entry.session_id), transcript: "" },
        { kind: "busy", what: "" },
      ];
    if (entry.subtype !== "api_retry") return [];
    const delay = numberOf(entry.retry_delay_ms);
    if (entry.error_status === 429) resetAt = now() + delay;
    return [{ kind: "busy", what: `waits ${Math.ceil(delay / 1000)} s for the provider` }];
  }

  function takeAnswer({ message, parent_tool_use_id: parent }: Json): readonly HarnessEvent[] {
    const { id, model, usage, content } = objectOf(message);
    // Each part of an answer is a line with the usage of the whole; the last one has the most.
    if (model !== "<synthetic>") answers.set(textOf(id), usageOfMessage(textOf(model), objectOf(usage)));
    return listOf(content).flatMap(({ type, text, id: call, name }): readonly HarnessEvent[] => {
      if (type === "tool_use") {
        tools.set(textOf(call), textOf(name));
        return [{ kind: "tool", name: textOf(name), state: "began" }];
      }
      // What agents of the agent's own say is not said to us.
      if (type !== "text" || typeof parent === "string") return [];
      said = textOf(text);
      return [{ kind: "said", text: said }];
    });
  }

  function takeToolResult({ type, tool_use_id: call }: Json): readonly HarnessEvent[] {
    const name = tools.get(textOf(call));
    if (type !== "tool_result" || name === undefined) return [];
    tools.delete(textOf(call));
    return [{ kind: "tool", name, state: "ended" }];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(take),
    end(end, errors) {
      const late = take(lines.rest());
      if (result === undefined) {
        const usages = [...answers.values()].map((usage): HarnessEvent => ({ kind: "usage", usage }));
        return { text: said, answer: undefined, error: errorWithout(end, errors), events: [...late, ...usages] };
      }
      const text = textOf(result.result) || said;
      const error = result.is_error === true ? errorOf(result, errors, resetAt) : undefined;
      return { text, answer: result.structured_output, error, events: [...late, ...usageOfResult(result)] };
    },
  };
}

function errorOf(result: Json, errors: string, resetAt: number | undefined): HarnessError {
  const told = Array.isArray(result.errors) ? result.errors.map(textOf).join(" ") : "";
  return classifyError({
    text: textOf(result.result) || told || errors,
    status: numberOf(result.api_error_status),
    words: [result.subtype, result.terminal_reason, result.stop_reason, result.api_error, result.api_error_type].map(
      textOf,
    ),
    resetAt,
  });
}

/** It ended without a result: it never began, or somebody ended it. */
function errorWithout(end: ProcessEnd, errors: string): HarnessError {
  const of = (kind: HarnessError["kind"], message: string): HarnessError => ({ kind, message, resetAt: undefined });
  if (end.cause === "start") return of("start", end.reason);
  if (end.cause === "time") return of("timeout", "Claude Code did not finish in time, and was ended.");
  if (end.cause === "output") return of("other", "Claude Code printed more than it may, and was ended.");
  if (end.signal !== "") return of("other", `Claude Code was ended by ${end.signal}.`);
  return classifyError({ text: errors, status: 0, words: [], resetAt: undefined });
}

function resetOf({ status, resetsAt }: Json): number | undefined {
  return status === "rejected" && typeof resetsAt === "number" ? resetsAt * 1000 : undefined;
}
