import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { targetsFor } from "./move.ts";
import { isMergedFrom, isPersonsTurn, personsVerbs, wantsAnswer, wordsLeadTo } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { TaskDocument } from "./task-document.ts";
import type { Workflow } from "./workflow.ts";

/** Why there is nothing to say yes to. Work that a person merges is approved by merging it. */
export function whyNothingToApprove(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const isPlain = task.held !== undefined || state.wait.kind !== "open" || !isPersonsTurn(state);
  if (isPlain) return whyNobodyAsks(workflow, task) ?? whyNoAnswer(workflow, task, document);
  if (isMergedFrom(workflow, state)) return undefined;
  const fix = personsVerbs(workflow, state, task, false).join("\n");
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
  const { id, wait, held } = task;
  if (wait.turn === "reply" || wait.turn === "confirm") return undefined;
  const state = stateOf(workflow, task.status);
  if (state.terminal || held !== undefined) return whyNobodyAsks(workflow, task);
  const verbs = isPersonsTurn(state) ? personsVerbs(workflow, state, task, wantsAnswer(workflow, state, document)) : [];
  const talk = hasTerminal
    ? [
        `Tell its agent something: signalbox task send ${id} "Your message"`,
        `Sit down at its agent's terminal: signalbox task attach ${id}`,
      ]
    : [];
  const fixes = [...verbs, ...talk];
  const fix = fixes.length === 0 ? `See what it waits for: signalbox task explain ${id}` : fixes.join("\n");
  return { code: "not-waiting", text: "No agent of its asks anything in a dialogue now.", fix };
}

/** An agent that asked something would wait on after a yes: it needs words. */
function whyNoAnswer(workflow: Workflow, task: Task, document: TaskDocument): Reason | undefined {
  if (!wantsAnswer(workflow, stateOf(workflow, task.status), document)) return undefined;
  const text = "Its agent has questions, and a yes does not answer them.";
  return { code: "not-waiting", text, fix: `Answer them: signalbox task answer ${task.id} -m "Your answer"` };
}

/** Why there is nothing to be answered. Who names the state may answer also where none of the task's waits for people. */
export function whyNobodyAsks(workflow: Workflow, task: Task, namesState = false): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const { id, held, wait } = task;
  const look = `See what it waits for: signalbox task explain ${id}`;
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
  if (state.wait.kind === "human" || namesState) return undefined;
  if (isPersonsTurn(state)) {
    const words = wordsLeadTo(workflow, state);
    if (words.length === 1) return undefined;
    const text =
      words.length === 0 ? `"${state.name}" does not wait for words.` : "Several agents could go on with it.";
    return { code: "not-waiting", text, fix: personsVerbs(workflow, state, task, false).join("\n") || look };
  }
  const text = `"${state.name}" does not wait for a person.`;
  if (state.wait.kind !== "open") return { code: "not-waiting", text, fix: look };
  const targets = targetsFor(state, "human").filter((to) => workflow.states[to]?.terminal === false);
  const fix = targets.length === 0 ? look : `Name the state that it goes to: --status ${targets.join(" or --status ")}`;
  return { code: "not-waiting", text, fix };
}
