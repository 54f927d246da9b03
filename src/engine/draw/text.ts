import type { Way, Workflow } from "../workflow.ts";
import { describeWait } from "./describe-wait.ts";
import { lines } from "./mermaid.ts";
import { wayLabel } from "./way-label.ts";

/** A workflow as plain text: each state with the arrows that leave it. A dashed arrow is an escalation. */
export function drawText(workflow: Workflow): string {
  const { shared, single } = splitWays(workflow);
  const width = Math.max(...Object.keys(workflow.states).map((name) => name.length)) + 2;
  const row = (way: Way) => `  ${arrow(way)} ${way.to.padEnd(width)} ${wayLabel(workflow, way)}`.trimEnd();
  const states = Object.values(workflow.states).map((state) => [
    `${state.name.padEnd(width + 4)} ${describeWait(state)}`,
    ...single.filter((way) => way.from === state.name).map(row),
  ]);
  const anywhere =
    shared.length === 0
      ? []
      : [["from every state that is not an end", ...shared.flatMap((ways) => ways.slice(0, 1)).map(row)]];
  return lines([...states, ...anywhere].flat());
}

/** Groups of ways that are the same from every state, and all the other ways. */
export function splitWays(workflow: Workflow): { shared: readonly (readonly Way[])[]; single: readonly Way[] } {
  const groups = Map.groupBy(workflow.ways, (way) => JSON.stringify({ ...way, from: "" }));
  const open = Object.values(workflow.states).filter((state) => !state.terminal);
  const isShared = (ways: readonly Way[]) =>
    open.length > 1 && new Set(ways.map((way) => way.from)).size === open.length;
  const shared = [...groups.values()].filter(isShared);
  const hidden = new Set(shared.flat());
  return { shared, single: workflow.ways.filter((way) => !hidden.has(way)) };
}

export function arrow(way: Way): string {
  return way.implied === "escalation" ? "⇢" : "→";
}
