import type { Task } from "./task.ts";
import type { Mode, Workflow } from "./workflow.ts";

/** The state of a named agent. */
export type AgentState = "idle" | "ready" | "working" | "done" | "stuck";

/**
 * The state of an agent according to its open task, for any workflow. stuck: it needs a person, or time must pass
 * before a retry. done: the engine works on the agent's result. ready: its program has not started yet.
 */
export function recordedState(workflow: Workflow, task: Task, { isRaised, hasStarted }: RunsSeen): AgentState {
  const state = workflow.states[task.status];
  if (isRaised || task.held !== undefined || (state?.wait.kind === "time" && task.phase === "waiting")) return "stuck";
  const hasRuns = Object.keys(task.runs).length > 0;
  // A task that waits for a slot is at its beginning, perhaps again: there is no result to work on.
  if (task.runCount > 0 && state !== undefined && state.wait.kind !== "slot") {
    if (task.phase === "doing") return "done";
    // Either the engine's next work follows directly, or the task is done and its workspace is not yet released.
    const isNext = state.outcome === "done" ? task.workspace !== "" : state.wait.kind === "none" && state.do.length > 0;
    if (task.phase === "entering" && isNext) return "done";
  }
  // Between two attempts an agent has no program, but still counts as working: ending it ends the attempts.
  return hasRuns && (hasStarted || task.wait.step > 0 || task.crashCount > 0) ? "working" : "ready";
}

/** What the daemon knows about an agent's runs. */
interface RunsSeen {
  /** A run waits for a person. */
  readonly isRaised: boolean;
  /** The program of a wanted run was started. */
  readonly hasStarted: boolean;
}

/** The recorded state of an agent, and what its workspace and session show. */
export interface AgentSight {
  readonly recorded: AgentState;
  /** none: its folder is gone. An agent that never needed a folder counts as clean. */
  readonly workspace: "none" | "clean" | "dirty";
  /** The program of its last run, as for `reconcile`. */
  readonly session: "absent" | "running" | "ended" | "lost";
  /** Its last output ends with the marker that everything is done. */
  readonly marker: boolean;
}

export interface AgentFinding {
  /** The real state. */
  readonly state: AgentState;
  /**
   * How to continue. none: it continues by itself, or waits for a person. go-on: perform its owed effects, and judge,
   * step or resume its run. begin-again: its task goes back to waiting for a slot; its commits stay. Nothing is ever
   * deleted.
   */
  readonly act: "none" | "go-on" | "begin-again";
}

/** The real state of an agent after a restart or a crash. This is the only place that decides it. */
export function reconcileAgent({ recorded, workspace, session, marker }: AgentSight): AgentFinding {
  if (recorded === "idle") return { state: "idle", act: "none" };
  // A handed-over result does not need the folder: it is merged, or the workflow says what happens.
  if (recorded === "done") return { state: "done", act: "go-on" };
  if (workspace === "none") return { state: "idle", act: "begin-again" };
  if (recorded === "stuck") return { state: "stuck", act: "none" };
  if (session === "running") return { state: "working", act: "none" };
  if (marker) return { state: "done", act: "go-on" };
  return { state: workspace === "dirty" ? "working" : "ready", act: "go-on" };
}

/** Observations of a live run, from evidence of different strength. Times are in seconds. */
export interface RunSight {
  readonly mode: Mode;
  /** absent: not started yet. lost: the process is gone, and how it ended was not recorded. */
  readonly process: "absent" | "running" | "ended" | "lost";
  /** The run before it was lost right after its start. */
  readonly isLostAgain?: boolean;
  readonly activity: Activity;
  /** Since it was last seen to start. */
  readonly age: number;
  /** Since it last gave a sign of life: output, transcript, hook, screen, file. */
  readonly quiet: number;
  /** A tool call has begun and not ended, or a child of it uses the processor. */
  readonly isAtWork: boolean;
  /** Since it went idle; 0 where it is not. */
  readonly idle: number;
  /** How long it has been starting without being ready; 0 or missing once it is ready. */
  readonly starting?: number;
  /** What a person must do before it can work, in a sentence; empty or missing where nothing is known. */
  readonly obstacle?: string;
  /** A person was already notified about this run. */
  readonly isRaised: boolean;
}

/** `unknown` is a valid observation: nothing destructive follows from it. */
export type Activity = "starting" | "busy" | "idle" | "asks" | "unknown";

