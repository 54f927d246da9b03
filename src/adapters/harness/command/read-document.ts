import type { TurnDefinition } from "../../../engine/harness-definition.ts";
import type { HarnessEvent } from "../../../ports/harness.ts";
import { amountOf } from "../event-line.ts";
import { textAt, valueAt } from "./value-at.ts";

/** What one JSON value says, where the definition tells to look. */
export interface ReadDocument {
  readonly text: string | undefined;
  readonly answer: unknown;
  readonly error: string | undefined;
  readonly events: readonly HarnessEvent[];
}

export function readDocument({ text, answer, session, error, usage }: TurnDefinition, value: unknown): ReadDocument {
  const id = textAt(value, session);
  const known: HarnessEvent[] = id === undefined ? [] : [{ kind: "session", id, transcript: "" }];
  const amount = (path: string | undefined) => (path === undefined ? undefined : amountOf(valueAt(value, path)));
  const tokens = [amount(usage?.input), amount(usage?.output), amount(usage?.cached)] as const;
  const cost = amount(usage?.cost);
  if ([...tokens, cost].some((each) => each !== undefined)) {
    const [inputTokens = 0, outputTokens = 0, cachedTokens = 0] = tokens;
    const model = textAt(value, usage?.model) ?? "";
    known.push({ kind: "usage", usage: { model, inputTokens, outputTokens, cachedTokens, cost } });
  }
  const said = error === undefined ? undefined : valueAt(value, error);
  const isError = said !== undefined && said !== null && said !== false && said !== "";
  return {
    text: textAt(value, text),
    answer: answer === undefined ? undefined : valueAt(value, answer),
    error: isError ? (textAt(value, error) ?? "") : undefined,
    events: known,
  };
}
