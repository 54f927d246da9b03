import { lastWords } from "../../engine/last-words.ts";
import type { HarnessError } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";

/** How providers word what went wrong, the more particular first. Programs pass these words on, whatever they add. */
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

/** What a failure is, by its status where the provider gave one, and else by its words. */
export function failureOf(
  message: string,
  { status, resetAt }: { readonly status?: number | undefined; readonly resetAt?: number | undefined } = {},
): HarnessError {
  const text = message.trim() === "" ? "It did not say why." : oneLine(message);
  const kind = kindOf(message, status);
  return { kind, message: text, resetAt: kind === "rate-limit" ? resetAt : undefined };
}

function kindOf(message: string, status: number | undefined): HarnessError["kind"] {
  const byStatus = status === undefined ? undefined : kindsOfStatus[status];
  if (byStatus !== undefined) return byStatus;
  if (status !== undefined && status >= 500) return "server";
  return wordings.find(([, words]) => words.test(message))?.[0] ?? "other";
}

/** Why a program that we ended did not finish; undefined where it ended by itself. */
export function endedByUs(end: ProcessEnd, title: string): HarnessError | undefined {
  const error = (kind: HarnessError["kind"], message: string) => ({ kind, message, resetAt: undefined });
  if (end.cause === "time") return error("timeout", `${title} had not finished when its time was up.`);
  if (end.cause === "output") return error("other", `${title} printed more than it may.`);
  if (end.cause === "killed") return error("other", `${title} was ended before it had finished.`);
  if (end.cause === "start") return error("start", end.reason === "" ? `${title} could not be started.` : end.reason);
  return undefined;
}

/** How a program ended that said nothing about it but, maybe, on its other channel. */
export function endedBadly(end: ProcessEnd, title: string, errors = ""): HarnessError {
  const how = end.signal === "" ? `with exit code ${end.code ?? "unknown"}` : `by ${end.signal}`;
  const said = lastWords(errors);
  const why = said === "" ? ", and did not say why." : `. It said last: ${said}`;
  const kind = kindOf(said, undefined) === "authentication" ? "authentication" : "other";
  return { kind, message: `${title} ended ${how}${why}`, resetAt: undefined };
}

/** Escape sequences and line breaks would break the screens that show it. */
function oneLine(text: string): string {
  const plain = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > 500 ? `${plain.slice(0, 499)}…` : plain;
}