/** The action that a run's observations call for. */
export type Healing =
  | { readonly kind: "none" }
  /** It has ended: read how from its output and files. `isLost`: it is lost, and is not resumed once more. */
  | { readonly kind: "judge"; readonly isLost?: boolean }
  /** It was lost through no fault of its own. */
  | { readonly kind: "lost" }
  /** It gives no sign of life, or has passed its time limit: end it and report that to the engine. */
  | { readonly kind: "stalled" | "overdue"; readonly reason: string }
  /** It waits for a person, or may be stalled: notify a person. */
  | { readonly kind: "raise"; readonly reason: string }
  /** Its turn is over. */
  | { readonly kind: "idle" };

/** A run that is lost sooner than this (seconds), like the one before it, counts as ended: something ends it at every start. */
export const minLifetime = 10;
/** A session that takes longer to be ready (seconds) probably shows an unknown dialog. */
const startTimeout = 120;
/** A busy run may be without a sign of life for this many times the stall limit before a person is notified. */
const busyStallFactor = 6;

/** In seconds; undefined where the run has none. */
export interface RunLimits {
  /** Without a sign of life. */
  readonly stall: number | undefined;
  /** From its start. */
  readonly time: number | undefined;
}

/**
 * Decides what to do about a run. This is the only place that judges runs to be dead, stalled or waiting; the caller
 * carries out the result.
 */
export function reconcile(sight: RunSight, { stall, time }: RunLimits): Healing {
  if (sight.process === "absent") return { kind: "none" };
  if (sight.process === "ended") return { kind: "judge" };
  if (sight.process === "lost")
    return sight.isLostAgain === true && sight.age < minLifetime ? { kind: "judge", isLost: true } : { kind: "lost" };
  if (time !== undefined && sight.age >= time) return { kind: "overdue", reason: `It took longer than ${time} s.` };
  if (sight.obstacle) return { kind: "raise", reason: sight.obstacle };
  if (sight.activity === "asks") {
    return sight.isRaised
      ? { kind: "none" }
      : { kind: "raise", reason: "It waits in a dialog for a person's decision." };
  }
  if (sight.mode === "session" && !sight.isRaised && (sight.starting ?? 0) >= startTimeout) {
    return { kind: "raise", reason: "It has not begun to work for two minutes. Its window shows why." };
  }
  if (sight.activity === "idle") return { kind: "idle" };
  if (stall === undefined || sight.quiet < stall) return { kind: "none" };
  const minutes = `${Math.round(sight.quiet / 6) / 10} minutes`;
  if (!sight.isAtWork) return { kind: "stalled", reason: `It gave no sign of life for ${minutes}.` };
  if (sight.isRaised || sight.quiet < stall * busyStallFactor) return { kind: "none" };
  return { kind: "raise", reason: `It has been busy with one step for ${minutes} without a sign of life.` };
}

const any: readonly AgentState[] = ["idle", "ready", "working", "done", "stuck"];

/**
 * The states of an agent from which each command about it is allowed. Commands about no single agent are always
 * allowed.
 */
export const validFrom = {
  assign: ["idle"],
  peek: any,
  logs: any,
  kill: ["working", "stuck"],
  cleanup: any,
  merge: ["done", "stuck"],
} as const satisfies Readonly<Record<string, readonly AgentState[]>>;

export type AgentCommand = keyof typeof validFrom;

/** Why a command is not allowed for an agent in this state, and what to do instead; undefined where it is allowed. */
export function whyNotFrom(
  command: AgentCommand,
  name: string,
  state: AgentState,
): { readonly text: string; readonly fix: string } | undefined {
  const states: readonly AgentState[] = validFrom[command];
  if (states.includes(state)) return undefined;
  return {
    text: `${name} is ${state}; "${command}" needs an agent that is ${states.join(" or ")}.`,
    fix: next(name)[state],
  };
}

/** What a person can do next with an agent, for each of its states. */
export function next(name: string): Readonly<Record<AgentState, string>> {
  return {
    idle: `Give it a ticket: signalbox crew assign ${name} TICKET`,
    ready: "It starts by itself as soon as it can. See what it waits for: signalbox crew ps",
    working: `See what it does: signalbox crew peek ${name}. To end its work: signalbox crew kill ${name}`,
    done: `Its work is being tested and merged. See it: signalbox crew logs ${name}`,
    stuck: `Restart its task: signalbox crew kill ${name}. To remove the agent: signalbox crew cleanup ${name}`,
  };
}
