import type { State, Workflow } from "./workflow.ts";

/** Where a person can send a task that is in this state, so that it is worked on again. */
export interface WaysBack {
  /** States that are no end, and not where the person's wait leads anyway. */
  readonly all: readonly string[];
  /** Those of them in which an agent is waited for. */
  readonly toAgents: readonly string[];
}

export function waysBack({ states }: Workflow, state: State): WaysBack {
  const next = state.wait.kind === "human" ? targetsOfRules(state) : [];
  const all = Object.entries(state.out).flatMap(([to, ways]) => {
    const isForPeople = ways.some((way) => way.implied !== "escalation" && (way.by?.includes("human") ?? true));
    return isForPeople && states[to]?.terminal === false && !next.includes(to) ? [to] : [];
  });
  return { all, toAgents: all.filter((to) => isWorkedIn(states[to])) };
}

function targetsOfRules({ rules }: State): readonly string[] {
  return rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
}

function isWorkedIn(state: State | undefined): boolean {
  if (state === undefined) return false;
  const { kind } = state.wait;
  return kind === "agent" || kind === "panel" || kind === "fan_out" || (kind === "open" && state.respawn !== undefined);
}
