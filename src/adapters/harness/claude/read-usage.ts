import type { HarnessEvent, TokenUsage } from "../../../ports/harness.ts";
import { type Json, numberOf, objectOf } from "../read-json.ts";

/**
 * What one turn has used up, from its result line. In 2.1.325 `total_cost_usd` and `modelUsage` are those of the
 * whole session, also of turns before; `model_usage_since_last_result` is this turn's alone. Versions without it count
 * each turn by itself; where one of them does not, its tokens differ from `usage`, and nobody knows the cost.
 */
export function usageOfResult(result: Json): readonly HarnessEvent[] {
  const ofTurn = result.model_usage_since_last_result;
  const models = Object.entries(objectOf(ofTurn ?? result.modelUsage));
  const events = models.map(([model, usage]) => usageEvent(model, objectOf(usage)));
  if (ofTurn !== undefined) return events;
  const total = usageOfMessage(models[0]?.[0] ?? "", objectOf(result.usage));
  const output = events.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  if (events.length > 0 && output === total.outputTokens) return events;
  return total.inputTokens + total.outputTokens + total.cachedTokens === 0 ? [] : [{ kind: "usage", usage: total }];
}

/** What one answer of the model has used up, as its provider tells it: without a cost. */
export function usageOfMessage(model: string, usage: Json): TokenUsage {
  return {
    model,
    inputTokens: numberOf(usage.input_tokens) + numberOf(usage.cache_creation_input_tokens),
    outputTokens: numberOf(usage.output_tokens),
    cachedTokens: numberOf(usage.cache_read_input_tokens),
    cost: undefined,
  };
}

type UsageEvent = Extract<HarnessEvent, { kind: "usage" }>;

function usageEvent(model: string, usage: Json): UsageEvent {
  return {
    kind: "usage",
    usage: {
      model,
      inputTokens: numberOf(usage.inputTokens) + numberOf(usage.cacheCreationInputTokens),
      outputTokens: numberOf(usage.outputTokens),
      cachedTokens: numberOf(usage.cacheReadInputTokens),
      cost: typeof usage.costUSD === "number" ? usage.costUSD : undefined,
    },
  };
}
