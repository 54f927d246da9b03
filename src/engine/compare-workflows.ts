import { arrow, wayLabel } from "./draw/workflow.ts";
import { writeGuard } from "./when.ts";
import type { Action, AuthorsPromise, Rule, Way, Workflow } from "./workflow.ts";

/** What a workflow has and another one lacks, as lines for people. */
export interface Difference {
  readonly added: readonly string[];
  readonly dropped: readonly string[];
}

export interface WorkflowDifference {
  readonly promises: Difference;
  readonly states: Difference;
  readonly ways: Difference;
  readonly rules: Difference;
}

/** What a change from one workflow to another adds and drops. Its texts and prompts are not compared. */
export function compareWorkflows(before: Workflow, after: Workflow): WorkflowDifference {
  const compared = (linesOf: (workflow: Workflow) => readonly string[]) => difference(linesOf(before), linesOf(after));
  return {
    promises: compared(({ promises }) => promises.map(({ written }) => written)),
    states: compared(({ states }) => Object.keys(states)),
    ways: compared((workflow) => workflow.ways.map((way) => writeWay(workflow, way))),
    rules: compared(({ states }) =>
      Object.values(states).flatMap(({ name, rules }) => rules.map((rule) => writeRule(name, rule))),
    ),
  };
}

function difference(before: readonly string[], after: readonly string[]): Difference {
  const [old, now] = [new Set(before), new Set(after)];
  return { added: [...now].filter((line) => !old.has(line)), dropped: [...old].filter((line) => !now.has(line)) };
}

function writeWay(workflow: Workflow, way: Way): string {
  const fields = way.gates.flatMap((gate) => gate.fields);
  const asked = fields.length === 0 ? "" : `, with ${fields.join(", ")}`;
  const hooks = way.hooks.length === 0 ? "" : ` (${way.hooks.map(writeAction).join(", ")})`;
  return `${way.from} ${arrow(way)} ${way.to} by ${wayLabel(workflow, way)}${asked}${hooks}`;
}

function writeAction({ name, params }: Action): string {
  const given = Object.entries(params).filter(([key]) => key !== "message" && key !== "title" && key !== "body");
  return given.length === 0 ? name : `${name} ${given.map(([key, value]) => `${key}=${String(value)}`).join(" ")}`;
}

function writeRule(state: string, { on, result, when, artifact, does }: Rule): string {
  const conditions = [
    ...(result === undefined ? [] : [`the answer has ${JSON.stringify(result)}`]),
    ...when.map(writeGuard),
    ...(artifact === undefined ? [] : [artifact === "none" ? "nothing is written" : `## ${artifact.section} is there`]),
  ];
  const word = on === undefined ? "with anything" : `with ${on.join(" or ")}`;
  const target =
    does.kind === "then"
      ? `→ ${does.to}`
      : `is held${does.after?.to === undefined ? "" : `, after ${does.after.count} failures → ${does.after.to}`}`;
  return `${state} ends ${word}${conditions.length === 0 ? "" : ` if ${conditions.join(", ")}`} ${target}`;
}

/** The promises of a workflow that another one does not state, but could: their states and roles are there. */
export function droppedPromises(before: Workflow, after: Workflow): readonly AuthorsPromise[] {
  const stated = new Set(after.promises.map(({ written }) => written));
  const leads = (to: string) => after.ways.some((way) => way.to === to);
  return before.promises.filter((promise) => {
    if (stated.has(promise.written)) return false;
    if (promise.kind === "never_same_run_as") return true;
    return leads(promise.kind === "within" ? promise.of : promise.to);
  });
}
