import { humanSections } from "./gate.ts";
import type { Workflow } from "./workflow.ts";

/**
 * What a task waits for before it starts: another task being done, reaching a state, or having a section. It is stored
 * and given as text: `TASK`, `TASK:state=STATE` or `TASK:section=NAME`.
 */
export interface Dependency {
  /** The id in stored dependencies; in given ones any reference to a task. */
  readonly task: string;
  readonly state?: string;
  readonly section?: string;
}

export interface DependencyProblem {
  readonly problem: string;
  readonly fix: string;
}

/** Reads a dependency. No reference to a task contains a colon: git forbids it in names of branches. */
export function readDependency(text: string): Dependency | DependencyProblem {
  const [, task = "", rest] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  const shown = JSON.stringify(text);
  const fix = "Write TASK, TASK:state=STATE or TASK:section=NAME.";
  if (task === "") return { problem: `The dependency ${shown} names no task.`, fix };
  if (rest === undefined) return { task };
  const [, kind, value = ""] = /^(state|section)=(.*)$/s.exec(rest) ?? [];
  if (kind === undefined) return { problem: `The dependency ${shown} has a condition that does not exist.`, fix };
  const name = kind === "section" ? value.trim().replace(/^##\s+/, "") : value.trim();
  if (name === "") return { problem: `The dependency ${shown} names no ${kind}.`, fix };
  return kind === "state" ? { task, state: name } : { task, section: name };
}

/** Reads a stored dependency, which was valid when it was stored. */
export function storedDependency(text: string): Dependency {
  const read = readDependency(text);
  return "problem" in read ? { task: text } : read;
}

export function writeDependency({ task, state, section }: Dependency): string {
  if (state !== undefined) return `${task}:state=${state}`;
  return section === undefined ? task : `${task}:section=${section}`;
}

/** What is known about the task that another one depends on. */
export interface DependencyFacts {
  /** Such as `coffee#1`. */
  readonly name: string;
  readonly workflow: Workflow;
  readonly status: string;
  /** The states that it has entered. Needed for dependencies on a state only. */
  readonly reached: ReadonlySet<string>;
  /** The sections of its stored document that are not empty. Needed for dependencies on a section only. */
  readonly sections: ReadonlySet<string>;
}

/**
 * Whether a dependency lets its task start. A state counts once it was entered, even if the task has left it since.
 * `hopeless`: the other task has ended, so the dependency will never be met.
 */
export function judgeDependency(
  { state, section }: Dependency,
  { workflow, status, reached, sections }: DependencyFacts,
): "met" | "waits" | "hopeless" {
  const present = Object.hasOwn(workflow.states, status) ? workflow.states[status] : undefined;
  const isMet =
    state !== undefined
      ? status === state || reached.has(state)
      : section !== undefined
        ? sections.has(section)
        : present?.outcome === "done";
  if (isMet) return "met";
  const isLost = state !== undefined && !Object.hasOwn(workflow.states, state);
  return isLost || present?.terminal === true ? "hopeless" : "waits";
}

/** Why a dependency on a state or a section is refused; undefined where it is accepted. */
export function dependencyProblem(dependency: Dependency, facts: DependencyFacts): DependencyProblem | undefined {
  const { state, section } = dependency;
  const { name, workflow, status } = facts;
  if (state !== undefined && !Object.hasOwn(workflow.states, state)) {
    const problem = `${name} has the workflow "${workflow.name}", which has no state "${state}".`;
    return { problem, fix: `Its states: ${Object.keys(workflow.states).join(", ")}.` };
  }
  const unknown = section === undefined ? undefined : sectionProblem(section, [facts]);
  if (unknown !== undefined) return unknown;
  if ((state ?? section) === undefined || judgeDependency(dependency, facts) !== "hopeless") return undefined;
  const what = state === undefined ? `has no ## ${section}` : `never reached "${state}"`;
  const problem = `${name} has ended in "${status}" and ${what}, so the task could never start.`;
  return { problem, fix: "Leave this dependency out, or depend on another task." };
}

/**
 * Why a section cannot be expected from any of these tasks: their workflows read none of that name, no person writes it,
 * and their documents do not have it.
 */
export function sectionProblem(section: string, all: readonly DependencyFacts[]): DependencyProblem | undefined {
  const known = all.flatMap(({ workflow, sections }) => [...workflow.sections, ...humanSections, ...sections]);
  if (known.includes(section)) return undefined;
  const [first] = all;
  const whose = all.length === 1 && first !== undefined ? `${first.name} has` : "The tasks that it depends on have";
  const workflows = [...new Set(all.map(({ workflow }) => `"${workflow.name}"`))].join(", ");
  const problem = `${whose} no ## ${section}, and the workflow ${workflows} does not ask for one.`;
  return { problem, fix: `Known sections: ${[...new Set(known)].join(", ")}.` };
}

/** What has to happen, as the rest of a sentence: `coffee#1 is done`. */
export function conditionText({ state, section }: Dependency, name: string): string {
  if (state !== undefined) return `${name} has reached "${state}"`;
  return section === undefined ? `${name} is done` : `${name} has ## ${section}`;
}

/** The heading under which a section of another task is handed down: it must not count as evidence of this task. */
export function handedDownHeading(section: string, name: string): string {
  return `${section} from ${name}`;
}
