import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { countAt, jsonAt, parseObject, textAt } from "../../../json.ts";
import type { HarnessError, HarnessEvent, HarnessOrder } from "../../../ports/harness.ts";
import { readableText } from "../../../readable-text.ts";
import { oneLine } from "../../../text.ts";

type Kind = HarnessError["kind"];

/** How Codex 0.166 words its errors, the most specific first. */
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

/** Classifies a failure by Codex's own words. */
export function errorOf(said: string, now: number): HarnessError {
  // Codex passes on the body of an unknown error unchanged.
  const message = oneLine(textAt(parseObject(said), "error", "message") || said, maxMessage);
  const kind = wordings.find(([, words]) => words.test(said))?.[0] ?? "other";
  return {
    kind,
    message: message === "" ? "Codex failed, and did not say why." : message,
    resetAt: kind === "rate-limit" ? resetIn(message, now) : undefined,
  };
}

const maxMessage = 500;

/** How many turns the reader remembers the model of. */
const maxTurns = 1000;

/** Reads lines of transcripts of any session: what hooks do not report. */
export function createRolloutReader(now: () => number): (line: string) => readonly HarnessEvent[] {
  const models = new Map<string, string>();

  function remember(turn: string, model: string): void {
    models.set(turn, model);
    for (const oldest of models.keys()) {
      if (models.size <= maxTurns) return;
      models.delete(oldest);
    }
  }

  return (line) => {
    const json = parseObject(line);
    const payload = jsonAt(json, "payload");
    const turn = textAt(payload, "turn_id");
    switch (textAt(json, "type")) {
      case "turn_context":
        remember(turn, textAt(payload, "model"));
        return [];
      // One per answer of the model. `token_count` has the same numbers, but sometimes appears twice.
      case "token_usage_record":
        return usageEvents(readCount(jsonAt(payload, "usage")), models.get(turn) ?? "");
      case "response_item":
        return readItem(payload);
      case "event_msg":
        return readMessage(payload, now());
      default:
        return [];
    }
  };
}

function readItem(payload: unknown): readonly HarnessEvent[] {
  const type = textAt(payload, "type");
  return type === "function_call" || type === "custom_tool_call"
    ? [{ kind: "busy", what: textAt(payload, "name") }]
    : [];
}

function readMessage(payload: unknown, now: number): readonly HarnessEvent[] {
  const type = textAt(payload, "type");
  if (type === "item_completed" && textAt(payload, "item", "type") === "AgentMessage") {
    const content = jsonAt(payload, "item", "content");
    const text = Array.isArray(content) ? content.map((part) => textAt(part, "text")).join("") : "";
    return text === "" ? [] : [{ kind: "said", text }];
  }
  // Codex runs no hook at the end of a failed turn.
  const failure = type === "task_complete" ? textAt(payload, "error", "message") : "";
  if (failure === "") return [];
  return [
    { kind: "failed", error: errorOf(failure, now) },
    { kind: "idle", said: "" },
  ];
}

const clock = String.raw`(\d{1,2}):(\d{2}) ?([AP])M`;
const onDay = new RegExp(String.raw`try again at ([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) ${clock}`);
const today = new RegExp(`try again at ${clock}`);
const after = /try again in ((?:\d+(?:\.\d+)?(?:ms|[dhms])\s*)+)/i;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** When a limit ends, according to a message in the machine's local time; undefined if the message does not say it. */
function resetIn(message: string, now: number): number | undefined {
  const dated = onDay.exec(message);
  if (dated !== null) {
    const [, month = "", day, year, hour, minute, half] = dated;
    return new Date(Number(year), months.indexOf(month), Number(day), hourOf(hour, half), Number(minute)).getTime();
  }
  const timed = today.exec(message);
  if (timed !== null) {
    const [, hour, minute, half] = timed;
    const at = new Date(now);
    at.setHours(hourOf(hour, half), Number(minute), 0, 0);
    // The message has no seconds and no day: a time that has passed is tomorrow's.
    if (at.getTime() < now - 60_000) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  const span = after.exec(message)?.[1];
  if (span === undefined) return undefined;
  const parts = [...span.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/gi)];
  return now + Math.ceil(parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0));
}

