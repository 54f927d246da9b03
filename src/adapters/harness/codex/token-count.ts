import type { TokenUsage } from "../../../ports/harness.ts";
import { countAt } from "./json-at.ts";

/** Tokens as OpenAI counts them: `input` with what came from a cache, `output` with what was thought. */
export interface TokenCount {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export const noTokens: TokenCount = { input: 0, cached: 0, output: 0 };

export function readCount(json: unknown): TokenCount {
  return {
    input: countAt(json, "input_tokens"),
    cached: countAt(json, "cached_input_tokens"),
    output: countAt(json, "output_tokens"),
  };
}

/** What was used up between two counts; undefined where it is nothing. */
export function usageBetween(before: TokenCount, after: TokenCount, model: string): TokenUsage | undefined {
  const cachedTokens = Math.max(0, after.cached - before.cached);
  const inputTokens = Math.max(0, after.input - before.input - cachedTokens);
  const outputTokens = Math.max(0, after.output - before.output);
  if (inputTokens + cachedTokens + outputTokens === 0) return undefined;
  return { model, inputTokens, outputTokens, cachedTokens, cost: undefined };
}
