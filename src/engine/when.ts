import type { Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { Guard, Op, SettingValue, Value, Workflow } from "./workflow.ts";

/** Whether a condition holds for a task. A field that was never set is 0. */
export function holds(guard: Guard, workflow: Workflow, task: Task, facts: Facts): boolean {
  return compare(guard.op, fieldValue(guard, workflow, task, facts), limitOf(guard, workflow, task));
}

export function allHold(guards: readonly Guard[], workflow: Workflow, task: Task, facts: Facts): boolean {
  for (const guard of guards) if (!holds(guard, workflow, task, facts)) return false;
  return true;
}

/** The value of a guard's left side. */
export function fieldValue(guard: Guard, workflow: Workflow, task: Task, facts: Facts): number {
  switch (guard.source) {
    case "counter":
      return task.counters[guard.field] ?? 0;
    case "crash_count":
      return task.crashCount;
    case "visits":
      return task.visits[task.status] ?? 0;
    case "fact":
      return facts.numbers[guard.field as keyof Facts["numbers"]] ?? 0;
    case "setting":
      return toNumber(settingOf(workflow, task, guard.field));
  }
}

function limitOf(guard: Guard, workflow: Workflow, task: Task): number {
  return typeof guard.value === "number" ? guard.value : toNumber(settingOf(workflow, task, guard.value.setting));
}

/** What a setting is for a task: its own, else its preset's, else the file's. */
export function settingOf(
  workflow: Workflow,
  task: Pick<Task, "settings" | "preset">,
  name: string,
): SettingValue | undefined {
  return task.settings[name] ?? workflow.presets[task.preset]?.[name] ?? workflow.settings[name]?.default;
}

/** A literal as it is, a setting looked up. */
export function resolve<T extends SettingValue>(
  value: Value<T>,
  workflow: Workflow,
  task: Pick<Task, "settings" | "preset">,
): T {
  if (typeof value === "object" && value !== null && "setting" in value)
    return settingOf(workflow, task, value.setting) as T;
  return value as T;
}

export function compare(op: Op, left: number, right: number): boolean {
  switch (op) {
    case "<":
      return left < right;
    case ">":
      return left > right;
    case "<=":
      return left <= right;
    case ">=":
      return left >= right;
    case "==":
      return left === right;
    case "!=":
      return left !== right;
  }
}

const opposite: Readonly<Record<Op, Op>> = { "<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "==" };

/** The condition as its author wrote it. */
export function writeGuard(guard: Guard): string {
  return `${guard.field} ${guard.op} ${guard.written}`;
}

/** A value in the author's terms: switches are true or false. */
export function writeValue(guard: Guard, value: number): string {
  const isSwitch = guard.written === "true" || guard.written === "false";
  return isSwitch ? String(value !== 0) : String(value);
}

/** What is the case when the condition does not hold. */
export function writeOpposite(guard: Guard): string {
  return writeGuard({ ...guard, op: opposite[guard.op] });
}

function toNumber(value: SettingValue | undefined): number {
  return typeof value === "number" ? value : value === true ? 1 : 0;
}
