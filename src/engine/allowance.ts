import { decide } from "./decide.ts";
import type { Reason } from "./decision.ts";
import { whyNobodyAsks, whyNoDialogue, whyNothingToApprove } from "./nobody-asks.ts";
import type { Facts, Request } from "./request.ts";
import { sentences } from "./sentence.ts";
import type { Task } from "./task.ts";
import { withSection } from "./task-document.ts";
import type { State, Workflow } from "./workflow.ts";

/** What is around the task, and is not the engine's to know. */
export interface Surroundings {
  /** The live runs that have a terminal, the one that the state is about last. */
  readonly terminals: readonly string[];
  /** All live runs. */
  readonly alive: readonly string[];
  /** Some agent has worked for it. */
  readonly hasWorked: boolean;
  /** Something that it owes has failed for good. */
  readonly hasFailed: boolean;
  /** Its work is in line to be merged. */
  readonly isMerging: boolean;
  /** It has work that can be shown, wherever its branch is. */
  readonly hasWork: boolean;
  /** Its project has a remote that branches can be pushed to. */
  readonly hasRemote: boolean;
}

/** What an action of a person is judged by. */
export interface Seen {
  readonly workflow: Workflow;
  readonly task: Task;
  readonly facts: Facts;
  readonly around: Surroundings;
  readonly state: State;
}

/** Where an action leads, or why it is not allowed. */
export type Allowance = { readonly to?: string } | { readonly why: string };

export const human = { role: "human" };
export const free: Allowance = {};

/** What the engine itself would say to it. */
export function judge({ workflow, task, facts }: Seen, request: Request): Allowance {
  const decision = decide(workflow, task, request, facts);
  if (decision.kind === "rejected") return { why: sentences(decision.reasons.flatMap(({ text, fix }) => [text, fix])) };
  if (decision.kind === "ignored") return { why: decision.why };
  return decision.kind === "moved" ? { to: decision.task.status } : free;
}

function sentence({ text, fix }: Reason): string {
  return sentences([text, fix]);
}

export function no(text: string, fix: string): Allowance {
  return { why: sentences([text, fix]) };
}

export function over({ task, state }: Seen): Allowance {
  const fix = `Continue its branch in a new task: signalbox task create --from ${task.id}`;
  return no(`The task is in "${state.name}", which is the end.`, fix);
}

export function explain({ id }: Task): string {
  return `See what it waits for: signalbox task explain ${id}`;
}

export function seeAgents({ task, around }: Seen): string {
  return around.hasWorked ? `See what its agents have shown: signalbox task logs ${task.id}` : explain(task);
}

export function needsWorkspace(seen: Seen): Allowance {
  if (seen.state.terminal) return over(seen);
  return seen.task.workspace === "" ? no("It has no workspace yet.", "It gets one when it starts.") : free;
}

/** Why there is nothing that a person could answer; undefined where there is. */
export function nothingAsked({ workflow, task, facts, around }: Seen): Allowance | undefined {
  const reason = whyNobodyAsks(workflow, task, facts.document, { hasTerminal: around.terminals.length > 0 });
  return reason && { why: sentence(reason) };
}

/** Why there is nobody to reply to; undefined where an agent waits for it. */
export function noDialogue({ workflow, task, facts, around }: Seen): Allowance | undefined {
  const reason = whyNoDialogue(workflow, task, facts.document, around.terminals.length > 0);
  return reason && { why: sentence(reason) };
}

export function nothingToApprove({ workflow, task, facts }: Seen): Allowance | undefined {
  const reason = whyNothingToApprove(workflow, task, facts.document);
  return reason && { why: sentence(reason) };
}

/** As things will be when the work has arrived. */
export function merged(seen: Seen): Seen {
  const { facts } = seen;
  return { ...seen, facts: { ...facts, numbers: { ...facts.numbers, commits: 0, merged: 1 } } };
}

/** As things will be when the person has said something under this heading. */
export function saying(seen: Seen, heading: string): Seen {
  const { facts } = seen;
  const before = facts.document.byHeading.get(heading)?.body ?? "";
  return { ...seen, facts: { ...facts, document: withSection(facts.document, heading, `${before}\n\n…`) } };
}
