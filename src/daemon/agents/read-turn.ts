import { constants } from "node:os";
import { answerProblems, isTooLong, maxAnswer, readAnswer } from "../../answers/read-answer.ts";
import type { RunEnd } from "../../engine/request.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import type { Harness, HarnessError, HarnessEvent, TurnEnd } from "../../ports/harness.ts";
import type { ProcessEnd, Processes } from "../../ports/processes.ts";
import type { StartedRun, Usage } from "../../ports/records.ts";
import type { TailPosition } from "../../ports/tail.ts";
import { cutText } from "../../text.ts";
import { processName } from "./run-order.ts";

/** What the end of a turn means. */
type TurnVerdict =
  | {
      readonly kind: "ended";
      readonly word: RunEnd;
      readonly reason: string;
      readonly answer?: unknown;
      /** Another try would end in the same way. */
      readonly isFinal?: true;
    }
  /** The answer is invalid; it can be asked for again. */
  | { readonly kind: "invalid"; readonly reason: string; readonly answer: unknown }
  /** The provider accepts no more for now; the run has not failed. */
  | { readonly kind: "limited"; readonly until: number | undefined; readonly reason: string }
  /** The session cannot be resumed: the same prompt is given to a new one. */
  | { readonly kind: "session-gone"; readonly reason: string };

/** Reads how a turn ended, as an outcome word of the workflow language. `isResumed`: it resumed an earlier session. */
export function readTurn(
  workflow: Workflow,
  spec: RunSpec,
  end: ProcessEnd,
  turn: TurnEnd,
  isResumed: boolean,
): TurnVerdict {
  if (end.cause === "start") return ended("error", end.reason);
  if (end.cause === "time") return ended("stall", "It exceeded its time limit (agents.time_limit).");
  if (end.cause === "output") return ended("error", "It exceeded its output limit (agents.output_limit).");
  if (turn.error !== undefined) return ofError(turn.error, isResumed);
  const signal = endingSignal(end);
  if (signal !== "") return ended("error", `It was ended by ${signal}.`);
  if (spec.mode === "steps") {
    const isDone = hasMarker(turn.text, spec.marker);
    return ended(isDone ? "ok" : "step", "");
  }
  const schema = spec.result === undefined ? undefined : workflow.schemas[spec.result];
  if (schema === undefined) {
    const free = turn.answer ?? turn.text;
    return { ...ended("ok", ""), answer: isTooLong(free) ? cutText(turn.text, maxAnswer) : free };
  }
  const read = turn.answer === undefined ? readAnswer(turn.text) : ({ ok: true, value: turn.answer } as const);
  if (!read.ok) return { kind: "invalid", reason: read.problem, answer: undefined };
  const problems = answerProblems(schema, read.value);
  if (problems.length > 0)
    return { kind: "invalid", reason: problems.join(" "), answer: isTooLong(read.value) ? undefined : read.value };
  return { ...ended("ok", ""), answer: read.value };
}

/**
 * The signal that ended a program; empty if it ended by itself. A sandbox, like a shell, ends with 128 and the number of
 * the signal that ended its program.
 */
export function endingSignal({ code, signal }: { readonly code: number | undefined; readonly signal: string }): string {
  if (signal !== "" || code === undefined || code <= 128) return signal;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? "";
}

function ofError({ kind, message, resetAt }: HarnessError, isResumed: boolean): TurnVerdict {
  switch (kind) {
    case "rate-limit":
      return { kind: "limited", until: resetAt, reason: message };
    case "session-unknown":
    case "session-in-use":
    case "overflow":
      return isResumed ? { kind: "session-gone", reason: message } : ended("error", message);
    case "timeout":
      return ended("stall", message);
    case "authentication":
      return ended("login", message);
    case "budget":
      return ended("cost", message);
    case "denied":
    case "refusal":
      return { ...ended("error", message), isFinal: true };
    default:
      return ended("error", message);
  }
}

function ended(word: RunEnd, reason: string) {
  return { kind: "ended" as const, word, reason };
}

/** The marker counts only on a line of its own: an agent that merely mentions it has not ended. */
export function hasMarker(text: string, marker: string): boolean {
  return text.split("\n").some((line) => line.trim() === marker);
}

/** The name under which a task knows a run: its role, or `role/n` in a panel. */
export function nameOfRun(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}

/** The output of a run without a terminal, for people: its prompts, its words and its tool calls. */
export function toldLines(events: readonly HarnessEvent[]): string {
  return events
    .flatMap(lineOf)
    .filter((line, i, all) => line !== "" && line !== all[i - 1])
    .join("\n");
}

