import type { eventTypes, TaskEventType } from "./event-types.ts";
import type { StageMessage, Task } from "./task.ts";
import type { ParamValue, RunSpec } from "./workflow.ts";

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
  /** A report that came too late or twice: nothing changes, and no error is reported. */
  | { readonly kind: "ignored"; readonly why: string }
  /** Nothing changes; the reasons are for the asker. */
  | { readonly kind: "rejected"; readonly reasons: readonly Reason[] };

export interface Reason {
  readonly code: ReasonCode;
  /** A sentence that says what is missing. */
  readonly text: string;
  /** What to do about it. */
  readonly fix: string;
}

type ReasonCode =
  | "no-transition"
  | "not-allowed"
  | "guard"
  | "promise"
  | "gate-missing"
  | "gate-empty"
  | "gate-field"
  | "gate-verdict"
  | "gate-spent"
  | "gate-stale"
  | "gate-author"
  | "task-file-tracked"
  | "task-file-unreadable"
  | "terminal"
  | "run-over"
  | "not-waiting"
  | "needs-person"
  | "only-human"
  | "no-respawn"
  | "pool-full"
  | "still-alive"
  | "moved-on"
  | "unmerged"
  | "unanswered"
  | "undecided"
  | "unreviewed"
  | "answered"
  | "no-such-state"
  | "bad-value"
  | "no-credential"
  | "other-task"
  | "other-folder"
  | "in-workspace";

/** One line of history. `set` is all that it changed, so that replaying the events gives the same task. */
export type TaskEvent = {
  readonly [Type in TaskEventType]: {
    readonly type: Type;
    /** `human`, `engine` or a role. */
    readonly by: string;
    readonly data: EventData<Type>;
    readonly set: Partial<Task> & AddedMessage;
  };
}[TaskEventType];

/**
 * A new message, and the places of those that were dropped for it: an event that stored the whole list would grow with it. Events
 * of older versions have the list, as `stageMessages`.
 */
interface AddedMessage {
  readonly addedMessage?: StageMessage;
  readonly droppedMessages?: readonly number[];
}

/** Holds only the documented fields, because other programs read it. Fields of other events read as undefined. */
export type EventData<Type extends TaskEventType> = {
  readonly [Name in NameIn<Type>]?: unknown;
} & { readonly [Name in Exclude<NameIn<TaskEventType>, NameIn<Type>>]?: undefined };

type NameIn<Type extends TaskEventType> = Type extends TaskEventType ? keyof (typeof eventTypes)[Type]["data"] : never;

/** One thing to be carried out, stored first. Plain data: it must survive a restart. */
export interface Effect {
  readonly action: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  /** For the actions that start or tell an agent. */
  readonly agent?: AgentOrder;
  /** Seconds to wait before it is carried out. */
  readonly delay?: number;
}

/** Everything needed to start an agent or to send a live one a message. */
export interface AgentOrder {
  readonly role: string;
  readonly run: string;
  /** Key of the prompt; empty where only `message` is given. */
  readonly prompt: string;
  readonly message: string;
  readonly model: string;
  readonly window: string;
  /** The run whose session is resumed; empty for a new one. */
  readonly resume: string;
  /** How the run is made; its prompt, model and window are replaced by those above. */
  readonly spec: RunSpec;
}

/**
 * Adds one event to a task. The only place where a task changes. Written out field by field because spreading two
 * objects of this size costs more than the rest of a decision together.
 */
