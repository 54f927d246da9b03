import type { Effect } from "../engine/decision.ts";
import { effectsOfWays } from "../engine/draw/ways.ts";
import { writeGuard } from "../engine/when.ts";
import type { Action, Rule, State, Way, Workflow } from "../engine/workflow.ts";

/** A compiled workflow as programs read it. `show --json` prints it; its help documents the form. */
export function workflowDocument(workflow: Workflow, file: string) {
  const effects = effectsOfWays(workflow);
  return {
    name: workflow.name,
    description: workflow.description,
    hash: workflow.hash,
    file,
    initial: workflow.initial,
    unclear: workflow.unclear,
    settings: workflow.settings,
    presets: workflow.presets,
    roles: workflow.roles,
    limits: workflow.limits,
    pollInterval: workflow.pollInterval,
    states: Object.values(workflow.states).map(stateDocument),
    ways: workflow.ways.map((way) => wayDocument(way, effects.get(way))),
    prompts: workflow.prompts,
    schemas: workflow.schemas,
    counters: workflow.counters,
    sections: workflow.sections,
    owners: workflow.owners,
  };
}

/** The runs that taking a way ends, starts and tells something, by role. */
export function runsOf(effects: readonly Effect[]) {
  const of = (action: string) => effects.filter((effect) => effect.action === action);
  const name = ({ agent }: Effect) => agent?.run.split("#")[0] ?? "";
  return {
    ended: of("kill_agent").map(({ params }) => String(params.role)),
    started: of("spawn_agent").map(name),
    told: of("notify_agent").map(name),
  };
}

/** Where no task takes the way, all that is known of its effects is its hooks. Counters move in the decision itself. */
function effectNames(way: Way, effects: readonly Effect[] | undefined): readonly string[] {
  if (effects !== undefined) return effects.map(({ action }) => action);
  return way.hooks.map(({ name }) => name).filter((name) => name !== "increment" && name !== "set_field");
}

function wayDocument(way: Way, effects: readonly Effect[] | undefined) {
  return {
    from: way.from,
    to: way.to,
    by: way.by,
    when: way.when.map(writeGuard),
    gates: way.gates,
    hooks: way.hooks.map(actionDocument),
    implied: way.implied,
    effects: effectNames(way, effects),
    runs: runsOf(effects ?? []),
  };
}

function stateDocument(state: State) {
  return {
    name: state.name,
    terminal: state.terminal,
    outcome: state.outcome,
    wait: state.wait,
    unless: state.unless.map(writeGuard),
    do: state.do.map(actionDocument),
    rules: state.rules.map(ruleDocument),
    limits: state.limits,
    respawn: state.respawn,
    ask: state.ask,
  };
}

function ruleDocument(rule: Rule) {
  return { ...rule, when: rule.when.map(writeGuard) };
}

function actionDocument({ name, params }: Action) {
  return { action: name, params };
}
