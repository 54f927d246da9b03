import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { targetsFor } from "./move.ts";
import { askedOf, isMergedFrom, isPersonsTurn, personsVerbs, wantsAnswer, wordsLeadTo } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { TaskDocument } from "./task-document.ts";
import type { Workflow } from "./workflow.ts";

/** Why there is nothing to say yes to. Work that a person merges is approved by merging it. */
export function whyNothingToApprove(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const isPlain = task.held !== undefined || state.wait.kind !== "open" || !isPersonsTurn(state);
  if (isPlain) return whyNobodyWaits(workflow, task) ?? whyNoAnswer(workflow, task, document);
  if (isMergedFrom(workflow, state)) return undefined;
  const fix = personsVerbs(workflow, state, task, askedOf(workflow, state, document)).join("\n");
  return { code: "not-waiting", text: `In "${state.name}" there is nothing to say yes to.`, fix };
}

/**
 * Why there is no dialogue to reply in, with what works instead. `hasTerminal`: an agent of the task sits in a terminal, where it
 * can be talked to.
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
  return { code: "not-waiting", text: "No agent of its asks anything in a dialogue now.", fix };
}

/** An agent that asked something would wait on after a yes: it needs words. */
function whyNoAnswer(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  if (!wantsAnswer(workflow, stateOf(workflow, task.status), document)) return undefined;
  const text = "Its agent has questions, and a yes does not answer them.";
  return { code: "not-waiting", text, fix: `Answer them: signalbox task answer ${task.id} -m "Your answer"` };
}

/**
 * Why there is nothing to be answered: words move a task only where somebody asks for them. Who names the state may answer
 * also elsewhere.
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
    ? "Several agents could go on with it."
    : `Nobody asks a question in "${state.name}", so an answer moves nothing.`;
  const fix = whatWorks(workflow, task, document, hasTerminal).join("\n");
  return { code: "not-waiting", text, fix: fix || lookAt(task) };
}

/** What a person can do or say instead, a line each. */
function whatWorks(workflow: Workflow, task: Task, document: TaskDocument, hasTerminal: boolean): readonly string[] {
  const state = stateOf(workflow, task.status);
  const asked = askedOf(workflow, state, document);
  const verbs = isPersonsTurn(state) ? personsVerbs(workflow, state, task, asked) : [];
  if (!hasTerminal) return verbs;
  return [
    ...verbs,
    `Tell its agent something: signalbox task send ${task.id} "Your message"`,
    `Sit down at its agent's terminal: signalbox task attach ${task.id}`,
  ];
}

function lookAt({ id }: Task): string {
  return `See what it waits for: signalbox task explain ${id}`;
}

/** Why the task waits for nothing that a person could say. */
function whyNobodyWaits(workflow: Workflow, task: Task, namesState = false): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const { id, held, wait } = task;
  if (state.terminal) {
    const fix = `Continue its branch in a new task: signalbox task create --from ${id}`;
    return { code: "terminal", text: `The task is in "${state.name}", which is the end.`, fix };
  }
  if (held !== undefined) {
    const text = `The task is held, and does not wait for an answer: ${held.reason}`;
    return { code: "not-waiting", text, fix: `Mend the cause, then: signalbox task continue ${id}` };
  }
  if (wait.turn === "reply" || wait.turn === "confirm") {
    const text = "Its agent talks with you, and waits for your reply.";
    return { code: "not-waiting", text, fix: `Reply to it: signalbox task reply ${id}` };
  }
  if (isPersonsTurn(state) || namesState) return undefined;
  const text = `"${state.name}" does not wait for a person.`;
  if (state.wait.kind !== "open") return { code: "not-waiting", text, fix: lookAt(task) };
  const targets = targetsFor(state, "human").filter((to) => workflow.states[to]?.terminal === false);
  const named = `Name the state that it goes to: --status ${targets.join(" or --status ")}`;
  return { code: "not-waiting", text, fix: targets.length === 0 ? lookAt(task) : named };
}
