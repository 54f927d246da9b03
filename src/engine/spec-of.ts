import { plainRun } from "./plain-run.ts";
import type { RunSpec, State, Workflow } from "./workflow.ts";

/** How the run of a role is made in a state: as the state says, else as its role, else as whatever starts such a run. */
export function specOf(workflow: Workflow, state: State, name: string): RunSpec {
  const { wait } = state;
  if ((wait.kind === "agent" || wait.kind === "human") && wait.run?.role === name) return wait.run;
  const role = name.split("/")[0] ?? name;
  if (wait.kind === "panel" && role === wait.judge.role) return wait.judge;
  if (wait.kind === "panel" && role === wait.member.role) return wait.member;
  if (state.respawn?.role === role) return state.respawn;
  const started = [...workflow.ways.flatMap((way) => way.hooks), ...state.do];
  return workflow.roles[role] ?? started.find((action) => action.run?.role === role)?.run ?? plainRun(role);
}
