import { mergingState } from "./merging-state.ts";
import { targetsFor } from "./move.ts";
import type { Task } from "./task.ts";
import type { TaskDocument } from "./task-document.ts";
import { isWorkedIn, waysBack } from "./ways-back.ts";
import type { State, Workflow } from "./workflow.ts";

/**
 * Whether the next move in this state is a person's. Besides `waits_for: human` that is a state without a wait whose rules
 * only say that an agent which ends there is dead (seed 001): the agent may sit idle, and nothing is expected of it.
 */
export function isPersonsTurn({ terminal, wait, rules }: State): boolean {
  if (terminal) return false;
  if (wait.kind === "human") return true;
  const isLeftToPerson = ({ does }: State["rules"][number]) =>
    does.kind === "mark_dead" && does.after?.to === undefined;
  return wait.kind === "open" && rules.length > 0 && rules.every(isLeftToPerson);
}

/** Whether a person moves the task on from here by merging its work. */
export function isMergedFrom(workflow: Workflow, state: State): boolean {
  if (state.terminal || state.do.some(({ name }) => name === "merge")) return false;
  if (mergingState(workflow, state.name) !== undefined) return true;
  // Before any work there is nothing to merge, whatever ways the file has.
  if (state.name === workflow.initial[0]) return false;
  return targetsFor(state, "human").some((to) => workflow.states[to]?.outcome === "done");
}

/** Where an agent goes on with what a person says here; empty where words lead to no agent, several where each may be meant. */
export function wordsLeadTo(workflow: Workflow, state: State): readonly string[] {
  const isWorked = (to: string) => isWorkedIn(workflow.states[to]);
  if (state.wait.kind === "human") {
    const [next] = state.rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
    return next !== undefined && isWorked(next) ? [next] : [];
  }
  return isPersonsTurn(state) ? targetsFor(state, "human").filter(isWorked) : [];
}

/** Where an answer leads that names no state, in a state without a wait: to the one in which an agent goes on with it. */
export function answerTarget(workflow: Workflow, state: State, document: TaskDocument): string | undefined {
  if (askedOf(workflow, state, document) === "consent") return undefined;
  const [only, ...others] = state.wait.kind === "open" ? wordsLeadTo(workflow, state) : [];
  return others.length === 0 ? only : undefined;
}

/**
 * What is wanted of a person: `answers` to open questions of an agent, to which a yes would tell nothing; `words` or a yes, in
 * the state for what is unclear; or `consent`, which no words are: there an answer moves nothing.
 */
export type Asked = "answers" | "words" | "consent";

/**
 * Decided by the workflow, never by the name of a state. Questions that were answered stay in the file: elsewhere than where
 * the workflow asks what is unclear, an answer settles them.
 */
export function askedOf(workflow: Workflow, state: State, { byHeading }: TaskDocument): Asked {
  if (wordsLeadTo(workflow, state).length === 0 || isMergedFrom(workflow, state)) return "consent";
  // Without a state of its own for what is unclear, a task without a summary only waits to be started.
  const isUnclear = state.name === workflow.unclear && state.name !== workflow.initial[0];
  const isWritten = (heading: string) => (byHeading.get(heading)?.body.trim() ?? "") !== "";
  if (isWritten("Questions") && (isUnclear || !isWritten("Answers"))) return "answers";
  return isUnclear ? "words" : "consent";
}

/** Whether an agent has open questions in a state that waits for a person, so that a yes would tell it nothing. */
export function wantsAnswer(workflow: Workflow, state: State, document: TaskDocument): boolean {
  return state.wait.kind === "human" && askedOf(workflow, state, document) === "answers";
}

/** What a person can say where it is their turn, the likeliest first, a line each: nothing may stand behind a command. */
export function personsVerbs(workflow: Workflow, state: State, { id }: Task, asked: Asked): readonly string[] {
  const words = wordsLeadTo(workflow, state);
  const back = sendBack(waysBack(workflow, state).toAgents, id);
  if (isMergedFrom(workflow, state)) {
    const [next] = state.wait.kind === "human" ? words : [];
    return [
      `Merge it: signalbox task merge ${id}`,
      `Look at it first: signalbox task diff ${id}`,
      ...back,
      ...(next === undefined ? [] : [`Let it go on in ${next}: signalbox task continue ${id}`]),
    ];
  }
  if (state.wait.kind !== "human") {
    const isOpen = (to: string) => workflow.states[to]?.terminal === false && !words.includes(to);
    const others = targetsFor(state, "human").filter(isOpen);
    const said = asked === "consent" ? back : answerLines(words, id);
    return [...said, ...others.map((to) => `Move it to ${to}: signalbox task update ${id} --status ${to}`)];
  }
  const answer = asked === "consent" ? [] : [`Answer: signalbox task answer ${id}`];
  return [...answer, ...(asked === "answers" ? [] : [yes(state, id)]), ...back];
}

/** A yes is understood only by who knows where it leads. */
function yes({ rules }: State, id: string): string {
  const [only, ...others] = new Set(rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : [])));
  const where = only !== undefined && others.length === 0 ? `, and it goes to ${only}` : "";
  return `Say yes${where}: signalbox task approve ${id}`;
}

function answerLines(words: readonly string[], id: string): readonly string[] {
  if (words.length === 1) return [`Answer: signalbox task answer ${id}`];
  return words.map((to) => `Answer, and go on in ${to}: signalbox task answer ${id} --status ${to}`);
}

function sendBack(back: readonly string[], id: string): readonly string[] {
  if (back.length <= 1) return back.map(() => `Send it back: signalbox task request-changes ${id}`);
  return back.map((to) => `Send it back to ${to}: signalbox task request-changes ${id} --status ${to}`);
}