export function apply(task: Task, { type, set }: TaskEvent): Task {
  if (type === "task.moved") return arrive(task, set as Arrival);
  return {
    id: set.id ?? task.id,
    project: set.project ?? task.project,
    number: set.number ?? task.number,
    branch: set.branch ?? task.branch,
    base: set.base ?? task.base,
    summary: set.summary ?? task.summary,
    workflow: set.workflow ?? task.workflow,
    harness: set.harness ?? task.harness,
    reviewHarness: set.reviewHarness ?? task.reviewHarness,
    model: set.model ?? task.model,
    workspace: set.workspace ?? task.workspace,
    tmuxSession: set.tmuxSession ?? task.tmuxSession,
    prUrl: set.prUrl ?? task.prUrl,
    ticket: set.ticket ?? task.ticket,
    parent: set.parent ?? task.parent,
    part: set.part ?? task.part,
    dependsOn: set.dependsOn ?? task.dependsOn,
    handDown: set.handDown ?? task.handDown,
    budget: set.budget ?? task.budget,
    labels: set.labels ?? task.labels,
    priority: set.priority ?? task.priority,
    autostart: set.autostart ?? task.autostart,
    createdAt: set.createdAt ?? task.createdAt,
    updatedAt: set.updatedAt ?? task.updatedAt,
    workflowHash: set.workflowHash ?? task.workflowHash,
    preset: set.preset ?? task.preset,
    settings: set.settings ?? task.settings,
    status: set.status ?? task.status,
    previousStatus: set.previousStatus ?? task.previousStatus,
    entry: set.entry ?? task.entry,
    phase: set.phase ?? task.phase,
    counters: set.counters ?? task.counters,
    crashCount: set.crashCount ?? task.crashCount,
    visits: set.visits ?? task.visits,
    runs: set.runs ?? task.runs,
    sessions: set.sessions ?? task.sessions,
    runCount: set.runCount ?? task.runCount,
    spent: set.spent ?? task.spent,
    results: set.results ?? task.results,
    wait: set.wait ?? task.wait,
    attended: set.attended ?? task.attended,
    // The one field that an event can take away.
    held: "held" in set ? set.held : task.held,
    reason: set.reason ?? task.reason,
    log: set.log ?? task.log,
    judged: set.judged ?? task.judged,
    protectedChanges: set.protectedChanges ?? task.protectedChanges,
    tested: set.tested ?? task.tested,
    ledger: set.ledger ?? task.ledger,
    documents: set.documents ?? task.documents,
    stageMessages: set.stageMessages ?? withMessage(task, set),
    proofs: set.proofs ?? task.proofs,
  };
}

/** What a move always changes. */
export type Arrival = Pick<
  Task,
  | "status"
  | "previousStatus"
  | "entry"
  | "phase"
  | "counters"
  | "visits"
  | "runs"
  | "sessions"
  | "runCount"
  | "spent"
  | "wait"
  | "attended"
  | "held"
> &
  Partial<Pick<Task, "reason" | "judged" | "stageMessages" | "proofs">>;

/** A fast path for moves, the most frequent event: all moves change the same fields. */
function arrive(task: Task, set: Arrival): Task {
  return {
    id: task.id,
    project: task.project,
    number: task.number,
    branch: task.branch,
    base: task.base,
    summary: task.summary,
    workflow: task.workflow,
    harness: task.harness,
    reviewHarness: task.reviewHarness,
    model: task.model,
    workspace: task.workspace,
    tmuxSession: task.tmuxSession,
    prUrl: task.prUrl,
    ticket: task.ticket,
    parent: task.parent,
    part: task.part,
    dependsOn: task.dependsOn,
    handDown: task.handDown,
    budget: task.budget,
    labels: task.labels,
    priority: task.priority,
    autostart: task.autostart,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    workflowHash: task.workflowHash,
    preset: task.preset,
    settings: task.settings,
    status: set.status,
    previousStatus: set.previousStatus,
    entry: set.entry,
    phase: set.phase,
    counters: set.counters,
    crashCount: task.crashCount,
    visits: set.visits,
    runs: set.runs,
    sessions: set.sessions,
    runCount: set.runCount,
    spent: set.spent,
    results: task.results,
    wait: set.wait,
    attended: set.attended,
    held: set.held,
    reason: set.reason ?? task.reason,
    log: task.log,
    judged: set.judged ?? task.judged,
    protectedChanges: task.protectedChanges,
    tested: task.tested,
    ledger: task.ledger,
    documents: task.documents,
    stageMessages: set.stageMessages ?? readMessages(task),
    proofs: set.proofs ?? task.proofs,
  };
}

function withMessage({ stageMessages }: Task, { addedMessage, droppedMessages = [] }: AddedMessage) {
  if (addedMessage === undefined) return stageMessages;
  return [...(stageMessages ?? []).filter((_, place) => !droppedMessages.includes(place)), addedMessage];
}

/** The messages after a task has left its state: those for it that were sent before are read. */
function readMessages({ stageMessages: messages, status, entry }: Task): readonly StageMessage[] | undefined {
  const isRead = (message: StageMessage) =>
    (message.to === status || message.to === "all") && message.entry < entry && !message.read.includes(status);
  if (messages === undefined || !messages.some(isRead)) return messages;
  return messages.map((message) => (isRead(message) ? { ...message, read: [...message.read, status] } : message));
}
