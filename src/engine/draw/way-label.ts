import { writeGuard } from "../when.ts";
import type { Gate, Way, Workflow } from "../workflow.ts";

/** Who may take a way and under what conditions, short enough for an arrow. */
export function wayLabel(workflow: Workflow, way: Way): string {
  if (way.implied === "escalation") return `engine, after ${failuresBefore(workflow, way)} failures`;
  const by = way.by === undefined ? "anyone" : way.by.join(" or ");
  return [by, ...way.gates.map(gateText), ...way.when.map(writeGuard)].join(", ");
}

/** What a gate asks for, without its fields. */
export function gateText(gate: Gate): string {
  return gate.verdict === undefined ? `## ${gate.section}` : `## ${gate.section} ${gate.verdict}`;
}

function failuresBefore(workflow: Workflow, way: Way): number {
  const counts = (workflow.states[way.from]?.rules ?? []).flatMap(({ does }) =>
    does.kind !== "then" && does.after?.to === way.to ? [does.after.count] : [],
  );
  return Math.min(...counts);
}
