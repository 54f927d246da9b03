import { arrow, wayLabel } from "./draw/workflow.ts";
import { whyNotStatable } from "./language/read-promises.ts";
import { plainRun } from "./run-spec.ts";
import { writeGuard } from "./when.ts";
import type { Action, AuthorsPromise, Rule, RunSpec, State, Way, Workflow } from "./workflow.ts";

/** What a workflow has and another one lacks, as lines for people. */
export interface Difference {
  readonly added: readonly string[];
  readonly dropped: readonly string[];
}

export interface WorkflowDifference {
  readonly promises: Difference;
  readonly states: Difference;
  /** What states wait for and do, and under which limits. */
  readonly work: Difference;
  readonly ways: Difference;
  readonly rules: Difference;
  /** Where tasks start, settings, presets, limits of whole tasks, and schemas of answers. */
  readonly settings: Difference;
}

/** What a change from one workflow to another adds and drops. What prompts and messages say is not compared. */
export function compareWorkflows(before: Workflow, after: Workflow): WorkflowDifference {
  const compared = (linesOf: (workflow: Workflow) => readonly string[]) => difference(linesOf(before), linesOf(after));
  return {
    promises: compared(({ promises }) => promises.map(({ written }) => written)),
    states: compared(({ states }) =>
      Object.values(states).map(({ name, outcome }) =>
        outcome === undefined ? name : `${name} ends tasks as ${outcome}`,
      ),
    ),
    work: compared(({ states }) => Object.values(states).flatMap(writeWork)),
    ways: compared((workflow) => workflow.ways.map((way) => writeWay(workflow, way))),
    rules: compared(({ states }) =>
      Object.values(states).flatMap(({ name, rules }) => rules.map((rule) => writeRule(name, rule))),
    ),
    settings: compared(writeSettings),
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

/** For each state what it waits for, when it does not, what it demands and does, and its limits. */
function writeWork({ name, wait, respawn, unless, evidence, do: work, limits }: State): readonly string[] {
  const guards = (all: State["unless"]) => all.map(writeGuard).join(", ");
  const again = respawn === undefined ? "" : writeRun(respawn);
  const isOther = again !== "" && !("run" in wait && wait.run !== undefined && writeRun(wait.run) === again);
  return [
    ...writeWait(name, wait),
    ...(isOther ? [`${name} replaces a dead agent by ${again}`] : []),
    ...(unless.length === 0 ? [] : [`${name} is skipped if ${guards(unless)}`]),
    ...(evidence.length === 0 ? [] : [`${name} demands ${guards(evidence)}`]),
    ...(work.length === 0 ? [] : [`${name} does ${work.map(writeAction).join(", then ")}`]),
    ...writeFields(`${name} limits`, limits),
  ];
}

function writeWait(name: string, wait: State["wait"]): readonly string[] {
  switch (wait.kind) {
    case "none":
    case "open":
      return [];
    case "agent":
      return [`${name} waits for ${writeRun(wait.run)}`];
    case "panel":
      return [`${name} waits for a panel of ${writeRun(wait.member)}`, `${name} is judged by ${writeRun(wait.judge)}`];
    case "human":
      return [`${name} waits for a person${wait.run === undefined ? "" : `, beside ${writeRun(wait.run)}`}`];
    case "fan_out":
      return [`${name} waits for parts: ${writeFields("", { ...wait, kind: undefined }).join("; ")}`];
    case "slot":
      return [`${name} waits for a slot`];
    case "time":
      return [`${name} waits for ${wait.seconds} s`];
  }
}

/** A run on one line, without what is usual and without its prompt. */
function writeRun({ role, mode, permissions, prompts, window: _window, ...others }: RunSpec): string {
  const usual = plainRun(role);
  const rest = Object.entries(others).filter(([key, value]) => usual[key as keyof RunSpec] !== value);
  const members = prompts === undefined ? [] : [`${prompts.length} prompts`];
  return `${role} (${[mode, `${permissions} permissions`, ...members, ...writeFields("", Object.fromEntries(rest))].join("; ")})`;
}

function writeSettings(workflow: Workflow): readonly string[] {
  const { initial, unclear, agents, settings, presets, limits, schemas, pollInterval } = workflow;
  return [
    `tasks start in ${initial.join(", ")}`,
    `tasks without a summary start in ${unclear}`,
    ...(agents === "named" ? ["each run is done by a named agent"] : []),
    ...writeFields("", { ...(pollInterval === undefined ? {} : { poll_interval: pollInterval }) }),
    ...writeFields("settings", settings),
    ...writeFields("presets", presets),
    ...writeFields("limits", limits),
    ...Object.entries(schemas).map(([name, schema]) => `schema ${name}: ${JSON.stringify(schema)}`),
  ];
}

/** Every value of a record on a line of its own, with the keys that lead to it. */
function writeFields(path: string, fields: object): readonly string[] {
  return Object.entries(fields).flatMap(([key, value]): readonly string[] => {
    if (value === undefined || texts.includes(key)) return [];
    const at = path === "" ? key : `${path} ${key}`;
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    return isRecord ? writeFields(at, value) : [`${at}: ${Array.isArray(value) ? value.join(", ") : String(value)}`];
  });
}

/** Texts for people and agents, and their names. */
const texts = ["prompt", "stepPrompt", "description", "message", "title", "body"];

function writeAction({ name, params, run }: Action): string {
  // What starts an agent is told by the run.
  const isTold = (key: string) => texts.includes(key) || (run !== undefined && Object.hasOwn(run, key));
  const given = Object.entries(params).filter(([key]) => !isTold(key));
  const words = given.map(([key, value]) => `${key}=${String(value)}`);
  return [name, ...words, ...(run === undefined ? [] : [`as ${writeRun(run)}`])].join(" ");
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

/** A promise that another workflow does not state. `why` it cannot be stated there; empty if it can. */
export interface DroppedPromise {
  readonly promise: AuthorsPromise;
  readonly why: string;
}

/** The promises of a workflow that another one does not state. One that names what is not there says nothing about it. */
export function droppedPromises(before: Workflow, after: Workflow): readonly DroppedPromise[] {
  const stated = new Set(after.promises.map(({ written }) => written));
  return before.promises
    .filter(({ written }) => !stated.has(written))
    .map((promise) => ({ promise, why: whyNotStatable(after, promise) ?? "" }));
}
