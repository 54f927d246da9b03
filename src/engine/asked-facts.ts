import type { FactName } from "./request.ts";
import type { Guard, State, Workflow } from "./workflow.ts";

/**
 * Whether a decision about a task in a state reads a fact: its ways, rules and evidence do, and so does whether the wait of
 * the next state is skipped.
 */
export function asksForFact({ states }: Pick<Workflow, "states">, status: string, fact: FactName): boolean {
  const state = states[status];
  if (state === undefined) return false;
  const facts = asked.get(state) ?? factsAsked(states, state);
  asked.set(state, facts);
  return facts.has(fact);
}

function factsAsked(states: Workflow["states"], state: State): ReadonlySet<string> {
  const { out, rules, evidence } = state;
  const guards: readonly Guard[] = [
    ...[...Object.values(out).flat(), ...rules].flatMap(({ when }) => when),
    ...[state.name, ...Object.keys(out)].flatMap((name) => states[name]?.unless ?? []),
  ];
  return new Set([...guards, ...evidence].flatMap(({ source, field }) => (source === "fact" ? [field] : [])));
}

// A cache: every decision asks.
const asked = new WeakMap<State, ReadonlySet<string>>();
