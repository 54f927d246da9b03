import type { HarnessError } from "../../../ports/harness.ts";
import { parseObject, textAt } from "../json-at.ts";
import { resetIn } from "./reset-in.ts";

type Kind = HarnessError["kind"];

/** How Codex 0.166 words what went wrong, the more particular first. */
const wordings: readonly (readonly [Kind, RegExp])[] = [
  ["session-unknown", /no rollout found/i],
  ["session-in-use", /already has an active writer/i],
  [
    "overflow",
    /ran out of room in the model's context window|context[ _]length[ _]exceeded|exceeds the context window/i,
  ],
  ["rate-limit", /\b429\b|rate limit|usage limit|quota exceeded/i],
  [
    "authentication",
    /\b40[13] (?:unauthorized|forbidden)|not logged in|please log ?in|sign in again|missing environment variable|refresh token/i,
  ],
  ["refusal", /content[ _]policy|cyber[ _]policy|usage policies|flagged/i],
  ["timeout", /timed out|timeout/i],
  [
    "server",
    /high demand|\b5\d\d\b|at capacity|stream (?:disconnected|closed)|connection (?:failed|refused|reset)|error sending request/i,
  ],
];

/** What a failure is that Codex told about in its own words. */
export function errorOf(said: string, now: number): HarnessError {
  // The body of an answer that Codex does not know is passed on as it came.
  const message = oneLine(textAt(parseObject(said), "error", "message") || said);
  const kind = wordings.find(([, words]) => words.test(said))?.[0] ?? "other";
  return {
    kind,
    message: message === "" ? "Codex failed, and did not say why." : message,
    resetAt: kind === "rate-limit" ? resetIn(message, now) : undefined,
  };
}

const longest = 500;

/** Whatever would move about on a screen that shows it is taken away. */
function oneLine(text: string): string {
  const plain = text
    .replace(/\p{Cc}+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > longest ? `${plain.slice(0, longest - 1)}…` : plain;
}
