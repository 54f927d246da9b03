import type { HarnessError, HarnessEvent, OutputReader } from "../../../ports/harness.ts";
import { isJsonObject, jsonAt } from "../../json-at.ts";
import { endedBadly, endedByUs, failureOf } from "../failure-of.ts";
import { countAt, numberAt, parseObject, textAt } from "../json-at.ts";
import { jsonLines } from "../json-lines.ts";

const title = "Gemini CLI";

/** Reads what `gemini --output-format stream-json` prints. */
export function readTurn(): OutputReader {
  const lines = jsonLines();
  const tools = new Map<string, string>();
  let text = "";
  let isSpeaking = false;
  let isOver = false;
  let error: HarnessError | undefined;

  function read(line: Readonly<Record<string, unknown>>): readonly HarnessEvent[] {
    switch (line.type) {
      case "init":
        return [{ kind: "session", id: textAt(line, "session_id"), transcript: "" }];
      case "message":
        return readMessage(line);
      case "tool_use": {
        const name = textAt(line, "tool_name");
        tools.set(textAt(line, "tool_id"), name);
        return [...silence(), { kind: "tool", name, state: "began" }];
      }
      case "tool_result":
        return [{ kind: "tool", name: tools.get(textAt(line, "tool_id")) ?? "", state: "ended" }];
      case "error":
        if (line.severity === "error") error = failureOf(textAt(line, "message"));
        return [];
      case "result":
        isOver = true;
        if (line.status === "error") error = failureIn(line);
        return [...silence(), ...usagesOf(jsonAt(line, "stats", "models"))];
      default:
        return [];
    }
  }

  function readMessage(line: unknown): readonly HarnessEvent[] {
    const said = textAt(line, "content");
    if (jsonAt(line, "role") === "user") return [{ kind: "prompted", text: said }];
    text = isSpeaking ? text + said : said;
    isSpeaking = true;
    return [];
  }

  /** What it says comes word by word, and is told once it is whole. */
  function silence(): readonly HarnessEvent[] {
    const wasSpeaking = isSpeaking;
    isSpeaking = false;
    return wasSpeaking && text.trim() !== "" ? [{ kind: "said", text }] : [];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end(end, errors) {
      const events = lines.rest().flatMap(read);
      return { text, answer: undefined, events, error: endedByUs(end, title) ?? error ?? failed(end.code, errors) };

      /** Ended by a signal it gives 0, but no result. */
      function failed(code: number | undefined, said: string): HarnessError | undefined {
        if (code === 0 && isOver) return undefined;
        if (code === 55) return failureOf("Gemini CLI does not trust this folder.");
        const line = /^Error[^\n]*\S[^\n]*|^[^\n]*auth method[^\n]*/im.exec(said)?.[0];
        return line === undefined ? endedBadly(end, title, said) : failureOf(line);
      }
    },
  };
}

function failureIn(line: unknown): HarnessError {
  const said = textAt(line, "error", "message");
  const inner = parseObject(/\{.*\}/s.exec(said)?.[0] ?? "");
  const seconds = /retry after (\d+(?:\.\d+)?)s/i.exec(said)?.[1] ?? /retry in (\d+(?:\.\d+)?)s/i.exec(said)?.[1];
  const at = Date.parse(textAt(line, "timestamp"));
  return failureOf(textAt(inner, "error", "message") || said, {
    status: numberAt(inner, "error", "code"),
    resetAt: seconds === undefined || Number.isNaN(at) ? undefined : at + Number(seconds) * 1000,
  });
}

function usagesOf(models: unknown): readonly HarnessEvent[] {
  if (!isJsonObject(models)) return [];
  return Object.entries(models).flatMap(([model, stats]) => {
    const input = countAt(stats, "input_tokens");
    const cachedTokens = countAt(stats, "cached");
    // What it thought is in the total alone.
    const outputTokens = Math.max(countAt(stats, "output_tokens"), countAt(stats, "total_tokens") - input);
    if (input + outputTokens === 0) return [];
    const usage = {
      model,
      inputTokens: Math.max(0, input - cachedTokens),
      outputTokens,
      cachedTokens,
      cost: undefined,
    };
    return [{ kind: "usage", usage } as const];
  });
}
