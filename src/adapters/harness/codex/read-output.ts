import type { HarnessError, HarnessEvent, HarnessOrder, OutputReader, TurnEnd } from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { jsonAt } from "../../json-at.ts";
import { parseObject, textAt } from "../json-at.ts";
import { splitLines } from "../split-lines.ts";
import { errorOf } from "./error-of.ts";
import { rolloutOf } from "./rollout-of.ts";
import { withoutNulls } from "./strict-schema.ts";
import { noTokens, readCount, usageEvents } from "./token-count.ts";
import { readNotes } from "./turn-notes.ts";
import { turnTokens } from "./turn-tokens.ts";

/** Reads what `codex exec --json` prints. */
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
      // What it prints is the total of the session, and nothing where the turn did not come to its end.
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
    return withoutNulls(JSON.parse(text), schema);
  } catch {
    return undefined;
  }
}

function errorAtEnd(end: ProcessEnd, errors: string, now: number): HarnessError {
  const told = (kind: HarnessError["kind"], message: string) => ({ kind, message, resetAt: undefined });
  if (end.cause === "start") return told("start", end.reason === "" ? "Codex could not be started." : end.reason);
  if (end.cause === "time") return told("timeout", "Codex had not finished when its time was up.");
  if (end.cause === "output") return told("other", "Codex printed more than it may.");
  if (end.cause === "killed") return told("other", "Codex was ended before it had finished.");
  if (end.signal !== "") return told("other", `Codex was ended by ${end.signal}.`);
  const lines = errors.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("Reading "));
  const reason = lines.findLast((line) => line.startsWith("Error: ")) ?? lines.at(-1);
  if (reason !== undefined) return errorOf(reason.replace(/^Error: /, ""), now);
  return told("other", `Codex ended with exit code ${end.code ?? "unknown"}, and did not say why.`);
}
