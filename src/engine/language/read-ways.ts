import type { Rule, Way } from "../workflow.ts";
import type { Context } from "./context.ts";
import { suggest } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { readAction } from "./read-action.ts";
import { readGate } from "./read-gate.ts";
import { readGuards } from "./read-guard.ts";
import { checkTarget } from "./read-rules.ts";
import { asList, type GateSource, type TransitionSource } from "./source.ts";

export interface PlacedWay {
  readonly way: Way;
  readonly path: Path;
}

// `any` multiplies; more ways than this are a mistake, and cost time in every check.
const mostWays = 20_000;

/** Spells out every transition pair by pair. `any` stands for every state that is not terminal; a specific pair beats it. */
export function readWays(context: Context): readonly PlacedWay[] {
  const transitions = context.source.transitions ?? [];
  const specific = new Set<string>();
  for (const each of transitions) {
    for (const from of asList<string>(each.from))
      for (const to of asList<string>(each.to)) specific.add(`${from}\n${to}`);
  }
  const ways = transitions.flatMap((source, i) => readTransition(context, source, ["transitions", i], specific));
  if (ways.length <= mostWays) return ways;
  context.error(["transitions"], `These are ${ways.length} ways, more than ${mostWays}.`, "Use fewer states.", {
    key: true,
  });
  return [];
}

function readTransition(
  context: Context,
  source: TransitionSource,
  path: Path,
  specific: ReadonlySet<string>,
): readonly PlacedWay[] {
  const isTerminal = (state: string) => context.source.states[state]?.terminal === true;
  const shared = {
    by: source.by === undefined ? undefined : asList<string>(source.by),
    when: readGuards(context, source.when, [...path, "when"]),
    gates: asList<GateSource>(source.gate).map(readGate),
    hooks: (source.hooks ?? []).flatMap((hook, i) => readAction(context, hook, [...path, "hooks", i]) ?? []),
    implied: undefined,
  };
  checkBy(context, source, path);

  const froms = asList<string>(source.from).flatMap((from, i) => {
    if (from === "any")
      return context.states.filter((state) => !isTerminal(state)).map((state) => ({ from: state, isAny: true }));
    const at = Array.isArray(source.from) ? [...path, "from", i] : [...path, "from"];
    checkTarget(context, from, at);
    if (isTerminal(from))
      context.error(
        at,
        `"${from}" is terminal, so nothing leads out of it.`,
        "Remove the transition, or terminal: true.",
      );
    return [{ from, isAny: false }];
  });
  const tos = asList<string>(source.to);
  for (const [i, to] of tos.entries())
    checkTarget(context, to, Array.isArray(source.to) ? [...path, "to", i] : [...path, "to"]);

  return froms.flatMap(({ from, isAny }) =>
    tos
      .filter((to) => !isAny || (to !== from && !specific.has(`${from}\n${to}`)))
      .map((to) => ({ way: { from, to, ...shared }, path })),
  );
}

function checkBy(context: Context, source: TransitionSource, path: Path): void {
  for (const [i, role] of asList<string>(source.by).entries()) {
    const at = Array.isArray(source.by) ? [...path, "by", i] : [...path, "by"];
    if (role === "any")
      context.error(at, '"any" names no one in particular.', "Leave `by` out to let every actor of the task ask.");
    else if (role !== "human" && role !== "engine" && context.roles !== undefined && !context.roles.includes(role)) {
      context.error(at, `There is no role "${role}".`, suggest(role, ["human", "engine", ...context.roles]));
    }
  }
}

/** A rule can only take a way that exists; naming a target makes the plain way exist. */
export function impliedWays(states: Readonly<Record<string, readonly Rule[]>>, ways: readonly Way[]): readonly Way[] {
  const known = new Set(ways.map((way) => `${way.from}\n${way.to}`));
  const implied: Way[] = [];
  for (const [from, rules] of Object.entries(states)) {
    for (const { does } of rules) {
      if (does.kind !== "then" || known.has(`${from}\n${does.to}`)) continue;
      known.add(`${from}\n${does.to}`);
      implied.push({ from, to: does.to, by: ["engine"], when: [], gates: [], hooks: [], implied: "rule" });
    }
  }
  return implied;
}

/** The engine's own way at the limit on failures: past gate and guard, with the hooks of the ordinary way. */
export function escalationWays(
  states: Readonly<Record<string, readonly Rule[]>>,
  ways: readonly Way[],
): readonly Way[] {
  const found = new Map<string, Way>();
  for (const [from, rules] of Object.entries(states)) {
    for (const { does } of rules) {
      if (does.kind === "then" || does.after?.to === undefined) continue;
      const to = does.after.to;
      const hooks = ways.find((way) => way.from === from && way.to === to)?.hooks ?? [];
      found.set(`${from}\n${to}`, { from, to, by: ["engine"], when: [], gates: [], hooks, implied: "escalation" });
    }
  }
  return [...found.values()];
}
