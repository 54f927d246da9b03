import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { progressAtStart, stateOf } from "./enter.ts";
import { rejected, standing } from "./move.ts";
import type { Actor } from "./request.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** Brings a dead agent back in place. Not a transition: no counter moves, and the window keeps its name. */
export function respawn(workflow: Workflow, task: Task, actor: Actor): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human" && actor.role !== "engine") {
    return rejected({ code: "only-human", text: "An agent cannot start agents.", fix: "Wait for the person." });
  }
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
      fix: "Attach to it, or end it first.",
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
