import { largestBound, switchesOf } from "../explore/variants.ts";
import { fieldValues } from "../sample-answers.ts";
import type { Guard, Rule, State, Workflow } from "../workflow.ts";
import type { Finding } from "./finding.ts";

/**
 * What a file does that exploring it does not cover. Where there is any, finding no error proves nothing, and the file is
 * not called proved.
 */
export function checkExplored(workflow: Workflow): readonly Finding[] {
  return [
    ...unexploredNumbers(workflow),
    ...unexploredSwitches(workflow),
    ...Object.values(workflow.states).flatMap((state) => [
      ...unexploredWork(state),
      ...unexploredLimits(state),
      ...unexploredAnswers(workflow, state),
    ]),
  ];
}

/** Numbers of settings are cut to a bound: right where only the one comparison matters, wrong beside larger constants. */
function unexploredNumbers(workflow: Workflow): readonly Finding[] {
  const guards = guardsOf(workflow);
  const compared = new Set(
    guards.flatMap((guard) => [
      ...(guard.source === "setting" ? [guard.field] : []),
      ...(typeof guard.value === "object" ? [guard.value.setting] : []),
    ]),
  );
  return [...compared].flatMap((name) => {
    const values = [workflow.settings[name]?.default, ...Object.values(workflow.presets).map((each) => each[name])];
    const isLarge = values.some((value) => typeof value === "number" && value > largestBound);
    if (!isLarge && !meetsLargerConstant(workflow, guards, name)) return [];
    const what = `How the setting "${name}" compares above ${largestBound}`;
    return [unexplored("", what, `Compare with numbers up to ${largestBound} to have it proved.`)];
  });
}

/** A task may set a number that the file's own constants for the same field come to lie below. */
function meetsLargerConstant(workflow: Workflow, guards: readonly Guard[], name: string): boolean {
  const { max = Number.POSITIVE_INFINITY } = workflow.settings[name] ?? {};
  if (max <= largestBound) return false;
  const fields = guards.flatMap((guard) =>
    typeof guard.value === "object" && guard.value.setting === name ? [guard.field] : [],
  );
  return guards.some(
    ({ field, value }) =>
      typeof value === "number" && value > largestBound && (fields.includes(field) || field === name),
  );
}

function unexploredSwitches(workflow: Workflow): readonly Finding[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  const left = presets.map((preset) => switchesOf(workflow, preset).left).find((names) => names.length > 0);
  if (left === undefined) return [];
  const names = left.map((name) => `"${name}"`).join(", ");
  return [unexplored("", `What the further switches change (${names})`, "Let at most four switches be compared.")];
}

/** During `do` the evidence of a session and the answers of a panel are forgotten. */
function unexploredWork(state: State): readonly Finding[] {
  if (state.do.length === 0) return [];
  const { wait } = state;
  const isSession = wait.kind === "agent" && wait.run.mode === "session";
  const readsAnswer = state.rules.some((rule) => rule.result !== undefined || rule.artifact !== undefined);
  const isGated = Object.values(state.out).some((ways) => ways.some((way) => way.gates.length > 0));
  if (!isSession && !(wait.kind === "panel" && (readsAnswer || isGated))) return [];
  const what = `What the ${isSession ? "session" : "panel"} of "${state.name}" leaves to its "do"`;
  return [unexplored(state.name, what, "Move the actions of do into a state of their own, behind this one.")];
}

function unexploredLimits(state: State): readonly Finding[] {
  const limit = (["time", "cost"] as const).find((each) => state.limits[each] !== undefined);
  if (limit === undefined || state.do.length === 0) return [];
  const what = `That "${limit}" of "${state.name}" can end during its "do"`;
  return [unexplored(state.name, what, "Move the actions of do into a state of their own, behind this one.")];
}

/** Answers are sampled field by field, which is complete only where the values can be listed. */
function unexploredAnswers(workflow: Workflow, state: State): readonly Finding[] {
  const { wait } = state;
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  const schema = run?.result === undefined ? undefined : workflow.schemas[run.result];
  if (schema === undefined) return [];
  const fields = [...state.rules.flatMap(resultFields), ...Object.keys(run?.until ?? {})];
  return [...new Set(fields)]
    .filter((field) => fieldValues(schema, field) === undefined)
    .map((field) =>
      unexplored(
        state.name,
        `Every value of "${field}" that the rules of "${state.name}" compare`,
        `Make "${field}" a boolean, or give it an enum.`,
      ),
    );
}

function resultFields(rule: Rule): readonly string[] {
  return Object.keys(rule.result ?? {});
}

function guardsOf(workflow: Workflow): readonly Guard[] {
  const inStates = Object.values(workflow.states).flatMap((state) => [
    ...state.unless,
    ...state.rules.flatMap((rule) => rule.when),
  ]);
  return [...workflow.ways.flatMap((way) => way.when), ...inStates];
}

function unexplored(state: string, what: string, fix: string): Finding {
  return {
    level: "warning",
    code: "unexplored",
    state,
    message: `${what} is not explored.`,
    fix,
    example: undefined,
  };
}
