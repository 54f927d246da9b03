import type { TokenUsage } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { countAt, textAt } from "../json-at.ts";

/** What a turn used up, as far as the agent told when it ended. Agents count differently, and some not at all. */
export function usageIn(result: unknown, model: string, cost: number | undefined): readonly TokenUsage[] {
  const usage = jsonAt(result, "usage");
  if (usage !== undefined)
    return [
      {
        model,
        inputTokens: countAt(usage, "inputTokens") + countAt(usage, "cachedWriteTokens"),
        outputTokens: countAt(usage, "outputTokens") + countAt(usage, "thoughtTokens"),
        cachedTokens: countAt(usage, "cachedReadTokens"),
        cost,
      },
    ];
  const quota = jsonAt(result, "_meta", "quota");
  const models = jsonAt(quota, "model_usage");
  const each = Array.isArray(models) ? models : quota === undefined ? [] : [quota];
  const counted = each.map((entry: unknown) => ({
    model: textAt(entry, "model") || model,
    inputTokens: countAt(entry, "token_count", "input_tokens"),
    outputTokens: countAt(entry, "token_count", "output_tokens"),
    cachedTokens: 0,
    cost: undefined,
  }));
  if (cost === undefined) return counted;
  return [...counted, { model, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost }];
}