function lineOf(event: HarnessEvent): readonly string[] {
  switch (event.kind) {
    case "prompted":
      return [`> ${event.text.trim().split("\n", 1)[0] ?? ""}`];
    case "said":
      return [event.text.trim()];
    case "tool":
      return event.state === "began" ? [`· ${event.name}`] : [];
    case "busy":
      return event.what === "" ? [] : [`· ${event.what}`];
    case "asks":
      return [`? ${event.about}`];
    case "failed":
      return [`! ${event.error.message}`];
    default:
      return [];
  }
}

/** The output of a run without a terminal, read as it is printed. */
export interface TurnReading {
  /** The output since the last read, a few megabytes at most. */
  read(): Promise<PrintedPart>;
  process(): Promise<"absent" | "running" | "ended" | "lost">;
  /** The end of the turn, once it has ended and all of its output was read. */
  end(): Promise<ReadEnd | undefined>;
}

interface PrintedPart {
  readonly events: readonly HarnessEvent[];
  readonly grew: boolean;
  /** The offset up to which the output was read. */
  readonly position: number;
  readonly hasMore: boolean;
}

export interface ReadEnd {
  readonly end: ProcessEnd;
  readonly turn: TurnEnd;
  /** The events since the last read. */
  readonly events: readonly HarnessEvent[];
  readonly position: number;
}

/**
 * The offset up to which usage was counted in a turn's output. A turn that is asked again prints from the beginning.
 * `isEnd`: usage that is reported only at the end was counted too.
 */
export function countedUpTo({ part }: StartedRun, offset: number, isEnd = false): TailPosition {
  return { offset, before: isEnd ? `${part} end` : `${part}` };
}

export function countedOf(usage: Usage | undefined, { part }: StartedRun): { offset: number; isEnd: boolean } {
  const { offset, before } = usage?.position ?? { offset: 0, before: "" };
  const isEnd = before === `${part} end`;
  return isEnd || before === `${part}` ? { offset, isEnd } : { offset: 0, isEnd: false };
}

const chunk = 1024 ** 2;
/** Chunks per read. The supervisor bounds the output of a program; at its end all of it is needed. */
const maxChunks = 8;
const maxChunksAtEnd = 1_024;
const maxErrorLength = 16_384;

/**
 * `counted` is the offset up to which an earlier daemon counted usage. The output is read again from the beginning,
 * because the state of a turn is only in memory, but its usage is not counted twice.
 */
export function readTurnOutput(
  processes: Processes,
  harness: Harness,
  started: StartedRun,
  runFolder: string,
  counted: number,
): TurnReading {
  const id = processName(started);
  const reader = harness.readOutput({ run: started.name, runFolder });
  let position = 0;
  let last: ReadEnd | undefined;

  const readOn = async (chunks: number): Promise<PrintedPart> => {
    const events: HarnessEvent[] = [];
    const from = position;
    let hasMore = true;
    for (let i = 0; i < chunks; i++) {
      const most = position < counted ? Math.min(chunk, counted - position) : chunk;
      const bytes = await processes.read(id, "output", position, most);
      hasMore = bytes.length > 0;
      if (!hasMore) break;
      const learnt = reader.push(bytes);
      position += bytes.length;
      for (const event of learnt) if (position > counted || event.kind !== "usage") events.push(event);
    }
    return { events, grew: position > from, position, hasMore };
  };

  return {
    read: () => readOn(maxChunks),
    async process() {
      return (await processes.look(id)).kind;
    },
    async end() {
      const state = await processes.look(id);
      const end = state.kind === "ended" ? state : undefined;
      if (end === undefined) return undefined;
      if (last !== undefined) return { ...last, events: [] };
      const { events } = await readOn(maxChunksAtEnd);
      const turn = reader.end(end, await lastErrors(processes, id));
      last = { end, turn, events: [...events, ...turn.events], position };
      return last;
    },
  };
}

export async function lastErrors(processes: Processes, id: string): Promise<string> {
  let all = new Uint8Array();
  for (let at = 0; at < maxChunksAtEnd * chunk; ) {
    const bytes = await processes.read(id, "errors", at, chunk);
    if (bytes.length === 0) break;
    at += bytes.length;
    const joined = new Uint8Array(all.length + bytes.length);
    joined.set(all);
    joined.set(bytes, all.length);
    all = joined.slice(-maxErrorLength);
  }
  return new TextDecoder().decode(all);
}
