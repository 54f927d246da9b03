import type { TurnDefinition } from "../../../engine/harness-definition.ts";
import { fieldOf, parseJson } from "../../../json.ts";
import type { HarnessError, HarnessEvent, OutputReader, TurnEnd } from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { plainOutput } from "../../../text.ts";
import { splitLines } from "../../lines.ts";
import { amountOf } from "../event-line.ts";
import { endedByUs, failureAtEnd } from "../failure.ts";

interface OutputDefinition {
  readonly title: string;
  readonly turn: TurnDefinition;
  /** Classifies the error that a text describes. */
  classify(text: string): HarnessError["kind"];
}

// Far more than any answer. Output beyond this is dropped, so that a flood does not fill the memory.
const maxBytes = 16 * 1024 * 1024;

/** Reads a program's output in the format of its definition. */
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
      if (size <= maxBytes) chunks.push(Uint8Array.from(chunk));
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
      const garbled = isJson ? undefined : failure("other", `${title} did not print a JSON document that can be read.`);
      const error = errorOf(definition, end, errors, read.error ?? (isJson ? "" : printed), read.error) ?? garbled;
      return { text: read.text ?? "", answer: read.answer, error, events: read.events };
    },
  };
}

function readLines(definition: OutputDefinition): OutputReader {
  const lines = splitLines();
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
    // Every line may repeat the session's id.
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

/** `told` is an error that the program itself reported, whatever its exit code. */
function errorOf(
  { title, classify }: OutputDefinition,
  end: ProcessEnd,
  errors: string,
  printed: string,
  told?: string,
): HarnessError | undefined {
  const bad = failureAtEnd(end, title, errors.trim() === "" ? printed : errors);
  if (bad === undefined && told === undefined) return undefined;
  const ours = endedByUs(end, title);
  if (ours !== undefined && ours.kind !== "other") return ours;
  return failure(classify(`${errors}\n${printed}`), told ?? bad?.message ?? "");
}

function failure(kind: HarnessError["kind"], message: string): HarnessError {
  return { kind, message, resetAt: undefined };
}

function parse(text: string): { readonly value: unknown; readonly isJson: boolean } {
  try {
    return { value: parseJson(text), isJson: true };
  } catch {
    return { value: undefined, isJson: false };
  }
}

/** The parts of one JSON value that the definition's paths select. */
interface ReadDocument {
  readonly text: string | undefined;
  readonly answer: unknown;
  readonly error: string | undefined;
  readonly events: readonly HarnessEvent[];
}

function readDocument({ text, answer, session, error, usage }: TurnDefinition, value: unknown): ReadDocument {
  const id = textAt(value, session);
  const known: HarnessEvent[] = id === undefined ? [] : [{ kind: "session", id, transcript: "" }];
  const amount = (path: string | undefined) => (path === undefined ? undefined : amountOf(valueAt(value, path)));
  const tokens = [amount(usage?.input), amount(usage?.output), amount(usage?.cached)] as const;
  const cost = amount(usage?.cost);
  if ([...tokens, cost].some((each) => each !== undefined)) {
    const [inputTokens = 0, outputTokens = 0, cachedTokens = 0] = tokens;
    const model = textAt(value, usage?.model) ?? "";
    known.push({ kind: "usage", usage: { model, inputTokens, outputTokens, cachedTokens, cost } });
  }
  const said = error === undefined ? undefined : valueAt(value, error);
  const isError = said !== undefined && said !== null && said !== false && said !== "";
  return {
    text: textAt(value, text),
    answer: answer === undefined ? undefined : valueAt(value, answer),
    error: isError ? (textAt(value, error) ?? "") : undefined,
    events: known,
  };
}

/** The value at a path such as `result.items.0.text`; undefined if there is none. */
function valueAt(value: unknown, path: string): unknown {
  return fieldOf(value, ...path.split("."));
}

/** The same as text: other values are written as JSON; missing values and null are undefined. */
function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  if (found === undefined || found === null) return undefined;
  return typeof found === "string" ? found : JSON.stringify(found);
}
