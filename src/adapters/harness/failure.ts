import type { HarnessError } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";
import { lastWords, oneLine } from "../../text.ts";

/** How providers word their errors, the most specific first. Programs pass these words on, with text around them. */
const wordings: readonly (readonly [HarnessError["kind"], RegExp])[] = [
  [
    "overflow",
    /context[ _]length|context[ _]window|contextoverflow|maximum context|prompt is too long|input token count.{0,40}exceeds|too many tokens/i,
  ],
  [
    "rate-limit",
    /rate[ _-]?limit|too many requests|resource_exhausted|resource (has been )?exhausted|quota|usage limit|\b429\b/i,
  ],
  [
    "authentication",
    /\b401\b|\b403\b|unauthori[sz]ed|unauthenticated|api[ _]key|invalid.{0,20}credential|not logged in|authenticat|auth method/i,
  ],
  ["refusal", /content[ _-]?filter|safety|blocked by|refus/i],
  ["session-unknown", /session not found|no previous sessions|invalid session identifier|error resuming session/i],
  ["timeout", /timed? ?out|etimedout/i],
  [
    "server",
    /\b5\d\d\b|internal (server )?error|server (had an )?error|overloaded|unavailable|bad gateway|high demand|econnre|enotfound|fetch failed|cannot connect|socket|network/i,
  ],
];

const kindsOfStatus: Readonly<Record<number, HarnessError["kind"]>> = {
  401: "authentication",
  402: "budget",
  403: "authentication",
  408: "timeout",
  413: "overflow",
  429: "rate-limit",
};

/** Classifies a failure by its HTTP status if the provider gave one, otherwise by its words. */
export function failureOf(
  message: string,
  { status, resetAt }: { readonly status?: number | undefined; readonly resetAt?: number | undefined } = {},
): HarnessError {
  const text = message.trim() === "" ? "It did not say why." : oneLine(message, maxMessage);
  const kind = kindOf(message, status);
  return { kind, message: text, resetAt: kind === "rate-limit" ? resetAt : undefined };
}

function kindOf(message: string, status: number | undefined): HarnessError["kind"] {
  const byStatus = status === undefined ? undefined : kindsOfStatus[status];
  if (byStatus !== undefined) return byStatus;
  if (status !== undefined && status >= 500) return "server";
  return wordings.find(([, words]) => words.test(message))?.[0] ?? "other";
}

/** Why Signalbox ended a program or could not start it; undefined if the program ended by itself. */
export function endedByUs(end: ProcessEnd, title: string): HarnessError | undefined {
  const error = (kind: HarnessError["kind"], message: string) => ({ kind, message, resetAt: undefined });
  if (end.cause === "time") return error("timeout", `${title} did not finish within its time limit.`);
  if (end.cause === "output") return error("other", `${title} printed more than its output limit allows.`);
  if (end.cause === "killed") return error("other", `${title} was ended before it finished.`);
  if (end.cause === "start") return error("start", end.reason === "" ? `${title} could not be started.` : end.reason);
  return undefined;
}

/** The failure of a program that ended by itself and explained it, if at all, only on standard error. */
export function endedBadly(end: ProcessEnd, title: string, errors = ""): HarnessError {
  const hasCode = end.signal === "";
  const how = hasCode ? `ended with exit code ${end.code ?? "unknown"}` : `was ended by ${end.signal}`;
  const said = lastWords(errors, maxMessage);
  const silent = hasCode ? ", and did not say why." : ".";
  const kind = kindOf(said, undefined) === "authentication" ? "authentication" : "other";
  return { kind, message: `${title} ${how}${said === "" ? silent : `. It said last: ${said}`}`, resetAt: undefined };
}

/** The failure that follows from how a program ended; undefined if it succeeded. `title` is its name for people. */
export function failureAtEnd(end: ProcessEnd, title: string, errors = ""): HarnessError | undefined {
  return endedByUs(end, title) ?? (end.code === 0 ? undefined : endedBadly(end, title, errors));
}

const maxMessage = 500;
