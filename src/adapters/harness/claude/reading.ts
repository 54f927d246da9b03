import { type JsonObject, listOf, numberOf, objectOf, parseObject, textOf, timeOf } from "../../../json.ts";
import type {
  HarnessError,
  HarnessEvent,
  Obstacle,
  OutputReader,
  ScreenState,
  TokenUsage,
} from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { splitLines } from "../../lines.ts";
import { endedBadly, endedByUs } from "../failure.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm, outdated } from "../launch.ts";

// Reads what Claude Code tells: the input of its hooks, its output, its screen and its transcripts.

/** Everything that may explain a failure. */
interface Signs {
  /** Claude Code's own sentence. */
  readonly text: string;
  /** The provider's HTTP status; 0 if unknown. */
  readonly status: number;
  /** Claude Code's own codes: `prompt_too_long`, `rate_limit`, `error_max_budget_usd`, … */
  readonly words: readonly string[];
  readonly resetAt: number | undefined;
}

/** Classifies a failure by its codes, else by its text, else by its status. */
function classifyError({ text, status, words, resetAt }: Signs): HarnessError {
  const kind = byWord(words) ?? byText(text) ?? byStatus(status) ?? "other";
  const message = text.trim() === "" ? "Claude Code failed, and did not say why." : text.trim();
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
  [/not logged in|failed to authenticate|invalid api key|please run \/login|oauth token/i, "authentication"],
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

/** Older versions append the time, in seconds, to the sentence. */
function resetIn(text: string): number | undefined {
  const [, seconds] = /\|(\d{10})\b/.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Translates a hook's input into events. */
export function readHook(line: string): readonly HarnessEvent[] {
  const told = objectOf(parseObject(line));
  const tool = textOf(told.tool_name);
  switch (told.hook_event_name) {
    case "SessionStart":
      return [{ kind: "session", id: textOf(told.session_id), transcript: textOf(told.transcript_path) }];
    // This also runs for a message that arrived while the agent was busy, as soon as the agent takes it.
    case "UserPromptSubmit":
      return [
        { kind: "prompted", text: textOf(told.prompt) },
        { kind: "busy", what: "" },
      ];
    case "PreToolUse":
      return [{ kind: "tool", name: tool, state: "began" }];
    case "PostToolUse":
    case "PostToolUseFailure":
      return [{ kind: "tool", name: tool, state: "ended" }];
    case "PermissionRequest":
      return [{ kind: "asks", about: tool }];
    case "Notification":
      return isDialog(textOf(told.notification_type)) ? [{ kind: "asks", about: textOf(told.message) }] : [];
    case "PreCompact":
      return [{ kind: "busy", what: "shortens the conversation" }];
    case "Stop":
      return [{ kind: "idle", said: textOf(told.last_assistant_message) }];
    case "StopFailure": {
      const text = textOf(told.last_assistant_message);
      const error = classifyError({ text, status: 0, words: [textOf(told.error)], resetAt: undefined });
      return [
        { kind: "failed", error },
        { kind: "idle", said: text },
      ];
    }
    case "SessionEnd":
      // A person who clears the conversation or resumes another continues in a session with another id.
      return ["clear", "resume"].includes(textOf(told.reason)) ? [] : [{ kind: "over" }];
    default:
      return [];
  }
}

function isDialog(notification: string): boolean {
  return ["permission_prompt", "elicitation_dialog"].includes(notification);
}

/** Reads a turn's output: one JSON object per line. */
export function readOutput(now: () => number): OutputReader {
  const lines = splitLines();
  const tools = new Map<string, string>();
  const answers = new Map<string, TokenUsage>();
  let said = "";
  let resetAt: number | undefined;
  let result: JsonObject | undefined;

  function take(line: string): readonly HarnessEvent[] {
    const entry = objectOf(parseObject(line));
    switch (entry.type) {
      case "system":
        return takeSystem(entry);
      case "assistant":
        return takeAnswer(entry);
      case "user":
        return listOf(objectOf(entry.message).content).flatMap(takeToolResult);
      case "rate_limit_event":
        resetAt = resetOf(objectOf(entry.rate_limit_info)) ?? resetAt;
        return [];
      case "result":
        result = entry;
        return [];
      default:
        return [];
    }
  }

  function takeSystem(entry: JsonObject): readonly HarnessEvent[] {
    if (entry.subtype === "init")
      return [
        { kind: "session", id: textOf(entry.session_id), transcript: "" },
        { kind: "busy", what: "" },
      ];
    if (entry.subtype !== "api_retry") return [];
    const delay = numberOf(entry.retry_delay_ms);
    if (entry.error_status === 429) resetAt = now() + delay;
    return [{ kind: "busy", what: `waits ${Math.ceil(delay / 1000)} s for the provider` }];
  }

  function takeAnswer({ message, parent_tool_use_id: parent }: JsonObject): readonly HarnessEvent[] {
    const { id, model, usage, content } = objectOf(message);
    // Each part of an answer is a line with the usage so far; the last line is complete.
    if (model !== "<synthetic>") answers.set(textOf(id), usageOfMessage(textOf(model), objectOf(usage)));
    return listOf(content).flatMap(({ type, text, id: call, name }): readonly HarnessEvent[] => {
      if (type === "tool_use") {
        tools.set(textOf(call), textOf(name));
        return [{ kind: "tool", name: textOf(name), state: "began" }];
      }
      // Messages of subagents are addressed to the agent, not to the daemon.
      if (type !== "text" || typeof parent === "string") return [];
      said = textOf(text);
      return [{ kind: "said", text: said }];
    });
  }

  function takeToolResult({ type, tool_use_id: call }: JsonObject): readonly HarnessEvent[] {
    const name = tools.get(textOf(call));
    if (type !== "tool_result" || name === undefined) return [];
    tools.delete(textOf(call));
    return [{ kind: "tool", name, state: "ended" }];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(take),
    end(end, errors) {
      const late = take(lines.rest());
      if (result === undefined) {
        const usages = [...answers.values()].map((usage): HarnessEvent => ({ kind: "usage", usage }));
        return { text: said, answer: undefined, error: errorWithout(end, errors), events: [...late, ...usages] };
      }
      const text = textOf(result.result) || said;
      const error = result.is_error === true ? errorOf(result, errors, resetAt) : undefined;
      return { text, answer: result.structured_output, error, events: [...late, ...usageOfResult(result)] };
    },
  };
}

function errorOf(result: JsonObject, errors: string, resetAt: number | undefined): HarnessError {
  const told = Array.isArray(result.errors) ? result.errors.map(textOf).join(" ") : "";
  return classifyError({
    text: textOf(result.result) || told || errors,
    status: numberOf(result.api_error_status),
    words: [result.subtype, result.terminal_reason, result.stop_reason, result.api_error, result.api_error_type].map(
      textOf,
    ),
    resetAt,
  });
}

/** The error of a turn without a result: it did not start, or it was ended. */
function errorWithout(end: ProcessEnd, errors: string): HarnessError {
  const ours = endedByUs(end, "Claude Code");
  if (ours !== undefined) return ours;
  if (end.signal !== "") return endedBadly(end, "Claude Code");
  return classifyError({ text: errors, status: 0, words: [], resetAt: undefined });
}

function resetOf({ status, resetsAt }: JsonObject): number | undefined {
  return status === "rejected" && typeof resetsAt === "number" ? timeOf(resetsAt * 1000) : undefined;
}

/** Interprets the screen. Only its end counts: agents may print anything above. */
export function readScreen(screen: string): ScreenState {
  const lines = screen.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "starting";
  const end = lines.slice(-3).join("\n");
  if (/\b(Enter to (select|confirm|continue)|Esc to (cancel|exit|reject|go back))\b/i.test(end)) return "asks";
  if (!hasInput(lines)) return "unknown";
  return /\besc to interrupt\b/i.test(end) ? "busy" : "ready";
}

/** The input line is between two horizontal rules, with at most a few lines of hints below. */
function hasInput(lines: readonly string[]): boolean {
  const last = lines.findLastIndex((line) => /^─{8,}/.test(line.trim()));
  const first = lines.slice(0, Math.max(0, last)).findLastIndex((line) => /^─{8,}/.test(line.trim()));
  if (first < 0 || lines.length - last > 6) return false;
  return /^[❯>!#]/.test(lines[first + 1]?.trim() ?? "");
}

const maxCounted = 1000;

/** Reads the usage from transcripts; hooks report everything else. */
export function createTranscriptReader(): (line: string) => readonly HarnessEvent[] {
  // Each part of an answer is a separate line with the usage of the whole answer.
  const counted = new Set<string>();
  return (line) => {
    // Skip other lines before parsing: most lines are other entries, and some are very long.
    if (!line.includes('"assistant"')) return [];
    const { type, message } = objectOf(parseObject(line));
    const { id, model, usage } = objectOf(message);
    if (type !== "assistant" || usage === undefined || model === "<synthetic>" || counted.has(textOf(id))) return [];
    counted.add(textOf(id));
    if (counted.size > maxCounted) counted.delete(counted.values().next().value ?? "");
    return [{ kind: "usage", usage: usageOfMessage(textOf(model), objectOf(usage)) }];
  };
}

/**
 * The usage of one turn, from its result line. In 2.1.325 `total_cost_usd` and `modelUsage` cover the whole session,
 * including earlier turns; `model_usage_since_last_result` covers this turn only. Versions without that field usually
 * count each turn separately. If the tokens differ from `usage`, the version does not, and the cost is unknown.
 */
function usageOfResult(result: JsonObject): readonly HarnessEvent[] {
  const ofTurn = result.model_usage_since_last_result;
  const models = Object.entries(objectOf(ofTurn ?? result.modelUsage));
  const events = models.map(([model, usage]) => usageEvent(model, objectOf(usage)));
  if (ofTurn !== undefined) return events;
  const total = usageOfMessage(models[0]?.[0] ?? "", objectOf(result.usage));
  const output = events.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  if (events.length > 0 && output === total.outputTokens) return events;
  return total.inputTokens + total.outputTokens + total.cachedTokens === 0 ? [] : [{ kind: "usage", usage: total }];
}

/** The usage of one answer as the provider reports it, without a cost. */
function usageOfMessage(model: string, usage: JsonObject): TokenUsage {
  return {
    model,
    inputTokens: numberOf(usage.input_tokens) + numberOf(usage.cache_creation_input_tokens),
    outputTokens: numberOf(usage.output_tokens),
    cachedTokens: numberOf(usage.cache_read_input_tokens),
    cost: undefined,
  };
}

type UsageEvent = Extract<HarnessEvent, { kind: "usage" }>;

function usageEvent(model: string, usage: JsonObject): UsageEvent {
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

const title = "Claude Code";
const forms: readonly ObstacleForm[] = [
  [/No conversation found with session ID/i, noSuchSession(title)],
  [/needs an update|newer version .{0,40}is required to continue/i, outdated(title, "claude update")],
  [
    /Not logged in|run \/login|Select login method|Choose the text style|Invalid API key|OAuth token (has expired|revoked)|OAuth session expired/i,
    notLoggedIn(title, "claude auth login"),
  ],
  [/Is this a project you created or one you trust|Do you trust the files in this folder/i, notTrusted(title)],
];

/** Recognises screens on which Claude Code waits for a person before it starts, and its messages if it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
