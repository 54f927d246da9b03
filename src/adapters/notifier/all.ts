import { Fault } from "../../fault.ts";
import type { Notifier } from "../../ports/notifier.ts";

/**
 * Tells every one of them, side by side. It fails only if all fail: who was told must not be told again because somebody
 * else was not. The others are reported to `onFailure`.
 */
export function all(notifiers: readonly Notifier[], onFailure: (error: unknown) => void): Notifier {
  return {
    async notify(note) {
      const results = await Promise.allSettled(notifiers.map(async (each) => each.notify(note)));
      const errors = results.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
      if (errors.length > 0 && errors.length === notifiers.length) throw together(errors);
      for (const error of errors) onFailure(error);
    },
  };
}

function together(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  const isHopeful = errors.some((error) => error instanceof Fault && error.retry === "later");
  return new Fault("notifier.failed", `The person could not be told in any way.\n${reasons.join("\n")}`, {
    retry: isHopeful ? "later" : "never",
    cause: new AggregateError(errors),
  });
}
