import { isMap, isScalar, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import type { Effect } from "../../src/engine/decision.ts";
import type { Graph } from "../../src/engine/explore/graph.ts";
import { takeStep } from "../../src/engine/explore/world.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { exploreAll, tableOf } from "./table.ts";

/** A workflow file with one part removed. */
export interface Mutant {
  /** The removed part, for people. */
  readonly what: string;
  readonly text: string;
  /** The result if no scenario has to be played, such as that the file does not load; otherwise empty. */
  readonly verdict: string;
  /** Matches the names of the scenarios that should fail. */
  readonly about: string;
}

type Path = readonly (string | number)[];

/** Every copy of a workflow file that lacks one edge, guard, gate, hook, rule, evidence or step of a state's own work. */
export function mutantsOf(text: string): readonly Mutant[] {
  const original = loaded(text);
  if (original === undefined) throw new Error("The file itself cannot be loaded.");
  const behaviour = behaviourOf(original);
  const table = tableOf(text).join();
  return [...edges(text), ...parts(text), ...rules(text), ...conditions(text), ...work(text), ...evidence(text)].map(
    ({ what, text: copy, about }) => {
      const workflow = loaded(copy);
      const isSame = workflow !== undefined && behaviourOf(workflow) === behaviour;
      if (workflow === undefined) return { what, text: copy, about, verdict: "refused at load" };
      // `by` decides which moves exist, and the last scenario compares all moves with these.
      const isToldByTable = what.endsWith(": by") && tableOf(copy).join() !== table;
      return {
        what,
        text: copy,
        about,
        verdict: isSame ? "makes no difference" : isToldByTable ? "another table" : "",
      };
    },
  );
}

type Cut = Omit<Mutant, "verdict">;

/** Each pair of states that a transition stands for. */
function edges(text: string): readonly Cut[] {
  return transitions(text).flatMap(({ from, to, index }) =>
    from.flatMap((state) =>
      to.map((target) => ({
        what: `${state} → ${target}`,
        text:
          from.length * to.length === 1
            ? without(text, ["transitions", index])
            : changed(
                text,
                ["transitions", index, "from"],
                from.filter((each) => each !== state),
              ),
        about: `${state} → ${target} `,
      })),
    ),
  );
}

/** Each `by`, `when`, `gate` and hook of a transition. */
function parts(text: string): readonly Cut[] {
  return transitions(text).flatMap(({ from, to, index, node }) => {
    const about = from.flatMap((state) => to.map((target) => `${state} → ${target} `)).join("|");
    const name = from.length > 1 ? `(${from.length} states) → ${to.join(", ")}` : `${from[0]} → ${to.join(", ")}`;
    const cut = (what: string, ...path: Path) => ({
      what: `${name}: ${what}`,
      text: without(text, ["transitions", index, ...path]),
      about,
    });
    const hooks = node.get("hooks");
    return [
      ...["by", "when", "gate"].filter((key) => node.has(key)).map((key) => cut(key, key)),
      ...(isSeq(hooks) ? hooks.items : []).map((hook, place) => cut(hookName(hook), "hooks", place)),
    ];
  });
}

/** Each rule of a state, in both places where rules can be, and each `next`. */
function rules(text: string): readonly Cut[] {
  const document = parseDocument(text);
  const cut = (state: string, what: string, ...path: Path): Cut => ({
    what: `${state}: ${what}`,
    text: without(text, path),
    about: `${state} → [\\w-]+ \\(\\w+ (rule|escalated)|${state} \\(`,
  });
  const ofStates = keysOf(text, "states").flatMap((state) => {
    const outcomes = document.getIn(["states", state, "outcomes"]);
    const places = isSeq(outcomes) ? [...outcomes.items.keys()] : [];
    const found = places.map((place) => cut(state, `outcome ${place + 1}`, "states", state, "outcomes", place));
    return document.hasIn(["states", state, "next"]) ? [...found, cut(state, "next", "states", state, "next")] : found;
  });
  const monitored = document.getIn(["exit_monitoring", "rules"]);
  const ofFile = (isSeq<YAMLMap>(monitored) ? monitored.items : []).map((rule, place) =>
    cut(String(rule.get("status")), `exit rule ${place + 1}`, "exit_monitoring", "rules", place),
  );
  return [...ofStates, ...ofFile];
}

/** Each condition of a rule, and each `unless` of a state. */
function conditions(text: string): readonly Cut[] {
  const document = parseDocument(text);
  return keysOf(text, "states").flatMap((state) => {
    const about = `${state} → |${state} \\(`;
    const outcomes = document.getIn(["states", state, "outcomes"]);
    const rules = isSeq<YAMLMap>(outcomes) ? outcomes.items : [];
    const found = rules.flatMap((rule, place) => {
      const path = ["states", state, "outcomes", place, "when"];
      const when = rule.get("when");
      const all = isSeq(when) ? when.items.map((item, index) => [String(item), [...path, index]] as const) : [];
      const each = isSeq(when) || when === undefined ? all : [[String(when), path] as const];
      return each.map(([condition, cut]) => ({
        what: `${state}: outcome ${place + 1}: ${condition}`,
        text: without(text, cut),
        about,
      }));
    });
    const unless = ["states", state, "unless"];
    const skipped = { what: `${state}: unless`, text: without(text, unless), about };
    return document.hasIn(unless) ? [...found, skipped] : found;
  });
}

/** Each step of a state's own work. */
function work(text: string): readonly Cut[] {
  const document = parseDocument(text);
  return keysOf(text, "states").flatMap((state) => {
    const steps = document.getIn(["states", state, "do"]);
    return (isSeq(steps) ? steps.items : []).map((step, place) => ({
      what: `${state}: ${hookName(step)}`,
      text: without(text, ["states", state, "do", place]),
      about: `${state} → |→ ${state} |${state} \\(`,
    }));
  });
}

/** Each thing that the agent of a state must have produced. */
function evidence(text: string): readonly Cut[] {
  const document = parseDocument(text);
  return keysOf(text, "states").flatMap((state) => {
    const path = ["states", state, "evidence"];
    const found = document.getIn(path);
    const all = isSeq(found) ? found.items.map((item, place) => [String(item), [...path, place]] as const) : [];
    const each = isSeq(found) || found === undefined ? all : [[String(found), path] as const];
    return each.map(([condition, cut]) => ({
      what: `${state}: evidence: ${condition}`,
      text: without(text, cut),
      about: `${state} \\(evidence\\)`,
    }));
  });
}

/** Transitions with the states that they stand for; `any` is spelled out. */
function transitions(text: string) {
  const document = parseDocument(text);
  const states = document.get("states") as YAMLMap;
  const open = keysOf(text, "states").filter((name) => (states.get(name) as YAMLMap).get("terminal") !== true);
  return (document.get("transitions") as YAMLSeq<YAMLMap>).items.map((node, index) => {
    const texts = (key: string) => {
      const value = node.get(key);
      return isSeq(value) ? value.items.map((item) => String(isScalar(item) ? item.value : item)) : [String(value)];
    };
    return { index, node, from: texts("from").includes("any") ? open : texts("from"), to: texts("to") };
  });
}

function keysOf(text: string, key: string): readonly string[] {
  const map = parseDocument(text).get(key) as YAMLMap;
  return map.items.map(({ key: name }) => String(isScalar(name) ? name.value : name));
}

function hookName(hook: unknown): string {
  return isMap(hook)
    ? [hook.get("action"), hook.get("role") ?? ""].join(" ").trim()
    : String(isScalar(hook) ? hook.value : hook);
}

function without(text: string, path: Path): string {
  const document = parseDocument(text);
  document.deleteIn(path);
  return document.toString();
}

function changed(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text);
  document.setIn(path, document.createNode(value));
  return document.toString();
}

