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
export function answerTarget(workflow: Workflow, state: State): string | undefined {
  const [only, ...others] = state.wait.kind === "open" ? wordsLeadTo(workflow, state) : [];
  return others.length === 0 ? only : undefined;
}

/**
 * Whether an agent has open questions here, so that a yes would tell it nothing. Questions that were answered stay in the
 * file: elsewhere than where the workflow asks what is unclear, an answer settles them.
 */
export function wantsAnswer(workflow: Workflow, state: State, { byHeading }: TaskDocument): boolean {
  if (state.wait.kind !== "human" || wordsLeadTo(workflow, state).length === 0 || isMergedFrom(workflow, state))
    return false;
  const isWritten = (heading: string) => (byHeading.get(heading)?.body.trim() ?? "") !== "";
  return isWritten("Questions") && (state.name === workflow.unclear || !isWritten("Answers"));
}

/**
 * What a person can say where it is their turn, the likeliest first, a line each: nothing may stand behind a command.
 * `isAsked`: an agent has questions, to which a yes is no answer.
 */
export function personsVerbs(workflow: Workflow, state: State, { id }: Task, isAsked: boolean): readonly string[] {
  const merges = isMergedFrom(workflow, state);
  const words = wordsLeadTo(workflow, state);
  const back = waysBack(workflow, state).toAgents;
  const answers = answerLines(state, words, id);
  if (merges)
    return [
      `Merge it: signalbox task merge ${id}`,
      `Look at it first: signalbox task diff ${id}`,
      ...sendBack(back, id),
      ...(words.length > 0 && state.wait.kind === "human" ? answers : []),
    ];
  if (state.wait.kind !== "human") {
    const others = targetsFor(state, "human").filter(
      (to) => workflow.states[to]?.terminal === false && !words.includes(to),
    );
    return [...answers, ...others.map((to) => `Move it to ${to}: signalbox task update ${id} --status ${to}`)];
  }
  const yes = `Say yes: signalbox task approve ${id}`;
  const answer = `Answer: signalbox task answer ${id}`;
  const first = isAsked ? [answer] : words.length > 0 ? [answer, yes] : [yes, answer];
  return [...first, ...sendBack(back, id)];
}

function answerLines({ wait }: State, words: readonly string[], id: string): readonly string[] {
  if (wait.kind === "human" || words.length === 1) return [`Answer: signalbox task answer ${id}`];
  return words.map((to) => `Answer, and go on in ${to}: signalbox task answer ${id} --status ${to}`);
}

function sendBack(back: readonly string[], id: string): readonly string[] {
  if (back.length <= 1) return back.map(() => `Send it back: signalbox task request-changes ${id}`);
  return back.map((to) => `Send it back to ${to}: signalbox task request-changes ${id} --status ${to}`);
}
