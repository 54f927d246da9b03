import { actions } from "./actions/index.ts";
import type { Task } from "./task.ts";
import type { Action, Limits, Mode, RunSpec, State } from "./workflow.ts";

/** Failures that are nobody's answer: counted, and tried again while attempts last. */
const accidents = new Set(["error", "invalid", "stall", "exit"]);

export function isAccident(word: string): boolean {
  return accidents.has(word);
}

/** Counts one more failure in a row. Those of the state before are only forgotten once this one has settled. */
export function countFailure({ crashCount, phase, wait }: Task): Pick<Task, "crashCount" | "wait"> {
  if (phase !== "entering") return { crashCount: crashCount + 1, wait };
  return { crashCount: wait.hasFailed ? crashCount + 1 : 1, wait: { ...wait, hasFailed: true } };
}

const wordsOfMode: Readonly<Record<Mode, readonly string[]>> = {
  session: ["exit"],
  turn: ["error", "stall"],
  steps: ["error", "stall", "steps"],
  dialogue: ["rounds", "error", "stall"],
};

/** An answer can only be invalid where there is a schema it should fit. */
function runWords(run: RunSpec, limits: Limits): readonly string[] {
  const canStall = run.limits.stall !== undefined || limits.stall !== undefined;
  const stalls = run.mode === "session" && canStall ? ["stall"] : [];
  const invalid = run.result === undefined ? [] : ["invalid"];
  return [...wordsOfMode[run.mode], ...stalls, ...invalid, ...limitWords(limits, run.limits)];
}

/** How a state's wait and work can end, besides `ok`. */
export function failureWords(
  state: Pick<State, "wait" | "do" | "limits">,
  hookRuns: readonly RunSpec[],
): readonly string[] {
  return [...new Set([...waitWords(state, hookRuns), ...workWords(state.do)])];
}

/** `hookRuns` are those that hooks of the file start: a state without a wait of its own looks at them. */
export function waitWords(state: Pick<State, "wait" | "limits">, hookRuns: readonly RunSpec[]): readonly string[] {
  const { wait } = state;
  switch (wait.kind) {
    case "agent":
      return runWords(wait.run, state.limits);
    case "panel":
    case "fan_out":
      return ["error", "invalid", ...limitWords(state.limits)];
    case "open":
      return [...new Set(hookRuns.flatMap((run) => runWords(run, state.limits)))];
    default:
      return limitWords(state.limits);
  }
}

export function workWords(work: readonly Action[]): readonly string[] {
  if (work.length === 0) return [];
  return [...new Set(["error", ...work.flatMap((action) => Object.keys(actions[action.name]?.words ?? {}))])];
}

function limitWords(...limits: readonly Limits[]): readonly string[] {
  return (["time", "cost"] as const).filter((key) => limits.some((each) => each[key] !== undefined));
}

/** Whether a rule's `on` covers a word; `failed` covers all but `ok`. */
export function covers(on: readonly string[] | undefined, word: string): boolean {
  return on === undefined || on.includes(word) || (word !== "ok" && on.includes("failed"));
}

/** Whether what a word says may change by itself, so that the engine may look again. */
export function isTemporary(word: string): boolean {
  return Object.values(actions).some(
    (action) => Object.hasOwn(action.words, word) && action.words[word] === "temporary",
  );
}
