import type { AgentOrder, Effect } from "../engine/decision.ts";
import { writeStep } from "../engine/explore/step.ts";
import { buildPrompt, fillText } from "../engine/prompt.ts";
import type { TracedStep } from "../engine/simulate/live.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Paint } from "./paint.ts";
import { cut, wrap } from "./wrap.ts";

export interface TraceOptions {
  readonly workflow: Workflow;
  readonly columns: number;
  readonly paint: Paint;
  /** Print prompts in full, not only their first line. */
  readonly wholePrompts: boolean;
}

/** What happened in a life, step by step: what came, what was decided, and what the engine then owed. */
export function writeTrace(steps: readonly TracedStep[], options: TraceOptions, first = 1): readonly string[] {
  const { paint, columns } = options;
  const width = String(first + steps.length - 1).length;
  const indent = " ".repeat(width + 2);
  return steps.flatMap((each, i) => {
    const number = `${String(first + i).padStart(width)}.`;
    const decided =
      each.cause === "" ? [] : [`${paint.cyan(`${each.from} → ${each.to}`)} ${paint.dim(`(${each.cause})`)}`];
    const held = each.held === "" ? [] : [`${paint.yellow("held for a person:")} ${each.held}`];
    return [
      `${number} ${wrap(writeStep(each.step), columns - indent.length, indent)}`,
      ...[...decided, ...held].map((line) => `${indent}  ${line}`),
      ...each.effects.flatMap((effect) => writeEffect(effect, each.task, options)).map((line) => `${indent}  ${line}`),
    ];
  });
}

/** The same for programs. */
export function traceDocument(steps: readonly TracedStep[]) {
  return steps.map(({ step, from, to, cause, held, effects }) => ({
    text: writeStep(step),
    from,
    to,
    cause,
    held,
    step,
    effects,
  }));
}

function writeEffect(effect: Effect, task: Task, { workflow, columns, wholePrompts }: TraceOptions): readonly string[] {
  const { action, params, agent, delay } = effect;
  const about = [
    ...Object.entries(params).map(([key, value]) => `${key}: ${String(value)}`),
    ...(agent ? orderText(agent) : []),
  ];
  const head = `· ${action}${about.length > 0 ? ` (${about.join(", ")})` : ""}${delay === undefined ? "" : ` in ${delay} s`}`;
  const told =
    agent === undefined
      ? []
      : [...promptLines(workflow, task, agent.prompt, wholePrompts), ...messageLines(workflow, task, agent.message)];
  return [
    ...wrap(head, columns - 8, "    ").split("\n"),
    ...told.map((line) => `    ${wholePrompts ? line : cut(line, columns - 12)}`),
  ];
}

function orderText(order: AgentOrder): readonly string[] {
  return [
    order.run,
    order.spec.mode,
    ...(order.model === "" ? [] : [`model ${order.model}`]),
    ...(order.resume === "" ? [] : [`resumes ${order.resume}`]),
  ];
}

/** What only a real task has, as it might be. */
const outside = { cli: "signalbox", task_file: "TASK.md", base: "main", default_branch: "main", ticket: "t-1" };

function promptLines(workflow: Workflow, task: Task, key: string, whole: boolean): readonly string[] {
  const built = key === "" ? undefined : buildPrompt(workflow, task, key, outside);
  if (built === undefined || !built.ok) return [];
  const [first = "", ...rest] = built.text.trimEnd().split("\n");
  return whole
    ? [`prompt ${key}:`, ...[first, ...rest].map((line) => `| ${line}`.trimEnd())]
    : [`prompt ${key}: ${first}`];
}

function messageLines(workflow: Workflow, task: Task, message: string): readonly string[] {
  const filled = fillText(workflow, task, message, outside);
  return !filled.ok || filled.text === "" ? [] : [`message: ${filled.text.replace(/\s+/g, " ")}`];
}
