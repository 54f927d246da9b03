import { jsonAt, parseJson, parseObject, textAt } from "../../../json.ts";
import type {
  HarnessError,
  HarnessEvent,
  HarnessOrder,
  Obstacle,
  OutputReader,
  ScreenState,
  TurnEnd,
} from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { splitLines } from "../../lines.ts";
import { endedBadly, endedByUs } from "../failure.ts";
import { findObstacle, noSuchSession, notLoggedIn, notTrusted, type ObstacleForm, outdated } from "../launch.ts";
import { errorOf, noTokens, readCount, readNotes, rolloutOf, turnTokens, usageEvents } from "./rollout.ts";
import { withoutNulls } from "./settings.ts";

/** Reads the output of `codex exec --json`. */
export function readOutput(at: Pick<HarnessOrder, "run" | "runFolder">, now: () => number): OutputReader {
  const notes = readNotes(at);
  const lines = splitLines();
  let session = "";
  let said = "";
  let failure: HarnessError | undefined;
  let hasBegun = false;
  let isComplete = false;
  let total = noTokens;

  function eventsOf(text: string): readonly HarnessEvent[] {
    const line = parseObject(text);
    switch (line?.type) {
      case "thread.started":
        session = textAt(line, "thread_id");
        return [{ kind: "session", id: session, transcript: "" }];
      case "turn.started":
        hasBegun = true;
        return [{ kind: "busy", what: "" }];
      case "item.started":
        return toolEvents(jsonAt(line, "item"), "began");
      case "item.completed": {
        if (textAt(line, "item", "type") !== "agent_message") return toolEvents(jsonAt(line, "item"), "ended");
        said = textAt(line, "item", "text");
        return [{ kind: "said", text: said }];
      }
      case "turn.completed":
        isComplete = true;
        total = readCount(jsonAt(line, "usage"));
        return [];
      case "turn.failed":
        failure = errorOf(textAt(line, "error", "message"), now());
        return [{ kind: "failed", error: failure }];
      default:
        return [];
    }
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(eventsOf),
    end(end, errors): TurnEnd {
      const last = eventsOf(lines.rest());
      // Codex prints the total of the session, and nothing if the turn was interrupted.
      const used = hasBegun ? (turnTokens(rolloutOf(session, notes.home)) ?? total) : noTokens;
      const error = isComplete ? undefined : (failure ?? errorAtEnd(end, errors, now()));
      const events = [...last, ...usageEvents(used, notes.model)];
      return { text: said, answer: answerIn(said, notes.schema), error, events };
    },
  };
}

function toolEvents(item: unknown, state: "began" | "ended"): readonly HarnessEvent[] {
  const type = textAt(item, "type");
  if (type === "mcp_tool_call") {
    return [{ kind: "tool", name: `${textAt(item, "server")}.${textAt(item, "tool")}`, state }];
  }
  return ["command_execution", "file_change", "web_search"].includes(type) ? [{ kind: "tool", name: type, state }] : [];
}

function answerIn(text: string, schema: unknown): unknown {
  if (schema === undefined) return undefined;
  try {
    return withoutNulls(parseJson(text), schema);
  } catch {
    return undefined;
  }
}

function errorAtEnd(end: ProcessEnd, errors: string, now: number): HarnessError {
  const ours = endedByUs(end, "Codex");
  if (ours !== undefined) return ours;
  if (end.signal !== "") return endedBadly(end, "Codex");
  const lines = errors.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("Reading "));
  const reason = lines.findLast((line) => line.startsWith("Error: ")) ?? lines.at(-1);
  if (reason !== undefined) return errorOf(reason.replace(/^Error: /, ""), now);
  return endedBadly(end, "Codex");
}

/** Every dialog names its keys below its choices. */
const choice = /^[ \t]*› \d+\. /m;
const keys = /^[ \t]*(?:press )?(?:enter|esc)\b.*\b(?:confirm|continue|quit|cancel|skip)\b/im;
/** Another process has the conversation open; Codex offers to retry. */
const locked = /^[ \t]*r retry\b.*\bexit\b/m;
const working = /\((?:\d+[hms] ?)+• esc to interrupt\)/;
/** Shown in the window's title while Codex works. */
const spinner = /^[\u2801-\u28ff]/;
/** The input line, and the status line below it: `gpt-6-sol high · ~/project`. */
const input = /^› (?!\d+\. )/m;
const statusLine = /^ {2}\S.* · [~/]/m;

/** Interprets the screen of Codex 0.166. */
export function readScreen(screen: string, title: string): ScreenState {
  // Only the end counts: agents may print anything above.
  const foot = screen.trimEnd().split("\n").slice(-24).join("\n");
  if (title.includes("Action Required") || (choice.test(foot) && keys.test(foot)) || locked.test(foot)) return "asks";
  if (spinner.test(title) || working.test(foot)) return "busy";
  if (input.test(foot) && statusLine.test(foot)) return "ready";
  return foot.trim() === "" || foot.includes("OpenAI Codex") ? "starting" : "unknown";
}

const title = "Codex";
const forms: readonly ObstacleForm[] = [
  [/no rollout found for thread id|No saved session found/i, noSuchSession(title)],
  [/Update available![\s\S]*Skip until next version/i, outdated(title, "npm install -g @openai/codex")],
  [
    /Sign in with (ChatGPT|Device Code)|Choose how you want to use Codex|Not logged in/i,
    notLoggedIn(title, "codex login"),
  ],
  [/Trust this folder\?|Do you trust the contents of this directory/i, notTrusted(title)],
];

/** Recognises screens on which Codex waits for a person before it starts, and its messages if it ends instead. */
export function readObstacle(text: string): Obstacle | undefined {
  return findObstacle(text, forms);
}
