import type { GraphView } from "../api/workflows.ts";
import { describeWait, splitWays, wayLabel } from "../engine/draw/workflow.ts";
import { writeGuard } from "../engine/when.ts";
import type { State, Way, Workflow } from "../engine/workflow.ts";

/** The states and ways of a workflow, for those who draw it. */
export function graphOf(workflow: Workflow): GraphView {
  const shared = new Set(splitWays(workflow).shared.flat());
  return {
    states: Object.values(workflow.states).map((state) => stateView(workflow, state)),
    ways: workflow.ways.map((way) => wayView(workflow, way, shared.has(way))),
  };
}

function stateView({ initial }: Workflow, state: State): GraphView["states"][number] {
  const { name, terminal, outcome = null, wait, ask = "" } = state;
  return {
    ...{ name, terminal, outcome, ask, initial: initial.includes(name), kind: wait.kind },
    waits: describeWait(state),
    role: roleOf(state),
    does: state.do.map((action) => action.name),
  };
}

function roleOf({ wait }: State): string {
  if (wait.kind === "agent" || wait.kind === "human") return wait.run?.role ?? "";
  return wait.kind === "panel" ? wait.member.role : "";
}

function wayView(workflow: Workflow, way: Way, everywhere: boolean): GraphView["ways"][number] {
  const { from, to, by = [], gates, when, hooks, implied = null } = way;
  return {
    ...{ from, to, everywhere, implied, by: [...by] },
    label: wayLabel(workflow, way),
    gates: gates.map(({ section, fields, verdict = null }) => ({ section, fields: [...fields], verdict })),
    when: when.map(writeGuard),
    hooks: hooks.map(({ name }) => name),
  };
}
