import { countAt, jsonAt, numberAt, parseObject, textAt, timeOf } from "../../../json.ts";
import type { HarnessError, HarnessEvent, Obstacle, OutputReader, ScreenState } from "../../../ports/harness.ts";
import { jsonLines } from "../../lines.ts";
import { endedBadly, endedByUs, failureOf } from "../failure.ts";
import { findObstacle, noSuchSession, notLoggedIn, type ObstacleForm } from "../launch.ts";

/** Classifies an error of OpenCode. */
function failureIn(error: unknown): HarnessError {
  const name = textAt(error, "name");
  const message = textAt(error, "data", "message") || name;
  if (name === "ContextOverflowError") return { kind: "overflow", message, resetAt: undefined };
  if (name === "ProviderAuthError") return { kind: "authentication", message, resetAt: undefined };
  if (name === "MessageOutputLengthError") return { kind: "other", message, resetAt: undefined };
  const failure = failureOf(message, {
    status: numberAt(error, "data", "statusCode"),
    resetAt: timeOf(jsonAt(error, "data", "next")),
  });
  // OpenCode retries only errors of the provider.
  return name === "RetryLimit" && failure.kind === "other" ? { ...failure, kind: "server" } : failure;
}

/** Reads a line that our plugin sent to the hook. */
export function readEvent(line: string): readonly HarnessEvent[] {
  const event = parseObject(line);
  if (event === undefined || event.harness !== "opencode") return [];
  switch (event.event) {
    case "session":
      return [{ kind: "session", id: textAt(event, "session"), transcript: "" }];
    case "prompted":
      return [{ kind: "prompted", text: textAt(event, "text") }];
    case "busy":
      return [{ kind: "busy", what: textAt(event, "what") }];
    case "retry":
      return [
        {
          kind: "failed",
          error: failureOf(textAt(event, "message"), { resetAt: timeOf(event.next) }),
        },
        { kind: "busy", what: "waits to retry" },
      ];
    case "said":
      return [{ kind: "said", text: textAt(event, "text") }];
    case "tool":
      return [{ kind: "tool", name: textAt(event, "name"), state: event.state === "ended" ? "ended" : "began" }];
    case "usage":
      return [usageOf(event, textAt(event, "model"))];
    case "idle":
      return [{ kind: "idle", said: textAt(event, "said") }];
    case "asks":
      return [{ kind: "asks", about: textAt(event, "about") }];
    case "failed":
      return [{ kind: "failed", error: failureIn(jsonAt(event, "error")) }];
    default:
      return [];
  }
}

/** OpenCode shows its state at the bottom of the screen. */
export function readScreen(screen: string): ScreenState {
  if (screen.trim() === "") return "starting";
  if (/permission required|allow once|allow always/i.test(screen)) return "asks";
  if (/esc (again to )?interrupt/i.test(screen)) return "busy";
  if (/ctrl\+p|tab agents|ask anything/i.test(screen)) return "ready";
  return "unknown";
}

/** Reads the output of `opencode run --format json`, including the lines that our plugin adds. */
export function readTurn(): OutputReader {
  const lines = jsonLines();
  let session = "";
  let model = "";
  let text = "";
  let textOf = "";
  let error: HarnessError | undefined;

  function read(line: Readonly<Record<string, unknown>>): readonly HarnessEvent[] {
    const events: HarnessEvent[] = [];
    const type = textAt(line, "type");
    const id = textAt(line, "sessionID");
    if (id !== "" && session === "" && type !== "child_finish") {
      session = id;
      events.push({ kind: "session", id, transcript: "" });
    }
    if (type === "model") model = textAt(line, "model");
    if (type === "text") events.push(...readText(line));
    if (type === "tool_use") events.push(...readTool(line));
    if (type === "step_finish" || type === "child_finish") events.push(usageOf(jsonAt(line, "part"), model));
    if (type === "step_finish") readFinish(textAt(line, "part", "reason"));
    if (type === "error") error = failureIn(jsonAt(line, "error"));
    return events;
  }

  function readText(line: unknown): readonly HarnessEvent[] {
    // OpenCode's own text, inserted into the conversation in the agent's name.
    if (jsonAt(line, "part", "synthetic") === true) return [];
    const said = textAt(line, "part", "text");
    const message = textAt(line, "part", "messageID");
    text = message === textOf ? `${text}\n${said}` : said;
    textOf = message;
    return [{ kind: "said", text: said }];
  }

  function readFinish(reason: string): void {
    // OpenCode has recovered from earlier errors.
    if (reason === "stop") error = undefined;
    if (reason === "content-filter") error = failureOf("The model refused: a content filter blocked its answer.");
    if (reason === "length") error = failureOf("The answer was cut off: it is longer than the model's output limit.");
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end(end, errors) {
      const events = lines.rest().flatMap(read);
      const failed = endedByUs(end, "OpenCode") ?? error ?? (end.code === 0 ? undefined : talkedOf(errors));
      return {
        text,
        answer: undefined,
        events,
        error: failed ?? (end.code === 0 ? undefined : endedBadly(end, "OpenCode", errors)),
      };
    },
  };
}

function readTool(line: unknown): readonly HarnessEvent[] {
  const name = textAt(line, "part", "tool");
  return [
    { kind: "tool", name, state: "began" },
    { kind: "tool", name, state: "ended" },
  ];
}

function usageOf(part: unknown, model: string): HarnessEvent {
  return {
    kind: "usage",
    usage: {
      model,
      inputTokens: countAt(part, "tokens", "input") + countAt(part, "tokens", "cache", "write"),
      outputTokens: countAt(part, "tokens", "output") + countAt(part, "tokens", "reasoning"),
      cachedTokens: countAt(part, "tokens", "cache", "read"),
      cost: costOf(part),
    },
  };
}

/** OpenCode reports zero if it does not know the price. */
function costOf(part: unknown): number | undefined {
  const cost = numberAt(part, "cost");
  return cost === undefined || cost <= 0 ? undefined : cost;
}

function talkedOf(errors: string): HarnessError | undefined {
  const said = /Error:[^\n]*\S[^\n]*/.exec(errors)?.[0];
  return said === undefined ? undefined : failureOf(said);
}

const title = "OpenCode";
const forms: readonly ObstacleForm[] = [
  [/Session not found/i, noSuchSession(title)],
  [
    /Connect a provider|No providers? (connected|configured|available)|ProviderAuthError/i,
    notLoggedIn(title, "opencode auth login"),
  ],
];

/** Recognises screens on which OpenCode waits for a person before it starts, and its messages if it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
