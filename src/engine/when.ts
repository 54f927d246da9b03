import { actions } from "./actions.ts";
import { ledgerNumber } from "./findings.ts";
import { handedNumber } from "./handed.ts";
import type { Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { Action, Guard, Limits, Mode, Op, RunSpec, SettingValue, State, Value, Workflow } from "./workflow.ts";

// Guards: whether they hold, and how they are written. Words: which can end a state, and which rules cover them.

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
      // The ledger and the documents are the task's own; only `verify` supplies their numbers, to try each.
      return (
        facts.numbers[guard.field as keyof Facts["numbers"]] ??
        ledgerNumber(task.ledger, guard.field) ??
        handedNumber(task, guard.field) ??
        0
      );
    case "setting":
      return toNumber(settingOf(workflow, task, guard.field));
  }
}

function limitOf(guard: Guard, workflow: Workflow, task: Task): number {
  return typeof guard.value === "number" ? guard.value : toNumber(settingOf(workflow, task, guard.value.setting));
}

/** The value of a setting for a task: the task's, else the preset's, else the file's default. */
export function settingOf(
  workflow: Workflow,
  task: Pick<Task, "settings" | "preset">,
  name: string,
): SettingValue | undefined {
  return task.settings[name] ?? workflow.presets[task.preset]?.[name] ?? workflow.settings[name]?.default;
}

/** The value of every setting for a task, and where it comes from. */
export function settingsOf(workflow: Workflow, task: Pick<Task, "settings" | "preset">) {
  const preset = workflow.presets[task.preset] ?? {};
  return Object.keys(workflow.settings).map((name) => {
    const from = Object.hasOwn(task.settings, name) ? "task" : Object.hasOwn(preset, name) ? "preset" : "workflow";
    return { name, value: settingOf(workflow, task, name), from } as const;
  });
}

/** Returns a literal unchanged and looks a setting up. */
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

/** A value as the author would write it: switches are true or false. */
export function writeValue(guard: Guard, value: number): string {
  const isSwitch = guard.written === "true" || guard.written === "false";
  return isSwitch ? String(value !== 0) : String(value);
}

/** The opposite condition. */
export function writeOpposite(guard: Guard): string {
  return writeGuard({ ...guard, op: opposite[guard.op] });
}

function toNumber(value: SettingValue | undefined): number {
  return typeof value === "number" ? value : value === true ? 1 : 0;
}

/** Failures that are no answer of an agent: counted, and retried while attempts are left. */
const accidents = new Set(["error", "invalid", "stall", "exit"]);

export function isAccident(word: string): boolean {
  return accidents.has(word);
}

/** Counts one more failure in a row. Failures of the previous state are only forgotten once this state has settled. */
export function countFailure({ crashCount, phase, wait }: Task): Pick<Task, "crashCount" | "wait"> {
  if (phase !== "entering") return { crashCount: crashCount + 1, wait };
  return { crashCount: wait.hasFailed ? crashCount + 1 : 1, wait: { ...wait, hasFailed: true } };
}

const wordsOfMode: Readonly<Record<Mode, readonly string[]>> = {
  session: ["exit"],
  turn: ["error", "stall"],
  steps: ["error", "stall", "steps"],
  dialogue: ["rounds", "error", "stall"],
};

/** An answer can only be invalid where there is a schema it should fit. */
function runWords(run: RunSpec, limits: Limits): readonly string[] {
  const canStall = run.limits.stall !== undefined || limits.stall !== undefined;
  const stalls = run.mode === "session" && canStall ? ["stall"] : [];
  const invalid = run.result === undefined ? [] : ["invalid"];
  return [...wordsOfMode[run.mode], ...stalls, ...invalid, ...limitWords(limits, run.limits)];
}

/** How a state's wait and work can end, besides `ok`. */
export function failureWords(
  state: Pick<State, "wait" | "do" | "limits" | "evidence">,
  hookRuns: readonly RunSpec[],
): readonly string[] {
  const missing = state.evidence.length === 0 ? [] : ["missing"];
  return [...new Set([...waitWords(state, hookRuns), ...workWords(state.do), ...missing])];
}

/** `hookRuns` are the runs that hooks of the file start: a state without a wait of its own watches them. */
export function waitWords(state: Pick<State, "wait" | "limits">, hookRuns: readonly RunSpec[]): readonly string[] {
  const { wait } = state;
  switch (wait.kind) {
    case "agent":
      return runWords(wait.run, state.limits);
    case "panel":
    case "fan_out":
      return ["error", "invalid", ...limitWords(state.limits)];
    case "open":
      return [...new Set(hookRuns.flatMap((run) => runWords(run, state.limits)))];
    default:
      return limitWords(state.limits);
  }
}

export function workWords(work: readonly Action[]): readonly string[] {
  if (work.length === 0) return [];
  return [...new Set(["error", ...work.flatMap((action) => Object.keys(actions[action.name]?.words ?? {}))])];
}

function limitWords(...limits: readonly Limits[]): readonly string[] {
  return (["time", "cost"] as const).filter((key) => limits.some((each) => each[key] !== undefined));
}

/** Whether a rule's `on` covers a word; `failed` covers all but `ok` and words for a person, which a rule must name. */
export function covers(on: readonly string[] | undefined, word: string): boolean {
  if (isForPerson(word)) return on?.includes(word) === true;
  return on === undefined || on.includes(word) || (word !== "ok" && on.includes("failed"));
}

/** Whether the condition behind a word may change by itself, so that the engine may check again. */
export function isTemporary(word: string): boolean {
  return temporary.has(word);
}

/** Whether only a person can decide what follows from a word. */
export function isForPerson(word: string): boolean {
  return forPerson.has(word);
}

const wordsThatAre = (kind: string): ReadonlySet<string> =>
  new Set(Object.values(actions).flatMap(({ words }) => Object.keys(words).filter((word) => words[word] === kind)));
const temporary = wordsThatAre("temporary");
/** No retry helps an agent whose program is not logged in. */
const forPerson: ReadonlySet<string> = new Set([...wordsThatAre("person"), "login"]);
