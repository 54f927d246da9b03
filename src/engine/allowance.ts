import { type TaskDocument, withSection } from "../documents/task-document.ts";
import { sentences } from "../text.ts";
import { type Consequence, consequenceOf } from "./consequence.ts";
import { decide } from "./decide.ts";
import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { onlyElsewhere } from "./held-advice.ts";
import { targetsFor } from "./move.ts";
import { askedOf, isMergedFrom, isPersonsTurn, personsVerbs, wantsAnswer, wordsLeadTo } from "./persons-turn.ts";
import type { Facts, Request } from "./request.ts";
import type { Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** Facts about a task's runs, merge and project that only the daemon knows. */
export interface Surroundings {
  /** The live runs that have a terminal, the one that the state is about last. */
  readonly terminals: readonly string[];
  /** All live runs. */
  readonly alive: readonly string[];
  /** Some agent has worked on the task. */
  readonly hasWorked: boolean;
  /** An effect of the task has failed, and the daemon retries it no more. */
  readonly hasFailed: boolean;
  /** The actions of the effects that are owed or have failed: a retry carries them out. */
  readonly owed?: readonly string[];
  /** Its work is in the merge queue. */
  readonly isMerging: boolean;
  /** A person asked for that merge, and can stop it. */
  readonly canStopMerge?: boolean;
  /** It has commits or files that can be shown, wherever its branch is. */
  readonly hasWork: boolean;
  /** Its project has a remote that branches can be pushed to. */
  readonly hasRemote: boolean;
}

/** Everything that decides whether a person's action is allowed. */
export interface Seen {
  readonly workflow: Workflow;
  readonly task: Task;
  readonly facts: Facts;
  readonly around: Surroundings;
  readonly state: State;
}

/** Where an action leads, or why it is not allowed. */
export type Allowance = { readonly to?: string; readonly consequence?: Consequence } | { readonly why: string };

export const human = { role: "human" };
export const free: Allowance = {};

/** What the engine would decide about the request, without carrying it out. */
export function judge({ workflow, task, facts }: Seen, request: Request): Allowance {
  const decision = decide(workflow, task, request, facts);
  if (decision.kind === "rejected") return { why: sentences(decision.reasons.flatMap(({ text, fix }) => [text, fix])) };
  if (decision.kind === "ignored") return { why: decision.why };
  const consequence = consequenceOf(workflow, decision);
  return decision.kind === "moved" ? { to: decision.task.status, consequence } : { consequence };
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

/** A task that has ended waits for nothing. */
export function explain({ task, state }: Pick<Seen, "task" | "state">): string {
  if (state.terminal && task.phase === "over") return `See what happened: signalbox task history ${task.id}`;
  return `See what the task waits for: signalbox task explain ${task.id}`;
}

export function seeAgents({ task, around, state }: Seen): string {
  return around.hasWorked
    ? `See what the agents have printed: signalbox task logs ${task.id}`
    : explain({ task, state });
}

export function needsWorkspace(seen: Seen): Allowance {
  if (seen.state.terminal) return over(seen);
  return seen.task.workspace === "" ? no("The task has no workspace yet.", "It gets one when it starts.") : free;
}

/** Why a person has nothing to answer; undefined where a question is open. */
export function nothingAsked({ workflow, task, facts, around }: Seen): Allowance | undefined {
  const reason = whyNobodyAsks(workflow, task, facts.document, { hasTerminal: around.terminals.length > 0 });
  return reason && { why: sentence(reason) };
}

/** Why no agent waits for a reply; undefined where one does. */
export function noDialogue({ workflow, task, facts, around }: Seen): Allowance | undefined {
  const reason = whyNoDialogue(workflow, task, facts.document, around.terminals.length > 0);
  return reason && { why: sentence(reason) };
}

export function nothingToApprove({ workflow, task, facts }: Seen): Allowance | undefined {
  const reason = whyNothingToApprove(workflow, task, facts.document);
  return reason && { why: sentence(reason) };
}

/** The same, as if the task's work were merged. */
export function merged(seen: Seen): Seen {
  const { facts } = seen;
  return { ...seen, facts: { ...facts, numbers: { ...facts.numbers, commits: 0, merged: 1 } } };
}

/** The same, as if the person had written something under this heading. */
export function saying(seen: Seen, heading: string): Seen {
  const { facts } = seen;
  const before = facts.document.byHeading.get(heading)?.body ?? "";
  return { ...seen, facts: { ...facts, document: withSection(facts.document, heading, `${before}\n\n…`) } };
}

/** Why a person has nothing to approve. Work that a person merges is approved by merging it. */
export function whyNothingToApprove(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const isPlain = task.held !== undefined || state.wait.kind !== "open" || !isPersonsTurn(state);
  if (isPlain) return whyNobodyWaits(workflow, task) ?? whyNoAnswer(workflow, task, document);
  if (isMergedFrom(workflow, state)) return undefined;
  const fix = personsVerbs(workflow, state, task, askedOf(workflow, state, document)).join("\n");
  return { code: "not-waiting", text: `In "${state.name}" there is nothing to approve.`, fix };
}

/**
 * Why there is no dialogue to reply in, and which commands work instead. `hasTerminal`: an agent of the task has a
 * terminal, where a person can type to it.
 */
export function whyNoDialogue(
  workflow: Workflow,
  task: Task,
  document: TaskDocument,
  hasTerminal: boolean,
): Reason | undefined {
  const { wait, held } = task;
  if (wait.turn === "reply" || wait.turn === "confirm") return undefined;
  const state = stateOf(workflow, task.status);
  if (state.terminal || held !== undefined) return whyNobodyWaits(workflow, task);
  const fixes = whatWorks(workflow, task, document, hasTerminal);
  const fix = fixes.length === 0 ? lookAt(task) : fixes.join("\n");
  return { code: "not-waiting", text: "None of the task's agents asks anything in a dialogue.", fix };
}

/** An approval answers no questions: an agent that has asked some would go on waiting. */
function whyNoAnswer(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  if (!wantsAnswer(workflow, stateOf(workflow, task.status), document)) return undefined;
  const text = "The agent has questions, and an approval does not answer them.";
  return { code: "not-waiting", text, fix: `Answer them: signalbox task answer ${task.id} -m "Your answer"` };
}

/**
 * Why a person has nothing to answer: an answer moves a task only where an agent has asked. A person who names the next
 * state may answer elsewhere too.
 */
export function whyNobodyAsks(
  workflow: Workflow,
  task: Task,
  document: TaskDocument,
  { namesState = false, hasTerminal = false } = {},
): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const nobody = whyNobodyWaits(workflow, task, namesState);
  if (nobody !== undefined || namesState) return nobody;
  const isAsked = askedOf(workflow, state, document) !== "consent";
  const words = wordsLeadTo(workflow, state);
  if (isAsked && (state.wait.kind === "human" || words.length === 1)) return undefined;
  const text = isAsked
    ? "Several agents could continue with this answer."
    : `No agent asks a question in "${state.name}", so an answer moves nothing.`;
  const fix = whatWorks(workflow, task, document, hasTerminal).join("\n");
  return { code: "not-waiting", text, fix: fix || lookAt(task) };
}

/** The commands that a person can use instead, a line each. */
function whatWorks(workflow: Workflow, task: Task, document: TaskDocument, hasTerminal: boolean): readonly string[] {
  const state = stateOf(workflow, task.status);
  const asked = askedOf(workflow, state, document);
  const verbs = isPersonsTurn(state) ? personsVerbs(workflow, state, task, asked) : [];
  if (!hasTerminal) return verbs;
  return [
    ...verbs,
    `Send the agent a message: signalbox task send ${task.id} "Your message"`,
    `Attach to the agent's terminal: signalbox task attach ${task.id}`,
  ];
}

function lookAt({ id }: Task): string {
  return `See what the task waits for: signalbox task explain ${id}`;
}

/** Why the task does not wait for anything from a person. */
function whyNobodyWaits(workflow: Workflow, task: Task, namesState = false): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const { id, held, wait } = task;
  if (state.terminal) {
    const fix = `Continue its branch in a new task: signalbox task create --from ${id}`;
    return { code: "terminal", text: `The task is in "${state.name}", which is the end.`, fix };
  }
  if (held !== undefined) {
    const text = `The task is held, and does not wait for an answer: ${held.reason}`;
    const elsewhere = onlyElsewhere(workflow, task)?.join("\n");
    return { code: "not-waiting", text, fix: elsewhere ?? `Fix the cause, then: signalbox task continue ${id}` };
  }
  if (wait.turn === "reply" || wait.turn === "confirm") {
    const text = "The agent is in a dialogue with you, and waits for your reply.";
    return { code: "not-waiting", text, fix: `Reply to it: signalbox task reply ${id}` };
  }
  if (isPersonsTurn(state) || namesState) return undefined;
  const text = `"${state.name}" does not wait for a person.`;
  if (state.wait.kind !== "open") return { code: "not-waiting", text, fix: lookAt(task) };
  const targets = targetsFor(state, "human").filter((to) => workflow.states[to]?.terminal === false);
  const named = `Name the state that the task goes to: --status ${targets.join(" or --status ")}`;
  return { code: "not-waiting", text, fix: targets.length === 0 ? lookAt(task) : named };
}
