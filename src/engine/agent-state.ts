import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** How a named agent is. */
export type AgentState = "idle" | "ready" | "working" | "done" | "stuck";

/**
 * What the record of its task, which is not over, says of an agent, as far as that can be told of any workflow: stuck where
 * a person should look, or where time has to pass before it is tried again; done while the engine is at work on what it has
 * made; ready until its program is started.
 */
export function recordedState(workflow: Workflow, task: Task, { isRaised, hasStarted }: RunsSeen): AgentState {
  const state = workflow.states[task.status];
  if (isRaised || task.held !== undefined || (state?.wait.kind === "time" && task.phase === "waiting")) return "stuck";
  const hasRuns = Object.keys(task.runs).length > 0;
  // Where tasks wait for a slot they begin, perhaps not for the first time: nothing is made there.
  if (task.runCount > 0 && state !== undefined && state.wait.kind !== "slot") {
    if (task.phase === "doing") return "done";
    // On its way from one work of the engine to the next, or to its end: until its workspace is given back.
    const isNext = state.outcome === "done" ? task.workspace !== "" : state.wait.kind === "none" && state.do.length > 0;
    if (task.phase === "entering" && isNext) return "done";
  }
  // Between two attempts it has no program, and is no less at it: whoever ends it ends the attempts.
  return hasRuns && (hasStarted || task.wait.step > 0 || task.crashCount > 0) ? "working" : "ready";
}

/** What is known of an agent's runs. */
export interface RunsSeen {
  /** One waits for a person. */
  readonly isRaised: boolean;
  /** The program of one that is wanted was started. */
  readonly hasStarted: boolean;
}

/** What is recorded of an agent, and what is found of it where it worked. */
export interface AgentSight {
  readonly recorded: AgentState;
  /** none: its folder is gone. One that never needed any is clean. */
  readonly workspace: "none" | "clean" | "dirty";
  /** The program of its last run, as for `reconcile`. */
  readonly session: "absent" | "running" | "ended" | "lost";
  /** The last thing that it printed says that everything is done. */
  readonly marker: boolean;
}

export interface AgentFinding {
  /** How it really is. */
  readonly state: AgentState;
  /**
   * What is to be done so that it goes on. none: it does by itself, or waits for somebody. go-on: what it owes is carried out,
   * and its run judged, stepped on or resumed. begin-again: its task goes back to where it waits for a slot; what it has
   * committed stays. Nothing is ever deleted.
   */
  readonly act: "none" | "go-on" | "begin-again";
}

/** What state an agent is really in, whatever has happened while nobody looked. The only place where that is decided. */
export function reconcileAgent({ recorded, workspace, session, marker }: AgentSight): AgentFinding {
  if (recorded === "idle") return { state: "idle", act: "none" };
  // What was handed over is safe without the folder: it is merged, or its workflow says what happens.
  if (recorded === "done") return { state: "done", act: "go-on" };
  if (workspace === "none") return { state: "idle", act: "begin-again" };
  if (recorded === "stuck") return { state: "stuck", act: "none" };
  if (session === "running") return { state: "working", act: "none" };
  if (marker) return { state: "done", act: "go-on" };
  return { state: workspace === "dirty" ? "working" : "ready", act: "go-on" };
}
