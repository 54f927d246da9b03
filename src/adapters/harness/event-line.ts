import { isObject } from "../../engine/answer-schema.ts";
import { definedErrors } from "../../engine/harness-definition.ts";
import type { HarnessError, HarnessEvent, TokenUsage } from "../../ports/harness.ts";

/** Reads an event from a line of JSON that any program may have written. Undefined for what is none. */
export function readEventLine(line: string): HarnessEvent | undefined {
  const read = parseObject(line);
  return read === undefined ? undefined : eventOf(read);
}

/** The object that a line is; undefined where it is something else. */
export function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const read: unknown = JSON.parse(line);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function eventOf(read: Readonly<Record<string, unknown>>): HarnessEvent | undefined {
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
      return { kind: "usage", usage: usageOf(isObject(read.usage) ? read.usage : {}) };
    case "failed":
      return { kind: "failed", error: errorOf(isObject(read.error) ? read.error : {}) };
    case "over":
      return { kind: "over" };
    default:
      return undefined;
  }
}

function usageOf(read: Readonly<Record<string, unknown>>): TokenUsage {
  return {
    model: textOf(read.model),
    inputTokens: amountOf(read.inputTokens) ?? 0,
    outputTokens: amountOf(read.outputTokens) ?? 0,
    cachedTokens: amountOf(read.cachedTokens) ?? 0,
    cost: amountOf(read.cost),
  };
}

function errorOf(read: Readonly<Record<string, unknown>>): HarnessError {
  const kind = errorKinds.find((each) => each === read.kind) ?? "other";
  return { kind, message: textOf(read.message) || "The program failed.", resetAt: amountOf(read.resetAt) };
}

const errorKinds = [...definedErrors, "start", "other"] as const satisfies readonly HarnessError["kind"][];

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What is below zero or no number is no amount: sums must not be made smaller by what a program prints. */
export function amountOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
