import type { HarnessError } from "../../../ports/harness.ts";
import { failureOf } from "../failure-of.ts";
import { numberAt, textAt } from "../json-at.ts";

/** What an error of OpenCode's means. */
export function failureIn(error: unknown): HarnessError {
  const name = textAt(error, "name");
  const message = textAt(error, "data", "message") || name;
  if (name === "ContextOverflowError") return { kind: "overflow", message, resetAt: undefined };
  if (name === "ProviderAuthError") return { kind: "authentication", message, resetAt: undefined };
  if (name === "MessageOutputLengthError") return { kind: "other", message, resetAt: undefined };
  const failure = failureOf(message, {
    status: numberAt(error, "data", "statusCode"),
    resetAt: numberAt(error, "data", "next"),
  });
  // It tries again only where the provider failed.
  return name === "RetryLimit" && failure.kind === "other" ? { ...failure, kind: "server" } : failure;
}
