import type { TurnDefinition } from "../../../engine/harness-definition.ts";
import { plainOutput } from "../../../engine/plain-output.ts";
import type { HarnessError, HarnessEvent, OutputReader, TurnEnd } from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { endedBadly } from "../ended-badly.ts";
import { createLineSplitter } from "../line-splitter.ts";
import { readDocument } from "./read-document.ts";

export interface OutputDefinition {
  readonly title: string;
  readonly turn: TurnDefinition;
  /** Tells which kind of error a text speaks of. */
  classify(text: string): HarnessError["kind"];
}

// Far more than anybody says; what is beyond it is lost, so that a flood does not fill the memory.
const mostBytes = 16 * 1024 * 1024;

/** Reads what a program prints, in the form that its definition says. */
export function readCommandOutput(definition: OutputDefinition): OutputReader {
  return definition.turn.output === "jsonl" ? readLines(definition) : readWhole(definition);
}

function readWhole(definition: OutputDefinition): OutputReader {
  const { title, turn } = definition;
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(Uint8Array.from(chunk));
      return [];
    },
    end(end, errors) {
      const printed = Buffer.concat(chunks).toString("utf8");
      chunks = [];
      if (turn.output !== "json") {
        const text = plainOutput(printed).trim();
        return { text, answer: undefined, error: errorOf(definition, end, errors, text), events: [] };
      }
      const { value, isJson } = parse(printed);
      const read = readDocument(turn, value);
      const garbled = isJson ? undefined : failure("other", `${title} did not print a JSON document.`);
      const error = errorOf(definition, end, errors, read.error ?? (isJson ? "" : printed), read.error) ?? garbled;
      return { text: read.text ?? "", answer: read.answer, error, events: read.events };
    },
  };
}

function readLines(definition: OutputDefinition): OutputReader {
  const lines = createLineSplitter();
  let last: Pick<TurnEnd, "text" | "answer"> = { text: "", answer: undefined };
  let failed: string | undefined;
  let session = "";
  const take = (line: string): readonly HarnessEvent[] => {
    const { value, isJson } = parse(line);
    if (!isJson) return [];
    const read = readDocument(definition.turn, value);
    if (read.text !== undefined) last = { ...last, text: read.text };
    if (read.answer !== undefined) last = { ...last, answer: read.answer };
    failed = read.error ?? failed;
    const said: readonly HarnessEvent[] = read.text === undefined ? [] : [{ kind: "said", text: read.text }];
    // Every line may repeat the session.
    const news = read.events.filter((event) => event.kind !== "session" || event.id !== session);
    for (const event of news) if (event.kind === "session") session = event.id;
    return [...news, ...said];
  };
  return {
    push: (chunk) => lines.push(chunk).flatMap(take),
    end(end, errors) {
      const events = take(lines.rest());
      return { ...last, error: errorOf(definition, end, errors, failed ?? "", failed), events };
    },
  };
}

/** `told`: what the program itself calls an error, whatever its exit code was. */
function errorOf(
  { title, classify }: OutputDefinition,
  end: ProcessEnd,
  errors: string,
  printed: string,
  told?: string,
): HarnessError | undefined {
  const bad = endedBadly(title, end, errors.trim() === "" ? printed : errors);
  if (bad === undefined && told === undefined) return undefined;
  if (bad !== undefined && bad.kind !== "other") return bad;
  return failure(classify(`${errors}\n${printed}`), told ?? bad?.message ?? "");
}

function failure(kind: HarnessError["kind"], message: string): HarnessError {
  return { kind, message, resetAt: undefined };
}

function parse(text: string): { readonly value: unknown; readonly isJson: boolean } {
  try {
    return { value: JSON.parse(text) as unknown, isJson: true };
  } catch {
    return { value: undefined, isJson: false };
  }
}