function loaded(text: string): Workflow | undefined {
  return loadWorkflow(text, "workflow.yml").workflow;
}

/**
 * The behaviour of a workflow, by exploring it: each step in each position, its events and its effects. Releasing a workspace
 * that does not exist is left out because it does nothing. Ending a session counts as ending each run of it: at the end of a
 * task, and before its workspace is released, the engine ends the runs that the file does not end.
 */
function behaviourOf(workflow: Workflow): string {
  return exploreAll(workflow)
    .map((graph) => linesOf(workflow, graph))
    .join("\n\n");
}

function linesOf(workflow: Workflow, { nodes, edges: steps }: Graph): string {
  const lines = steps.map(({ from, to, step }) => {
    const before = nodes[from]?.world;
    const taken = before && takeStep(workflow, before, step);
    const all = taken?.effects ?? [];
    const runs = Object.entries(before?.task.runs ?? {}).filter(
      ([role]) => !all.some(({ action, params }) => action === "kill_agent" && params.role === role),
    );
    const effects = all.flatMap((effect): readonly Pick<Effect, "action" | "params">[] => {
      if (effect.action === "release_workspace" && before?.workspace === false) return [];
      if (effect.action !== "kill_session") return [effect];
      return runs.map(([role, { key: run }]) => ({ action: "kill_agent", params: { role, run } }));
    });
    const events = (taken?.events ?? []).map(({ type, by, data, set }) => [
      type,
      by,
      data,
      set.crashCount === undefined,
    ]);
    return JSON.stringify([positionOf(nodes[from]?.world), step, events, effects, positionOf(nodes[to]?.world)]);
  });
  return [...new Set(lines)].sort().join("\n");
}

function positionOf(world: Graph["nodes"][number]["world"] | undefined): unknown {
  if (world === undefined) return undefined;
  // The number of failures matters only where something depends on it; the events show that they are counted.
  const { workflowHash: _, crashCount: __, ...task } = world.task;
  return { ...world, task };
}
