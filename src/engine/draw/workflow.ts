import { writeGuard } from "../when.ts";
import type { Gate, RunSpec, State, Value, Way, Workflow } from "../workflow.ts";

/** What a state waits for, as a short phrase after its name. */
export function describeWait(state: State): string {
  if (state.terminal) return `the end: ${state.outcome ?? ""}`;
  const { wait } = state;
  switch (wait.kind) {
    case "none":
      return "continues immediately";
    case "open":
      return "stays until somebody asks, or the agent ends";
    case "agent":
      return `waits for the ${who(wait.run)}`;
    case "panel":
      return `waits for every ${who(wait.member)}${promptsText(wait.member)}, then for the ${who(wait.judge)}`;
    case "fan_out":
      return `waits for a ${wait.workflow} task for each of ${wait.from.result}.${wait.from.field}, ${valueText(wait.parallel)} at once`;
    case "human":
      return `waits for a person${state.ask === undefined ? "" : ` (${state.ask})`}`;
    case "slot":
      return "waits for a free slot";
    case "time":
      return `waits ${wait.seconds}s`;
  }
}

function who(run: RunSpec): string {
  return run.mode === "session" ? run.role : `${run.role} (${run.mode})`;
}

/** What the members of a panel are asked, where that tells them apart. */
function promptsText({ prompts = [] }: RunSpec): string {
  return prompts.length === 0 ? "" : ` of ${prompts.join(", ")}`;
}

function valueText(value: Value<number>): string {
  return typeof value === "number" ? String(value) : `{${value.setting}}`;
}

/**
 * A workflow in the language of Graphviz: ends have a double line, escalations are dashed, ways that rules imply
 * dotted.
 */
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

/**
 * A workflow as a Mermaid state diagram. State diagrams have no dashed arrows: an escalation is marked with ⚠ instead.
 */
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

/** An id for each name: Mermaid accepts letters, digits and _ only, and has reserved words. */
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

/** Escapes text for Mermaid: characters that could be syntax are written as character codes. */
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

/** The roles that may take a way, and its conditions, short enough for an arrow. */
export function wayLabel(workflow: Workflow, way: Way): string {
  if (way.implied === "escalation") return `engine, after ${failuresBefore(workflow, way)} failures`;
  const by =
    way.by === undefined
      ? "anyone"
      : [...(isOfSlot(workflow, way) ? ["engine with a free slot"] : []), ...way.by].join(" or ");
  return [by, ...way.gates.map(gateText), ...way.when.map(writeGuard)].join(", ");
}

/** Whether the engine takes a way that is a person's, once the task is given the slot that it waits for. */
function isOfSlot({ states }: Workflow, { from, to, by }: Way): boolean {
  const state = states[from];
  if (state?.wait.kind !== "slot" || by?.includes("engine") === true) return false;
  return state.rules.some(({ does }) => does.kind === "then" && does.to === to);
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
