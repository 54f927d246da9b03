import type { Workflow } from "../workflow.ts";
import { lines } from "./mermaid.ts";
import { wayLabel } from "./way-label.ts";

/** A workflow in the language of Graphviz: ends have a double line, escalations are dashed, ways that rules imply dotted. */
export function drawDot(workflow: Workflow): string {
  const states = Object.values(workflow.states);
  const start = workflow.initial[0];
  return lines([
    `digraph ${quoted(workflow.name)} {`,
    "  rankdir=TB;",
    '  node [shape=box, style=rounded, fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    '  "" [shape=point];',
    ...states.map(({ name, terminal }) => `  ${quoted(name)}${terminal ? " [peripheries=2]" : ""};`),
    ...(start === undefined ? [] : [`  "" -> ${quoted(start)};`]),
    ...workflow.ways.map((way) => {
      const style = way.implied === "escalation" ? ", style=dashed" : way.implied === "rule" ? ", style=dotted" : "";
      return `  ${quoted(way.from)} -> ${quoted(way.to)} [label=${quoted(wayLabel(workflow, way))}${style}];`;
    }),
    "}",
  ]);
}

function quoted(text: string): string {
  return `"${text.replace(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
