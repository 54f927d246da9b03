import type { Decision } from "./decision.ts";
import type { Workflow } from "./workflow.ts";

/** What a decision leads to that reaches beyond the task, and is not easily taken back. */
export type Consequence = "none" | "merge" | "push" | "end";

/** The actions by which work leaves the task, the gravest first. */
const beyond = [
  ["merge", ["merge", "merge_pr"]],
  ["push", ["push_branch", "create_pr"]],
] as const;

/** What these actions do beyond the task. */
export function consequenceOfActions(actions: Iterable<string>): Consequence {
  const names = new Set(actions);
  return beyond.find(([, those]) => those.some((name) => names.has(name)))?.[0] ?? "none";
}

/**
 * What follows from a decision before the task waits again, for an agent, a person, a slot or a time: through states that wait for
 * nothing it may get far. If it depends on results that are not known yet, the gravest that can follow.
 */
export function consequenceOf({ states }: Workflow, decision: Decision): Consequence {
  if (decision.kind === "rejected" || decision.kind === "ignored") return "none";
  const { task, effects } = decision;
  const actions = new Set(effects.map(({ action }) => action));
  const follow = new Set(decision.kind === "moved" || task.phase === "doing" ? [task.status] : []);
  // Entries that are added to a Set while it is iterated come last.
  for (const name of follow) {
    const state = states[name];
    if (state === undefined) continue;
    const isHere = name === task.status;
    if (isHere && task.phase !== "doing" && !state.terminal && state.wait.kind !== "none" && !task.wait.skipped)
      continue;
    if (!isHere && !state.terminal && state.wait.kind !== "none") continue;
    for (const { name: action } of state.do) actions.add(action);
    for (const { does } of state.rules) {
      if (does.kind !== "then") continue;
      follow.add(does.to);
      for (const { hooks } of state.out[does.to] ?? []) for (const hook of hooks) actions.add(hook.name);
    }
  }
  const found = consequenceOfActions(actions);
  if (found !== "none") return found;
  return [...follow].some((name) => states[name]?.terminal === true) ? "end" : "none";
}
