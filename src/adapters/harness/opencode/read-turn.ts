import type { HarnessError, HarnessEvent, OutputReader } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { endedBadly, endedByUs, failureOf } from "../failure-of.ts";
import { countAt, numberAt, textAt } from "../json-at.ts";
import { jsonLines } from "../json-lines.ts";
import { failureIn } from "./failure-in.ts";

/** Reads what `opencode run --format json` prints, and the lines that our plugin puts between. */
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
    // OpenCode's own words, put into the conversation in the agent's place.
    if (jsonAt(line, "part", "synthetic") === true) return [];
    const said = textAt(line, "part", "text");
    const message = textAt(line, "part", "messageID");
    text = message === textOf ? `${text}\n${said}` : said;
    textOf = message;
    return [{ kind: "said", text: said }];
  }

  function readFinish(reason: string): void {
    // What went wrong before was got over.
    if (reason === "stop") error = undefined;
    if (reason === "content-filter") error = failureOf("The model refused: its answer was held back by a filter.");
    if (reason === "length") error = failureOf("The answer was cut off because it is longer than the model may write.");
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

export function usageOf(part: unknown, model: string): HarnessEvent {
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

/** Zero is what it says where it knows no price. */
function costOf(part: unknown): number | undefined {
  const cost = numberAt(part, "cost");
  return cost === undefined || cost <= 0 ? undefined : cost;
}

function talkedOf(errors: string): HarnessError | undefined {
  const said = /Error:[^\n]*\S[^\n]*/.exec(errors)?.[0];
  return said === undefined ? undefined : failureOf(said);
}
