import { actions } from "./actions/index.ts";
import type { Action, Limits, Mode, State } from "./workflow.ts";

/** Failures that are nobody's answer: counted, and tried again while attempts last. */
const accidents = new Set(["error", "invalid", "stall", "exit"]);

export function isAccident(word: string): boolean {
  return accidents.has(word);
}

const wordsOfMode: Readonly<Record<Mode, readonly string[]>> = {
  session: ["exit"],
  turn: ["error", "invalid", "stall"],
  steps: ["error", "invalid", "stall", "steps"],
  dialogue: ["rounds", "error", "invalid", "stall"],
};

/** How a state's wait and work can end, besides `ok`. */
export function failureWords(
  state: Pick<State, "wait" | "do" | "limits">,
  hookModes: readonly Mode[],
): readonly string[] {
  return [...new Set([...waitWords(state, hookModes), ...workWords(state.do)])];
}

export function waitWords(state: Pick<State, "wait" | "limits">, hookModes: readonly Mode[]): readonly string[] {
  const { wait } = state;
  switch (wait.kind) {
    case "agent":
      return [...wordsOfMode[wait.run.mode], ...limitWords(state.limits, wait.run.limits)];
    case "panel":
    case "fan_out":
      return ["error", "invalid", ...limitWords(state.limits)];
    case "open":
      return [...new Set(hookModes.flatMap((mode) => wordsOfMode[mode]))];
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

/** A word that names a condition: it may come to hold by itself, so the engine may look again. */
export function isCondition(word: string): boolean {
  return Object.values(actions).some(
    (action) => Object.hasOwn(action.words, word) && action.words[word] === "condition",
  );
}
