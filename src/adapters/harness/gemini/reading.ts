import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { countAt, isJsonObject, jsonAt, numberAt, parseObject, textAt, timeOf } from "../../../json.ts";
import type { HarnessError, HarnessEvent, Obstacle, OutputReader, ScreenState } from "../../../ports/harness.ts";
import { jsonLines } from "../../lines.ts";
import { endedBadly, endedByUs, failureOf } from "../failure.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm } from "../launch.ts";

/** Translates a hook's input into events. */
export function readEvent(line: string): readonly HarnessEvent[] {
  const event = parseObject(line);
  if (event === undefined) return [];
  switch (event.hook_event_name) {
    case "SessionStart":
      return [{ kind: "session", id: textAt(event, "session_id"), transcript: textAt(event, "transcript_path") }];
    case "BeforeAgent":
      return [
        { kind: "prompted", text: textAt(event, "prompt") },
        { kind: "busy", what: "" },
      ];
    case "AfterAgent":
      // The answer in this event repeats words; the transcript has the correct text.
      return [{ kind: "idle", said: "" }];
    case "BeforeTool":
      return [{ kind: "tool", name: textAt(event, "tool_name"), state: "began" }];
    case "AfterTool":
      return [{ kind: "tool", name: textAt(event, "tool_name"), state: "ended" }];
    case "Notification":
      return [{ kind: "asks", about: textAt(event, "message") }];
    case "SessionEnd":
      // After clearing, Gemini starts another session.
      return event.reason === "clear" ? [] : [{ kind: "over" }];
    default:
      return [];
  }
}

/** Gemini shows its state in the window's title, and its dialogs on the screen. */
export function readScreen(screen: string, title: string): ScreenState {
  if (/action required/i.test(title)) return "asks";
  if (
    /do you trust|allow execution|apply this change|how would you like to authenticate|waiting for user confirmation/i.test(
      screen,
    )
  )
    return "asks";
  if (/working/i.test(title) || /esc to cancel/i.test(screen)) return "busy";
  // The title says "ready" before the input box appears.
  if (screen.trim() === "") return "starting";
  return /type your message/i.test(screen) || (/ready/i.test(title) && /\/model/.test(screen)) ? "ready" : "unknown";
}

const title = "Gemini CLI";

/** Reads the output of `gemini --output-format stream-json`. */
export function readTurn(): OutputReader {
  const lines = jsonLines();
  const tools = new Map<string, string>();
  let text = "";
  let isSpeaking = false;
  let isOver = false;
  let error: HarnessError | undefined;

  function read(line: Readonly<Record<string, unknown>>): readonly HarnessEvent[] {
    switch (line.type) {
      case "init":
        return [{ kind: "session", id: textAt(line, "session_id"), transcript: "" }];
      case "message":
        return readMessage(line);
      case "tool_use": {
        const name = textAt(line, "tool_name");
        tools.set(textAt(line, "tool_id"), name);
        return [...silence(), { kind: "tool", name, state: "began" }];
      }
      case "tool_result":
        return [{ kind: "tool", name: tools.get(textAt(line, "tool_id")) ?? "", state: "ended" }];
      case "error":
        if (line.severity === "error") error = failureOf(textAt(line, "message"));
        return [];
      case "result":
        isOver = true;
        if (line.status === "error") error = failureIn(line);
        return [...silence(), ...usagesOf(jsonAt(line, "stats", "models"))];
      default:
        return [];
    }
  }

  function readMessage(line: unknown): readonly HarnessEvent[] {
    const said = textAt(line, "content");
    if (jsonAt(line, "role") === "user") return [{ kind: "prompted", text: said }];
    text = isSpeaking ? text + said : said;
    isSpeaking = true;
    return [];
  }

  /** Gemini prints its messages word by word; they are reported once they are complete. */
  function silence(): readonly HarnessEvent[] {
    const wasSpeaking = isSpeaking;
    isSpeaking = false;
    return wasSpeaking && text.trim() !== "" ? [{ kind: "said", text }] : [];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end(end, errors) {
      const events = lines.rest().flatMap(read);
      return { text, answer: undefined, events, error: endedByUs(end, title) ?? error ?? failed(end.code, errors) };

      /** After a signal Gemini exits with 0, but without a result. */
      function failed(code: number | undefined, said: string): HarnessError | undefined {
        if (code === 0 && isOver) return undefined;
        if (code === 55) return failureOf("Gemini CLI does not trust this folder.");
        const line = /^Error[^\n]*\S[^\n]*|^[^\n]*auth method[^\n]*/im.exec(said)?.[0];
        return line === undefined ? endedBadly(end, title, said) : failureOf(line);
      }
    },
  };
}