function hourOf(hour: string | undefined, half: string | undefined): number {
  return (Number(hour) % 12) + (half === "P" ? 12 : 0);
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Codex takes any other text for a name, and silently starts a new conversation if it does not know the name. */
export function isSessionId(text: string): boolean {
  return form.test(text);
}

/** The transcript of a session; empty if there is none. */
export function rolloutOf(session: string, home: string): string {
  if (!isSessionId(session)) return "";
  const ending = `-${session.toLowerCase()}.jsonl`;
  for (const folder of likelyFolders(session, home)) {
    const name = namesIn(folder).find((each) => each.endsWith(ending));
    if (name !== undefined) return join(folder, name);
  }
  return "";
}

/** There is a folder per day in local time. A session's id begins with the time of its creation. */
function likelyFolders(session: string, home: string): readonly string[] {
  const made = Number.parseInt(session.replaceAll("-", "").slice(0, 12), 16);
  const days = [0, -1, 1].map((shift) => {
    const day = new Date(made + shift * 86_400_000);
    const month = String(day.getMonth() + 1).padStart(2, "0");
    return join(home, "sessions", String(day.getFullYear()), month, String(day.getDate()).padStart(2, "0"));
  });
  return [...days, join(home, "archived_sessions")];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Tokens as OpenAI counts them: `input` includes cached tokens, `output` includes reasoning. */
interface TokenCount {
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

/** Empty if nothing was used. Codex does not report a cost. */
export function usageEvents({ input, cached, output }: TokenCount, model: string): readonly HarnessEvent[] {
  if (input + output === 0) return [];
  const inputTokens = Math.max(0, input - cached);
  return [
    { kind: "usage", usage: { model, inputTokens, outputTokens: output, cachedTokens: cached, cost: undefined } },
  ];
}

/** Notes from before a turn that are needed after it. They are in a file of the run, so they survive a restart. */
interface TurnNotes {
  readonly model: string;
  /** Codex's own folder, `CODEX_HOME`. */
  readonly home: string;
  /** The schema of the answer; undefined if Codex was not asked to enforce it. */
  readonly schema: unknown;
}

type At = Pick<HarnessOrder, "run" | "runFolder">;

export async function keepNotes(at: At, notes: TurnNotes): Promise<void> {
  await mkdir(at.runFolder, { recursive: true });
  await writeFile(fileOf(at), JSON.stringify(notes), { mode: 0o600 });
}

/** Empty notes if the file does not exist. */
export function readNotes(at: At): TurnNotes {
  const json = parseObject(readableText(fileOf(at)));
  return { model: textAt(json, "model"), home: textAt(json, "home"), schema: jsonAt(json, "schema") };
}

function fileOf({ run, runFolder }: At): string {
  return join(runFolder, `codex-${run}.json`);
}

const firstRead = 64 * 1024;
const maxRead = 64 * 1024 * 1024;

/**
 * The usage of a session's last turn, from its transcript; undefined if there is no transcript. Reads backwards from
 * the end, only as far as necessary.
 */
export function turnTokens(transcript: string): TokenCount | undefined {
  let file: number;
  try {
    file = openSync(transcript, "r");
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    for (let length = firstRead; ; length *= 4) {
      const tail = Buffer.alloc(Math.min(length, size));
      readSync(file, tail, 0, tail.length, size - tail.length);
      const found = lastCount(tail.toString("utf8"));
      if (found !== undefined) return found;
      if (tail.length === size || length > maxRead) return noTokens;
    }
  } finally {
    closeSync(file);
  }
}

/** Undefined if the text begins in the middle of the turn and contains no count. */
function lastCount(text: string): TokenCount | undefined {
  for (const line of text.split("\n").reverse()) {
    if (!line.includes('"token_usage_record"') && !line.includes('"task_started"')) continue;
    const json = parseObject(line);
    if (jsonAt(json, "type") === "token_usage_record") return readCount(jsonAt(json, "payload", "turn_token_usage"));
    if (jsonAt(json, "payload", "type") === "task_started") return noTokens;
  }
  return undefined;
}
