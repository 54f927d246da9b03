import type { Guard, Rule, Way } from "../workflow.ts";
import { type Context, type Path, suggest } from "./problem.ts";
import { readAction, readGate, readGuards } from "./read-action.ts";
import { asList, type GateSource, type RuleSource, type TransitionSource } from "./source.ts";

/** A rule with its place in the file, for later checks. */
export interface PlacedRule {
  readonly rule: Rule;
  readonly path: Path;
  /** For a choice in `then_when`: the conditions of the whole rule. */
  readonly given?: readonly Guard[];
}

/** Reads all rules of a state: its own outcomes, those of `exit_monitoring`, and `next` as the last. */
export function readRules(context: Context, state: string): readonly PlacedRule[] {
  const source = context.source.states[state];
  const own = (source?.outcomes ?? []).flatMap((rule, i) => readRule(context, rule, ["states", state, "outcomes", i]));
  const monitored = (context.source.exit_monitoring?.rules ?? []).flatMap((rule, i) =>
    rule.status === state ? readRule(context, rule, ["exit_monitoring", "rules", i]) : [],
  );
  if (source?.next === undefined) return [...own, ...monitored];
  const path: Path = ["states", state, "next"];
  checkTarget(context, source.next, path);
  const next: Rule = {
    on: ["ok"],
    result: undefined,
    when: [],
    artifact: undefined,
    reason: "",
    does: { kind: "then", to: source.next },
  };
  return [...own, ...monitored, { rule: next, path }];
}

function readRule(context: Context, source: RuleSource, path: Path): readonly PlacedRule[] {
  const base = {
    on: source.on === undefined ? undefined : asList<string>(source.on),
    result: source.result,
    when: readGuards(context, source.when, [...path, "when"]),
    artifact: source.has_artifact ? readGate(source.has_artifact) : source.no_artifact ? ("none" as const) : undefined,
    reason: source.reason ?? "",
  };
  const does = (["then", "then_when", "action"] as const).filter((key) => source[key] !== undefined);
  if (does.length !== 1) {
    const found = does.length === 0 ? "nothing" : does.join(" and ");
    context.error(
      path,
      `A rule does one thing, but this one has ${found}.`,
      "Give exactly one of then, then_when, action.",
    );
  }
  const after = readAfter(context, source, path);
  if (after !== undefined && source.action === undefined) {
    context.error(path, "A limit on failures goes with an action.", "Add action: crash.");
  }
  if (source.then_when !== undefined) {
    return source.then_when.map((choice, i) => {
      const at = [...path, "then_when", i];
      checkTarget(context, choice.then, [...at, "then"]);
      const when = [...base.when, ...readGuards(context, choice.when, [...at, "when"])];
      return { rule: { ...base, when, does: { kind: "then", to: choice.then } }, path: at, given: base.when };
    });
  }
  if (source.action !== undefined) return [{ rule: { ...base, does: { kind: source.action, after } }, path }];
  if (source.then === undefined) return [];
  checkTarget(context, source.then, [...path, "then"]);
  return [{ rule: { ...base, does: { kind: "then", to: source.then } }, path }];
}

/** Reads `<state>_after: N`. A missing state is only a warning, because `minimal` has one. */
function readAfter(context: Context, source: RuleSource, path: Path) {
  const keys = Object.keys(source).filter((key) => key.endsWith("_after"));
  const [key] = keys;
  if (key === undefined) return undefined;
  if (keys.length > 1)
    context.error([...path, keys[1] ?? ""], "A rule has one limit on failures.", "Remove the others.", { key: true });
  const to = key.slice(0, -"_after".length);
  const exists = context.states.includes(to);
  if (!exists) {
    context.warn(
      [...path, key],
      `There is no state "${to}", so the task is held in its state instead.`,
      suggest(to, context.states),
      { key: true },
    );
  }
  return { count: Number(source[key as "_after"]), to: exists ? to : undefined };
}

export function checkTarget(context: Context, state: string, path: Path): void {
  if (Object.hasOwn(context.source.states, state)) return;
  context.error(path, `There is no state "${state}".`, suggest(state, context.states));
}

export interface PlacedWay {
  readonly way: Way;
  readonly path: Path;
}

// `any` multiplies ways; more than this are a mistake, and would slow every check down.
const maxWays = 20_000;

/**
 * Expands every transition into pairs. `any` stands for every state that is not terminal; a specific pair overrides it.
 */
export function readWays(context: Context): readonly PlacedWay[] {
  const transitions = context.source.transitions ?? [];
  const specific = new Set<string>();
  for (const each of transitions) {
    for (const from of asList<string>(each.from))
      for (const to of asList<string>(each.to)) specific.add(`${from}\n${to}`);
  }
  const ways = transitions.flatMap((source, i) => readTransition(context, source, ["transitions", i], specific));
  if (ways.length <= maxWays) return ways;
  context.error(["transitions"], `These are ${ways.length} ways, more than ${maxWays}.`, "Use fewer states.", {
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
    if (role === "any") context.error(at, '"any" is not a role.', "Leave `by` out to let every actor of the task ask.");
    else if (role !== "human" && role !== "engine" && context.roles !== undefined && !context.roles.includes(role)) {
      context.error(at, `There is no role "${role}".`, suggest(role, ["human", "engine", ...context.roles]));
    }
  }
}

/** The plain ways for targets of rules that no transition leads to: a rule can only take a way that exists. */
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

/** The engine's own ways at the limit on failures: without gates and guards, with the hooks of the ordinary way. */
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
