import type { AgentOrder, Effect } from "./decision.ts";
import { askedModels } from "./model-tiers.ts";
import { fillText } from "./prompt.ts";
import type { LiveRun, Task } from "./task.ts";
import { settingOf } from "./when.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

/** A task's runs and counters while a decision is being made, and the effects that the task will owe. */
export interface Draft {
  readonly workflow: Workflow;
  readonly task: Task;
  /** The state the task will be in. */
  readonly status: string;
  runs: Readonly<Record<string, LiveRun>>;
  sessions: Readonly<Record<string, string>>;
  runCount: number;
  counters: Readonly<Record<string, number>>;
  /** Steps a hook granted to the run that begins now. */
  stepLimit: number | undefined;
  /** Roles that were started or told something in this decision. */
  told: readonly string[];
  readonly effects: Effect[];
}

export function startDraft(workflow: Workflow, task: Task, status: string): Draft {
  const { runs, sessions, runCount, counters } = task;
  return {
    workflow,
    task,
    status,
    runs,
    sessions,
    runCount,
    counters,
    stepLimit: undefined,
    told: noRoles,
    effects: [],
  };
}

interface OrderOptions {
  /** Instead of the run's own; empty for none. */
  readonly prompt?: string | undefined;
  readonly message?: string;
  /** The number of a panel member, from 1. */
  readonly member?: number;
  /** Resume the role's kept session where there is one. */
  readonly resume?: boolean;
  readonly delay?: number;
}

/** Starts a run of a role that has none alive. */
export function startRun(draft: Draft, spec: RunSpec, options: OrderOptions = {}): void {
  const name = options.member === undefined ? spec.role : `${spec.role}/${options.member}`;
  const key = `${name}#${draft.runCount + 1}`;
  draft.runCount++;
  const isBeside = Object.keys(draft.runs).some((other) => other.split("/")[0] !== spec.role);
  draft.runs = { ...draft.runs, [name]: { key, mode: spec.mode, ...(isBeside ? { beside: true as const } : {}) } };
  draft.told = draft.told === noRoles ? [name] : [...draft.told, name];
  const resume = options.resume === false ? "" : (draft.sessions[name] ?? "");
  const effect: Effect = { action: "spawn_agent", params: noParams, agent: order(draft, spec, key, resume, options) };
  draft.effects.push(options.delay ? { ...effect, delay: options.delay } : effect);
}

/** Tells a live run something. */
export function tellRun(draft: Draft, spec: RunSpec, options: OrderOptions): void {
  const run = draft.runs[spec.role];
  if (run === undefined) return;
  draft.told = draft.told === noRoles ? [spec.role] : [...draft.told, spec.role];
  draft.effects.push({ action: "notify_agent", params: noParams, agent: order(draft, spec, run.key, "", options) });
}

/** Ends a role's run. Its session is dropped unless it will be resumed later. */
export function endRun(draft: Draft, name: string, keepSession = false): void {
  const run = draft.runs[name];
  if (run !== undefined) {
    draft.effects.push({ action: "kill_agent", params: { role: name, run: run.key } });
    draft.runs = without(draft.runs, name);
  }
  if (!keepSession && draft.sessions[name] !== undefined) draft.sessions = without(draft.sessions, name);
}

/** Ends every live run. */
export function endRuns(draft: Draft): void {
  for (const name of Object.keys(draft.runs)) endRun(draft, name);
  draft.told = noRoles;
}

export function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  const rest: Record<string, T> = {};
  for (const name in record) if (name !== key) rest[name] = record[name] as T;
  return rest;
}

const noParams = {};
const noRoles: readonly string[] = [];

function order(draft: Draft, spec: RunSpec, run: string, resume: string, options: OrderOptions): AgentOrder {
  const { window } = spec;
  const member = (options.member ?? 1) - 1;
  return {
    role: spec.role,
    run,
    prompt: options.prompt ?? memberPrompt(draft, spec, member) ?? spec.prompt ?? "",
    message: options.message ?? "",
    model: modelOf(draft, spec, member),
    window: window === undefined || window.includes("{") ? windowOf(draft, spec, options.member) : window,
    resume,
    spec,
  };
}

/** Of a list, each member of a panel has its own; where the members differ by prompt too, every prompt has each model. */
function modelOf({ workflow, task, status }: Draft, spec: RunSpec, member: number): string {
  if (spec.model === undefined) return task.model;
  const models = askedModels(workflow, task, spec, status);
  return models[member % models.length] ?? models[0] ?? "";
}

function memberPrompt({ workflow, task }: Draft, { prompts, model }: RunSpec, member: number): string | undefined {
  return prompts?.[Math.floor(member / modelCount(workflow, task, model))];
}

/** How many members a panel has: one for each prompt and each model of a list setting. */
export function panelSize({ workflow, task }: Pick<Draft, "workflow" | "task">, { prompts, model }: RunSpec): number {
  return (prompts?.length ?? 1) * modelCount(workflow, task, model);
}

/** Only a setting can have a list of models, which is never empty for a run. */
function modelCount(workflow: Workflow, task: Task, model = ""): number {
  const setting = /^\{([a-z][a-z0-9_]*)\}$/.exec(model)?.[1];
  const models = setting === undefined ? undefined : settingOf(workflow, task, setting);
  return Array.isArray(models) ? Math.max(1, models.length) : 1;
}

function windowOf(draft: Draft, spec: RunSpec, member: number | undefined): string {
  const window = spec.window ?? (member === undefined ? spec.role : `${spec.role}-${member}`);
  const task = { ...draft.task, counters: draft.counters, status: draft.status };
  const filled = fillText(draft.workflow, task, window, {});
  return filled.ok ? filled.text : window;
}
