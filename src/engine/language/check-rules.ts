import type { AnswerSchema } from "../../answers/read-answer.ts";
import { covers, failureWords } from "../when.ts";
import type { Rule, RunSpec, State, Way } from "../workflow.ts";
import { gap, overlap } from "./check-ways.ts";
import { type Context, didYouMean, type Path } from "./problem.ts";
import { checkAnswer } from "./read-run.ts";
import type { PlacedRule } from "./read-ways.ts";

/** Checks the rules of one state against what the state can do and against each other. */
export function checkRules(
  context: Context,
  state: State,
  rules: readonly PlacedRule[],
  hookRuns: readonly RunSpec[],
  isSwitch: (field: string) => boolean,
): void {
  const failures = failureWords(state, hookRuns);
  checkWords(context, state, rules, failures);
  checkResults(context, state, rules);
  checkShadows(context, state, rules, failures);
  checkSessionEnds(context, state, rules);
  checkChoices(context, state, rules, isSwitch);
}

function checkWords(context: Context, state: State, rules: readonly PlacedRule[], failures: readonly string[]): void {
  const words = ["ok", ...(failures.length > 0 ? ["failed"] : []), ...failures];
  for (const { rule, path } of rules) {
    for (const [i, word] of (rule.on ?? []).entries()) {
      if (words.includes(word)) continue;
      const close = didYouMean(word, words);
      const fix = close.startsWith("Did") ? close : "";
      context.error(
        [...wholeRule(path), "on", ...(rule.on?.length === 1 ? [] : [i])],
        `"${state.name}" never ends with "${word}".`,
        `It ends with ${words.join(", ")}. ${fix}`.trim(),
      );
    }
  }
}

function checkResults(context: Context, state: State, rules: readonly PlacedRule[]): void {
  const { wait } = state;
  const name = wait.kind === "agent" ? wait.run.result : wait.kind === "panel" ? wait.judge.result : undefined;
  const schema = name === undefined ? undefined : (context.source.schemas?.[name] as AnswerSchema | undefined);
  const withResult = rules.filter(({ rule }) => rule.result !== undefined);
  for (const { rule, path } of withResult) {
    if (schema === undefined) {
      context.error(
        [...wholeRule(path), "result"],
        `"${state.name}" waits for no answer that a rule could read.`,
        "Add result: … to its run.",
        { key: true },
      );
      return;
    }
    checkAnswer(context, name, rule.result ?? {}, [...wholeRule(path), "result"]);
  }
  const next = rules.find(({ path }) => path.at(-1) === "next");
  if (next !== undefined && withResult.length > 0 && state.do.length === 0) {
    context.error(
      next.path,
      `"next" would be taken for any answer, because "ok" only means that there is one.`,
      "Write a rule for each answer instead.",
      { key: true },
    );
  }
}

/** The path of the rule that a choice in `then_when` belongs to. */
function wholeRule(path: Path): Path {
  return path.at(-2) === "then_when" ? path.slice(0, -2) : path;
}

/** Reports rules that never apply because an earlier rule always applies first. */
function checkShadows(context: Context, state: State, rules: readonly PlacedRule[], failures: readonly string[]): void {
  const taken = new Map<string, number>();
  for (const [index, { rule, path }] of rules.entries()) {
    const words = ["ok", ...failures].filter((word) => covers(rule.on, word));
    const forestalled = words.filter((word) => taken.has(word));
    if (words.length > 0 && forestalled.length === words.length) {
      const first = (taken.get(words[0] ?? "") ?? 0) + 1;
      const said = rule.on?.join(", ") ?? "anything";
      context.error(
        path,
        `"${said}" never gets here: outcome ${first} of "${state.name}" handles it first.`,
        "Change their order or their conditions.",
      );
    }
    if (!isUnconditional(state, rule)) continue;
    for (const word of words) if (!taken.has(word)) taken.set(word, index);
  }
}

function isUnconditional(state: State, rule: Rule): boolean {
  if (rule.result !== undefined || rule.when.length > 0 || rule.artifact !== undefined) return false;
  if (rule.does.kind !== "then") return true;
  return (state.out[rule.does.to] ?? []).some((way) => way.when.length === 0 && way.gates.length === 0);
}

/** The end of a session proves nothing; only fresh evidence does. */
function checkSessionEnds(context: Context, state: State, rules: readonly PlacedRule[]): void {
  if (state.wait.kind !== "agent" || state.wait.run.mode !== "session" || state.do.length > 0) return;
  for (const { rule, path } of rules) {
    if (!rule.on?.includes("ok") || rule.does.kind !== "then" || rule.artifact !== undefined) continue;
    const ways: readonly Way[] = state.out[rule.does.to] ?? [];
    if (ways.some((way) => way.gates.length > 0)) continue;
    context.error(
      path,
      `The end of a session proves nothing, and the way from "${state.name}" to "${rule.does.to}" has no gate.`,
      "Add a gate to that transition, or use mode: turn.",
    );
  }
}

/** The choices of one `then_when` must be exclusive and leave nothing out. */
function checkChoices(
  context: Context,
  state: State,
  rules: readonly PlacedRule[],
  isSwitch: (field: string) => boolean,
): void {
  const groups = Map.groupBy(
    rules.filter(({ path }) => path.at(-2) === "then_when"),
    ({ path }) => path.slice(0, -1).join("/"),
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const at = first.path.slice(0, -1);
    const sets = group.map(({ rule }) => rule.when);
    const missing = gap(first.given ?? [], sets, isSwitch);
    if (missing !== undefined) {
      context.error(at, `The choices of "${state.name}" leave out ${write(missing)}.`, "Add a choice for it.", {
        key: true,
      });
    }
    for (const [i, a] of group.entries()) {
      for (const b of group.slice(i + 1)) {
        const both = overlap(a.rule.when, b.rule.when, isSwitch);
        if (both !== undefined)
          context.error(
            b.path,
            `Two choices of "${state.name}" fit ${write(both)}.`,
            "Make their conditions exclusive.",
          );
      }
    }
  }
}

function write(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([field, value]) => `${field} = ${value}`)
    .join(", ");
}