function failureIn(line: unknown): HarnessError {
  const said = textAt(line, "error", "message");
  const inner = parseObject(/\{.*\}/s.exec(said)?.[0] ?? "");
  const seconds = /retry after (\d+(?:\.\d+)?)s/i.exec(said)?.[1] ?? /retry in (\d+(?:\.\d+)?)s/i.exec(said)?.[1];
  const at = Date.parse(textAt(line, "timestamp"));
  return failureOf(textAt(inner, "error", "message") || said, {
    status: numberAt(inner, "error", "code"),
    resetAt: seconds === undefined ? undefined : timeOf(at + Number(seconds) * 1000),
  });
}

function usagesOf(models: unknown): readonly HarnessEvent[] {
  if (!isJsonObject(models)) return [];
  return Object.entries(models).flatMap(([model, stats]) => {
    const input = countAt(stats, "input_tokens");
    const cachedTokens = countAt(stats, "cached");
    // Only the total includes reasoning tokens.
    const outputTokens = Math.max(countAt(stats, "output_tokens"), countAt(stats, "total_tokens") - input);
    if (input + outputTokens === 0) return [];
    const usage = {
      model,
      inputTokens: Math.max(0, input - cachedTokens),
      outputTokens,
      cachedTokens,
      cost: undefined,
    };
    return [{ kind: "usage", usage } as const];
  });
}

/** Gemini writes a message with tools again after they have run; its text and usage are reported the first time. */
export function readTranscriptLine(line: string): readonly HarnessEvent[] {
  const message = parseObject(line);
  if (message?.type !== "gemini" || "toolCalls" in message) return [];
  if (jsonAt(message, "tokens") === undefined) return [];
  const cachedTokens = countAt(message, "tokens", "cached");
  const usage = {
    model: textAt(message, "model"),
    inputTokens: Math.max(0, countAt(message, "tokens", "input") - cachedTokens),
    outputTokens: countAt(message, "tokens", "output") + countAt(message, "tokens", "thoughts"),
    cachedTokens,
    cost: undefined,
  };
  const said = textAt(message, "content");
  return [...(said.trim() === "" ? [] : [{ kind: "said", text: said } as const]), { kind: "usage", usage }];
}

/** The file of a session. Resuming leaves nearly empty files with the same id, and continues in the first. */
export async function findTranscript(session: string, userFolder: string): Promise<string> {
  const ending = `-${session.slice(0, 8)}.jsonl`;
  const projects = await readdir(join(userFolder, "tmp")).catch(() => []);
  const files: { readonly name: string; readonly path: string }[] = [];
  for (const project of projects) {
    const folder = join(userFolder, "tmp", project, "chats");
    for (const name of await readdir(folder).catch(() => []))
      if (name.endsWith(ending) && (await isOf(join(folder, name), session)))
        files.push({ name, path: join(folder, name) });
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))[0]?.path ?? "";
}

async function isOf(path: string, session: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer.toString("utf8", 0, bytesRead).includes(session);
  } finally {
    await file.close();
  }
}

const forms: readonly ObstacleForm[] = [
  [/Error resuming session|Invalid session identifier|No previous sessions found/i, noSuchSession(title)],
  [
    /How would you like to authenticate|No authentication method selected|Please set an Auth method|Waiting for auth|Enter Gemini API Key/i,
    notLoggedIn(title, "gemini"),
  ],
  [/Do you trust the files in this folder|is not running in a trusted (directory|folder)/i, notTrusted(title)],
];

/** Recognises screens on which Gemini CLI waits for a person before it starts, and its messages if it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
