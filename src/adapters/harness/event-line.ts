import { definedErrors } from "../../engine/harness-definition.ts";
import { type JsonObject, objectOf, parseObject, textOf, timeOf } from "../../json.ts";
import type { HarnessError, HarnessEvent, TokenUsage } from "../../ports/harness.ts";

/** Reads an event from a line of JSON that any program may have written; undefined if the line is not an event. */
export function readEventLine(line: string): HarnessEvent | undefined {
  const read = parseObject(line);
  return read === undefined ? undefined : eventOf(read);
}

function eventOf(read: JsonObject): HarnessEvent | undefined {
  switch (read.kind) {
    case "session":
      return { kind: "session", id: textOf(read.id), transcript: textOf(read.transcript) };
    case "prompted":
    case "said":
      return { kind: read.kind, text: textOf(read.text) };
    case "busy":
      return { kind: "busy", what: textOf(read.what) };
    case "tool":
      return { kind: "tool", name: textOf(read.name), state: read.state === "ended" ? "ended" : "began" };
    case "idle":
      return { kind: "idle", said: textOf(read.said) };
    case "asks":
      return { kind: "asks", about: textOf(read.about) };
    case "usage":
      return { kind: "usage", usage: usageOf(objectOf(read.usage)) };
    case "failed":
      return { kind: "failed", error: errorOf(objectOf(read.error)) };
    case "over":
      return { kind: "over" };
    default:
      return undefined;
  }
}

function usageOf(read: JsonObject): TokenUsage {
  return {
    model: textOf(read.model),
    inputTokens: amountOf(read.inputTokens) ?? 0,
    outputTokens: amountOf(read.outputTokens) ?? 0,
    cachedTokens: amountOf(read.cachedTokens) ?? 0,
    cost: amountOf(read.cost),
  };
}

function errorOf(read: JsonObject): HarnessError {
  const kind = errorKinds.find((each) => each === read.kind) ?? "other";
  return { kind, message: textOf(read.message) || "The program failed.", resetAt: timeOf(read.resetAt) };
}

const errorKinds = [...definedErrors, "start", "other"] as const satisfies readonly HarnessError["kind"][];

/** Undefined for negative numbers and other values: a program's output must never make a sum smaller. */
export function amountOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
