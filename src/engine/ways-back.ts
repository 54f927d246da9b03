import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import type { Task } from "./task.ts";
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

/** The state that a person can send the task back to: the one they want, else the only one. Otherwise what to do. */
export function theWayBack(workflow: Workflow, task: Task, wanted?: string): string | Reason {
  const state = stateOf(workflow, task.status);
  const { id } = task;
  if (state.terminal) {
    const fix = `Continue its branch in a new task: signalbox task create --from ${id}`;
    return { code: "terminal", text: `The task is in "${state.name}", which is the end.`, fix };
  }
  const { all, toAgents } = waysBack(workflow, state);
  const [only, ...others] = toAgents;
  if (wanted !== undefined && all.includes(wanted)) return wanted;
  if (wanted === undefined && only !== undefined && others.length === 0) return only;
  const named = wanted !== undefined || only === undefined ? all : toAgents;
  if (named.length > 0) {
    const text = `From "${state.name}" a person can send the task to ${named.join(", ")}.`;
    return { code: "bad-value", text, fix: `Say which: --status ${named.join(" or --status ")}` };
  }
  const text = `From "${state.name}" no person can send the task back to an agent.`;
  const fix = Object.keys(task.runs).length > 0 ? `Tell the agent that is at work: signalbox task send ${id}` : "";
  return { code: "no-transition", text, fix: fix || `See what can be done: signalbox task explain ${id}` };
}

function targetsOfRules({ rules }: State): readonly string[] {
  return rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
}

/** Whether agents work in this state. */
export function isWorkedIn(state: State | undefined): boolean {
  if (state === undefined) return false;
  const { kind } = state.wait;
  return kind === "agent" || kind === "panel" || kind === "fan_out" || (kind === "open" && state.respawn !== undefined);
}
