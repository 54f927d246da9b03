import type { HarnessEvent } from "../../../ports/harness.ts";
import { countAt } from "../json-at.ts";

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

/** Nothing where nothing was used up. Codex does not tell what it cost. */
export function usageEvents({ input, cached, output }: TokenCount, model: string): readonly HarnessEvent[] {
  if (input + output === 0) return [];
  const inputTokens = Math.max(0, input - cached);
  return [
    { kind: "usage", usage: { model, inputTokens, outputTokens: output, cachedTokens: cached, cost: undefined } },
  ];
}
