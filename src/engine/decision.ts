import type { Task } from "./task.ts";
import type { Limits, Mode, ParamValue } from "./workflow.ts";

/** What a request does to a task. */
export type Decision =
  /** The task is in another state. */
  | {
      readonly kind: "moved";
      readonly task: Task;
      readonly events: readonly TaskEvent[];
      readonly effects: readonly Effect[];
    }
  /** The task is in the same state, but something about it changed. */
  | {
      readonly kind: "stayed";
      readonly task: Task;
      readonly events: readonly TaskEvent[];
      readonly effects: readonly Effect[];
    }
  /** A report that came too late or twice: nothing changes, nobody needs to know. */
  | { readonly kind: "ignored"; readonly why: string }
  /** Nothing changes; the reasons are for the one who asked. */
  | { readonly kind: "rejected"; readonly reasons: readonly Reason[] };

export interface Reason {
  readonly code: ReasonCode;
  /** A sentence that says what is missing. */
  readonly text: string;
  /** What to do about it. */
  readonly fix: string;
}

export type ReasonCode =
  | "no-transition"
  | "not-allowed"
  | "guard"
  | "gate-missing"
  | "gate-empty"
  | "gate-field"
  | "gate-verdict"
  | "gate-spent"
  | "gate-stale"
  | "gate-author"
  | "task-file-tracked"
  | "terminal"
  | "run-over"
  | "not-waiting"
  | "needs-person"
  | "only-human"
  | "no-respawn"
  | "no-workspace"
  | "still-alive"
  | "no-such-state"
  | "bad-value";

/** One line of history. `set` is all that it changed, so that replaying the events gives the same task. */
export interface TaskEvent {
  readonly type: TaskEventType;
  /** `human`, `engine` or a role. */
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly set: Partial<Task>;
}

export type TaskEventType =
  | "task.created"
  | "task.moved"
  | "task.settled"
  | "task.working"
  | "task.worked"
  | "task.held"
  | "task.continued"
  | "task.attended"
  | "task.migrated"
  | "effect.failed"
  | "agent.ended"
  | "agent.retried"
  | "agent.respawned"
  | "agent.resumed"
  | "agent.stepped"
  | "agent.reminded"
  | "agent.told"
  | "dialogue.asked"
  | "dialogue.answered"
  | "panel.answered";

/** One thing to be carried out, recorded before it is. Plain data: it must survive a restart. */
export interface Effect {
  readonly action: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  /** For the actions that start or tell an agent. */
  readonly agent?: AgentOrder;
  /** Seconds to wait before it is carried out. */
  readonly delay?: number;
}

/** Everything needed to start an agent or to tell a live one something. */
export interface AgentOrder {
  readonly role: string;
  readonly run: string;
  readonly mode: Mode;
  readonly harness: string;
  /** Key of the prompt; empty where only `message` is given. */
  readonly prompt: string;
  readonly message: string;
  readonly model: string;
  readonly permissions: "full" | "reduced";
  readonly tools: readonly string[] | undefined;
  readonly result: string;
  readonly marker: string;
  readonly window: string;
  /** The run whose session is resumed; empty for a new one. */
  readonly resume: string;
  readonly limits: Limits;
}

/** Adds one event to a task. The only place where a task changes. */
export function apply(task: Task, event: TaskEvent): Task {
  return { ...task, ...event.set };
}
