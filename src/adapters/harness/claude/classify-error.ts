import type { HarnessError } from "../../../ports/harness.ts";

/** Everything that may tell why it failed. */
export interface Signs {
  /** A sentence of the program's. */
  readonly text: string;
  /** What the provider answered; 0 where nobody told. */
  readonly status: number;
  /** Words of the program's own: `prompt_too_long`, `rate_limit`, `error_max_budget_usd`, … */
  readonly words: readonly string[];
  readonly resetAt: number | undefined;
}

/** What kind of failure it was. Words come before the status, and the status before what the text says. */
export function classifyError({ text, status, words, resetAt }: Signs): HarnessError {
  const kind = byWord(words) ?? byText(text) ?? byStatus(status) ?? "other";
  const message = text.trim() === "" ? "Claude Code failed without saying why." : text.trim();
  return { kind, message, resetAt: kind === "rate-limit" ? (resetAt ?? resetIn(text)) : undefined };
}

type Kind = HarnessError["kind"];

const ofWords: Readonly<Record<string, Kind>> = {
  prompt_too_long: "overflow",
  error_max_budget_usd: "budget",
  budget_exhausted: "budget",
  refusal: "refusal",
  authentication_failed: "authentication",
  authentication_error: "authentication",
  permission_error: "authentication",
  billing_error: "authentication",
  rate_limit: "rate-limit",
  rate_limit_error: "rate-limit",
  overloaded: "server",
  overloaded_error: "server",
  server_error: "server",
  connection_failed: "server",
};

const ofTexts: readonly (readonly [RegExp, Kind])[] = [
  [/Session ID \S+ is already in use/i, "session-in-use"],
  [/No conversation found/i, "session-unknown"],
  [/prompt is too long|context (window|length)/i, "overflow"],
  [/not logged in|invalid api key|please run \/login|oauth token/i, "authentication"],
  [/usage limit reached|hit your (\w+ )?limit|rate limit/i, "rate-limit"],
  [/timed out/i, "timeout"],
  [/safeguards flagged|usage policy/i, "refusal"],
  [/cannot be used with root\/sudo|error: unknown option|^error: option/im, "start"],
];

function byWord(words: readonly string[]): Kind | undefined {
  return words.flatMap((word) => (Object.hasOwn(ofWords, word) ? [ofWords[word]] : []))[0];
}

function byText(text: string): Kind | undefined {
  return ofTexts.find(([form]) => form.test(text))?.[1];
}

function byStatus(status: number): Kind | undefined {
  if (status === 401 || status === 403) return "authentication";
  if (status === 429) return "rate-limit";
  if (status === 408 || status === 504) return "timeout";
  return status >= 500 ? "server" : undefined;
}

/** Older versions write the time, in seconds, behind the sentence. */
function resetIn(text: string): number | undefined {
  const [, seconds] = /\|(\d{10})\b/.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
