import { answerProblems } from "../../engine/answer.ts";
import { readAnswer } from "../../engine/read-answer.ts";
import type { RunEnd } from "../../engine/request.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import type { HarnessError, TurnEnd } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";

/** What the end of a turn means. */
export type TurnVerdict =
  | { readonly kind: "ended"; readonly word: RunEnd; readonly reason: string; readonly answer?: unknown }
  /** The answer is not what was asked for; it can be asked for again. */
  | { readonly kind: "invalid"; readonly reason: string; readonly answer: unknown }
  /** The provider takes no more for now: no fault of the run. */
  | { readonly kind: "limited"; readonly until: number | undefined; readonly reason: string }
  /** The session cannot be gone on with: the same again in a new one. */
  | { readonly kind: "session-gone"; readonly reason: string };

/** Reads how a turn ended, in the words of the language. `isResumed`: it went on in an earlier session. */
export function readTurn(
  workflow: Workflow,
  spec: RunSpec,
  end: ProcessEnd,
  turn: TurnEnd,
  isResumed: boolean,
): TurnVerdict {
  if (end.cause === "start") return ended("error", end.reason);
  if (end.cause === "time") return ended("stall", "It took longer than it may (agents.time_limit).");
  if (end.cause === "output") return ended("error", "It printed more than it may (agents.output_limit).");
  if (turn.error !== undefined) return ofError(turn.error, isResumed);
  if (end.signal !== "") return ended("error", `It was ended by ${end.signal}.`);
  if (spec.mode === "steps") {
    const isDone = hasMarker(turn.text, spec.marker);
    return ended(isDone ? "ok" : "step", "");
  }
  const schema = spec.result === undefined ? undefined : workflow.schemas[spec.result];
  if (schema === undefined) return { ...ended("ok", ""), answer: turn.answer ?? turn.text };
  const read = turn.answer === undefined ? readAnswer(turn.text) : ({ ok: true, value: turn.answer } as const);
  if (!read.ok) return { kind: "invalid", reason: read.problem, answer: undefined };
  const problems = answerProblems(schema, read.value);
  if (problems.length > 0) return { kind: "invalid", reason: problems.join(" "), answer: read.value };
  return { ...ended("ok", ""), answer: read.value };
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
    case "budget":
      return ended("cost", message);
    default:
      return ended("error", message);
  }
}

function ended(word: RunEnd, reason: string) {
  return { kind: "ended" as const, word, reason };
}

/** The marker counts on a line of its own: an agent that only speaks about it has not ended. */
export function hasMarker(text: string, marker: string): boolean {
  return text.split("\n").some((line) => line.trim() === marker);
}

/** The name under which a task knows a run: its role, or `role/n` in a panel. */
export function nameOfRun(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}
