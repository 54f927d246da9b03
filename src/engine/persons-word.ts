import type { Decision, Reason, TaskEvent } from "./decision.ts";
import { startDraft, tellRun } from "./draft.ts";
import { stateOf } from "./enter.ts";
import { rejected, standing } from "./move.ts";
import { isPersonsTurn } from "./persons-turn.ts";
import type { Actor, Facts, PersonsWord } from "./request.ts";
import { respawn } from "./respawn.ts";
import { specOf } from "./spec-of.ts";
import { after } from "./take-rule.ts";
import type { Task } from "./task.ts";
import { isWorkedIn } from "./ways-back.ts";
import type { State, Workflow } from "./workflow.ts";

/** Why what a person said does not hold any more: things have changed since they looked. */
export function isOutdated(task: Task, kind: "move" | "continue", word: PersonsWord, facts: Facts): Reason | undefined {
  const look = `Look again: signalbox task explain ${task.id}`;
  if (word.entry !== undefined && word.entry !== task.entry)
    return { code: "moved-on", text: `The task has moved on meanwhile: it is in "${task.status}".`, fix: look };
  // To continue a held task means something else: what failed is tried again.
  if (word.entry !== undefined && kind === "continue" && task.held !== undefined)
    return { code: "moved-on", text: `The task is held meanwhile: ${task.held.reason}`, fix: look };
  if (word.approves === undefined || facts.head === "" || facts.head === word.approves) return undefined;
  const text = `The branch has moved from ${short(word.approves)} to ${short(facts.head)} since it was looked at.`;
  return { code: "moved-on", text, fix: `Look at what is new: signalbox task diff ${task.id}` };
}

/** Adds to a decision what came with the person's word: that it was an approval, and what an agent has to know. */
export function withWord(workflow: Workflow, before: Task, decision: Decision, word: PersonsWord): Decision {
  const woken = word.wake === undefined ? decision : withWake(workflow, before, decision, word.wake);
  const told = word.tell === undefined ? woken : withMessage(workflow, before, woken, word.tell);
  if (word.approves === undefined) return told;
  const data = { commit: word.approves, status: before.status };
  const approved: TaskEvent = { type: "task.approved", by: "human", data, set: {} };
  return after(approved, told);
}

/**
 * The agent that goes on learns of something: one that is started finds it behind its prompt, a live one gets a message. Where
 * the workflow itself has a message for it, that is enough.
 */
export function withMessage(workflow: Workflow, before: Task, decision: Decision, message: string): Decision {
  if (decision.kind === "ignored" || decision.kind === "rejected") return decision;
  const { task, effects } = decision;
  // The engine's own work comes first, and its effects are that work.
  if (task.phase === "doing") return decision;
  const roles = [stateOf(workflow, task.status), stateOf(workflow, before.status)].flatMap(roleAt);
  for (const role of new Set(roles)) {
    const at = effects.findLastIndex(({ agent }) => agent?.role === role);
    const order = effects[at]?.agent;
    if (order !== undefined) {
      if (order.message !== "") return decision;
      return {
        ...decision,
        effects: effects.map((each, i) => (i === at ? { ...each, agent: { ...order, message } } : each)),
      };
    }
    // Whoever has no terminal hears nothing until it is asked the next time.
    if (task.runs[role]?.mode !== "session") continue;
    const draft = startDraft(workflow, task, task.status);
    tellRun(draft, specOf(workflow, stateOf(workflow, task.status), role), { prompt: "", message });
    return { ...decision, effects: [...effects, ...draft.effects] };
  }
  return decision;
}

/** An agent that sat idle while it was a person's turn does not see that its task has moved on: it is told, unless it is anyway. */
function withWake(workflow: Workflow, before: Task, decision: Decision, message: string): Decision {
  if (decision.kind !== "moved" || decision.task.phase === "doing") return decision;
  const { task, effects } = decision;
  const state = stateOf(workflow, task.status);
  const [role] = roleAt(state);
  const isIdle = role !== undefined && before.runs[role]?.key === task.runs[role]?.key && isWorkedIn(state);
  if (!isIdle || !isPersonsTurn(stateOf(workflow, before.status)) || task.runs[role]?.mode !== "session")
    return decision;
  if (effects.some(({ agent }) => agent?.role === role)) return decision;
  const draft = startDraft(workflow, task, task.status);
  tellRun(draft, specOf(workflow, state, role), { prompt: "", message });
  return { ...decision, effects: [...effects, ...draft.effects] };
}

/** Where the task stands does not change; whoever its state is about learns of something. */
export function remind(workflow: Workflow, task: Task, actor: Actor, word: PersonsWord, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const isAlive = roleAt(state).some((role) => task.runs[role]?.mode === "session");
  const decision: Decision = isAlive
    ? { kind: "stayed", task, events: [], effects: [] }
    : respawn(workflow, task, actor, facts);
  return withWord(workflow, task, decision, word);
}

/** Who is at work in a state, or at hand. */
function roleAt({ wait, respawn }: State): readonly string[] {
  const run = wait.kind === "agent" || wait.kind === "human" ? wait.run : undefined;
  const role = run?.role ?? respawn?.role;
  return role === undefined ? [] : [role];
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
