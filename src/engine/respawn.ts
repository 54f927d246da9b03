import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { endRun, startDraft, startRun } from "./draft.ts";
import { progressAtStart, stateOf } from "./enter.ts";
import { rejected, standing } from "./move.ts";
import type { Actor, Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** Brings a dead agent back in place. Not a transition: no counter moves, and the window keeps its name. */
export function respawn(workflow: Workflow, task: Task, actor: Actor, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human" && actor.role !== "engine") {
    return rejected({ code: "only-human", text: "An agent cannot start agents.", fix: "Wait for the person." });
  }
  // Somebody has deleted the workspace, or something that it needs.
  if (task.workspace !== "" && facts.numbers.workspace === 0) return restore(workflow, task, actor, state);
  const run = state.respawn;
  if (run === undefined) {
    return rejected({
      code: "no-respawn",
      text: `No agent can be started again in "${state.name}": it has no respawn_prompt.`,
      fix: "Move the task to a state that has an agent.",
    });
  }
  const live = task.runs[run.role];
  if (live !== undefined) {
    return rejected({
      code: "still-alive",
      text: `The ${run.role} is still alive (${live.key}).`,
      fix: `See what it is at: signalbox task attach ${task.id}`,
    });
  }
  if (run.prompt === undefined || workflow.prompts[run.prompt] === undefined) {
    return rejected({
      code: "no-respawn",
      text: `The workflow has no prompt "${run.prompt ?? ""}".`,
      fix: "Mend the workflow and migrate the task.",
    });
  }
  const draft = startDraft(workflow, task, task.status);
  startRun(draft, run);
  const event: TaskEvent = {
    type: "agent.respawned",
    by: actor.role,
    data: { role: run.role, prompt: run.prompt },
    set: {
      runs: draft.runs,
      runCount: draft.runCount,
      held: undefined,
      wait: { ...progressAtStart(draft, state, false), round: task.wait.round },
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Makes the workspace again. Agents that worked in it go on in their sessions, in a folder that is there. */
function restore(workflow: Workflow, task: Task, actor: Actor, state: State): Decision {
  const draft = startDraft(workflow, task, task.status);
  const run = state.respawn;
  const live = Object.entries(task.runs);
  for (const [name, { key }] of live) {
    endRun(draft, name, true);
    draft.sessions = { ...draft.sessions, [name]: key };
  }
  draft.effects.push({ action: "acquire_workspace", params: {} });
  const isAgents = task.held?.again !== "do" && task.held?.again !== "effects" && task.phase === "waiting";
  const starts = run?.prompt !== undefined && isAgents && workflow.prompts[run.prompt] !== undefined;
  if (starts) startRun(draft, run);
  const { runs, sessions, runCount } = draft;
  const event: TaskEvent = {
    type: "workspace.restored",
    by: actor.role,
    data: { workspace: task.workspace },
    set: {
      runs,
      sessions,
      runCount,
      ...(starts ? { held: undefined, wait: { ...progressAtStart(draft, state, false), round: task.wait.round } } : {}),
      ...(task.held?.again === "effects" ? { held: undefined } : {}),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}
