import { type Draft, startRun, tellRun } from "./draft.ts";
import { settingOf } from "./when.ts";
import type { RunSpec, State } from "./workflow.ts";

/** Begins what a state waits for. A role that a hook of the same move started or told is left at that. */
export function startWait(draft: Draft, state: State): void {
  const { wait } = state;
  switch (wait.kind) {
    case "agent":
    case "human":
      if (wait.run !== undefined) startAgent(draft, state, wait.run);
      return;
    case "panel":
      for (let member = 1; member <= panelSize(draft, wait.member); member++) startRun(draft, wait.member, { member });
      return;
    case "fan_out":
      draft.effects.push({ action: "start_children", params: { workflow: wait.workflow } });
      return;
    default:
  }
}

function startAgent(draft: Draft, state: State, run: RunSpec): void {
  if (draft.told.includes(run.role)) return;
  const isAlive = draft.runs[run.role] !== undefined;
  if (!isAlive) startRun(draft, run, { prompt: run.prompt ?? state.respawn?.prompt });
  else if (run.prompt !== undefined) tellRun(draft, run, {});
}

/** One member for each model of a list setting; one where the model is not a list. */
export function panelSize(draft: Pick<Draft, "workflow" | "task">, member: RunSpec): number {
  const setting = /^\{([a-z][a-z0-9_]*)\}$/.exec(member.model ?? "")?.[1];
  const models = setting === undefined ? undefined : settingOf(draft.workflow, draft.task, setting);
  return Array.isArray(models) ? Math.max(1, models.length) : 1;
}
