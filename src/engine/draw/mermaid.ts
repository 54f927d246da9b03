import type { Workflow } from "../workflow.ts";
import { wayLabel } from "./way-label.ts";

/** A workflow as a Mermaid state diagram. State diagrams have no dashed arrows: an escalation is marked with ⚠ instead. */
export function drawMermaid(workflow: Workflow): string {
  const ids = mermaidIds(Object.keys(workflow.states));
  const states = Object.values(workflow.states);
  const id = (name: string) => ids.get(name) ?? name;
  const ends = states.filter((state) => state.terminal);
  return lines([
    "stateDiagram-v2",
    ...states.map(({ name }) => `  state "${mermaidText(name)}" as ${id(name)}`),
    ...workflow.initial.slice(0, 1).map((name) => `  [*] --> ${id(name)}`),
    ...workflow.ways.map((way) => {
      const mark = way.implied === "escalation" ? "⚠ " : "";
      return `  ${id(way.from)} --> ${id(way.to)} : ${mark}${mermaidText(wayLabel(workflow, way))}`;
    }),
    ...ends.map(({ name }) => `  ${id(name)} --> [*]`),
    "  classDef ended stroke-width:3px",
    ...ends.map(({ name }) => `  class ${id(name)} ended`),
  ]);
}

/** An id for each name: Mermaid takes letters, digits and _ only, and has words of its own. */
export function mermaidIds(names: readonly string[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const used = new Set<string>();
  for (const name of new Set(names)) {
    const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
    const isSafe = /^[A-Za-z]/.test(plain) && !reserved.has(plain.toLowerCase());
    const base = isSafe ? plain : `s_${plain}`;
    let id = base;
    for (let n = 2; used.has(id); n++) id = `${base}_${n}`;
    used.add(id);
    ids.set(name, id);
  }
  return ids;
}

/** Text that cannot be taken for syntax: what Mermaid might read is written as its character code. */
export function mermaidText(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[#;:"<>%{}[\]\\`&]/g, (char) => `#${char.charCodeAt(0)};`);
}

export function lines(each: readonly string[]): string {
  return `${each.join("\n")}\n`;
}

const reserved = new Set([
  "as",
  "accdescr",
  "acctitle",
  "class",
  "classdef",
  "click",
  "default",
  "direction",
  "end",
  "hide",
  "href",
  "note",
  "root",
  "scale",
  "state",
  "statediagram",
  "style",
]);
