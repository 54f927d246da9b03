import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { targetsFor } from "./move.ts";
import { isMergedFrom, isPersonsTurn, personsVerbs, wordsLeadTo } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** Why there is nothing to say yes to. Work that a person merges is approved by merging it. */
export function whyNothingToApprove(workflow: Workflow, task: Task): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const isPlain = task.held !== undefined || state.wait.kind !== "open" || !isPersonsTurn(state);
  if (isPlain) return whyNobodyAsks(workflow, task);
  if (isMergedFrom(workflow, state)) return undefined;
  const fix = personsVerbs(workflow, state, task).join("\n");
  return { code: "not-waiting", text: `In "${state.name}" there is nothing to say yes to.`, fix };
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
    return { code: "not-waiting", text, fix: personsVerbs(workflow, state, task).join("\n") || look };
  }
  const text = `"${state.name}" does not wait for a person.`;
  if (state.wait.kind !== "open") return { code: "not-waiting", text, fix: look };
  const targets = targetsFor(state, "human").filter((to) => workflow.states[to]?.terminal === false);
  const fix = targets.length === 0 ? look : `Name the state that it goes to: --status ${targets.join(" or --status ")}`;
  return { code: "not-waiting", text, fix };
}
