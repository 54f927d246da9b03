import type { Guard, Rule } from "../workflow.ts";
import type { Context } from "./context.ts";
import { suggest } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { readGate } from "./read-gate.ts";
import { readGuards } from "./read-guard.ts";
import { asList, type RuleSource } from "./source.ts";

/** A rule with the place it was read from, for checks that come later. */
export interface PlacedRule {
  readonly rule: Rule;
  readonly path: Path;
  /** Of a choice in `then_when`: the conditions of the whole rule. */
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

/** `<state>_after: N`. A state that is not there is only a warning: seed 001's minimal workflow has one. */
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
      `There is no state "${to}", so the task stays where it is, marked for attention.`,
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
