import type { Request } from "../engine/request.ts";
import { tellsOfLife } from "../engine/settled.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Store, StoredEvent, StoredTask } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { eventsOf } from "./project.ts";
import { createRevisionGuard } from "./scheduler.ts";

const arrivals = new Set(["task.created", "task.moved", "task.migrated"]);

/** Whether a person has moved a task to its current state, or has retried it there. */
export async function beganByPerson(store: Store, task: string): Promise<boolean> {
  return (await personsWordAt(store, task)) !== undefined;
}

/** When a person moved a task to its current state, or retried it there; undefined if that was no person. */
export async function personsWordAt(store: Store, task: string): Promise<number | undefined> {
  const last = await lastBeginning(store, task);
  return last?.event.by === "human" ? last.at : undefined;
}

/** When a task entered its state or, if it was held there since, when it was retried. */
export async function beginningOfStay(store: Store, task: string, otherwise: number): Promise<number> {
  return (await lastBeginning(store, task))?.at ?? otherwise;
}

async function lastBeginning(store: Store, task: string): Promise<StoredEvent | undefined> {
  let last: StoredEvent | undefined;
  let isHeld = false;
  for await (const stored of eventsOf(store, task)) {
    const wasHeld = isHeld;
    if ("held" in stored.event.set) isHeld = stored.event.set.held !== undefined;
    if (arrivals.has(stored.event.type) || (wasHeld && !isHeld)) last = stored;
  }
  return last;
}

/** Milliseconds before a failed step is retried. */
const retryPause = 10_000;
/** The same, where a person has to act first. */
const personRetryPause = 60_000;

interface Deadline {
  readonly at: number;
  /** The whole length of the deadline, in milliseconds. */
  readonly length: number;
  readonly request: Request;
  /** For people: what will happen then. */
  readonly what: string;
}

export interface Deadlines {
  /** A task has changed, or is seen for the first time. */
  noticed(stored: StoredTask): Promise<void>;
  forgot(task: string): void;
  /** The next deadline of a task. */
  of(task: string): Deadline | undefined;
  stop(): Promise<void>;
}

interface DeadlinePorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  submit(task: string, request: Request): Promise<unknown>;
  onError(error: unknown): void;
}

/**
 * The deadlines of tasks: of waits that only time ends, and of time limits of a stay in a state and of the whole task.
 */
export function createDeadlines(ports: DeadlinePorts): Deadlines {
  const { store, clock } = ports;
  const due = new Map<string, Deadline>();
  // Tasks whose time limit a person knows of, because the person has continued them past it.
  const spoken = new Set<string>();
  const entered = new Map<string, { entry: number; at: number }>();
  /** Tasks that are held: when they are retried, they have the whole time of their state once more. */
  const held = new Set<string>();
  let cancel = () => {};
  let ringing: Promise<void> = Promise.resolve();
  let stopped = false;

  /** A clock that was set back delays a deadline by its whole length at most. */
  const inTime = (deadline: Deadline): Deadline => {
    const latest = clock.now() + deadline.length;
    return deadline.at <= latest ? deadline : { ...deadline, at: latest };
  };

  const ring = () => {
    ringing = ringing
      .then(async () => {
        for (const [task, deadline] of due) {
          const { at } = inTime(deadline);
          if (at < deadline.at) due.set(task, { ...deadline, at });
          if (stopped || at > clock.now()) continue;
          due.delete(task);
          if (isOfLife(deadline)) spoken.add(task);
          await ports.submit(task, deadline.request).catch((error) => {
            ports.onError(error);
            // A full disk may have room later, and a repository may become trusted; a deleted task does not come back.
            if (error instanceof Fault && error.code === "task.missing") return;
            spoken.delete(task);
            const length = isPassing(error) ? retryPause : personRetryPause;
            if (!due.has(task)) due.set(task, { ...deadline, at: clock.now() + length, length });
          });
        }
      })
      .catch(ports.onError)
      .finally(plan);
  };
  const plan = () => {
    cancel();
    if (stopped || due.size === 0) return;
    let first = Number.POSITIVE_INFINITY;
    for (const { at } of due.values()) first = Math.min(first, at);
    // A timer reaches at most 24 days ahead; it then fires early and is set again.
    cancel = clock.after(Math.min(Math.max(0, first - clock.now()), 2 ** 31 - 1), ring);
  };

  const enteredAt = async ({ task, updatedAt }: StoredTask): Promise<number> => {
    const known = entered.get(task.id);
    const isTriedAgain = held.delete(task.id) && known?.entry === task.entry;
    if (known?.entry === task.entry && !isTriedAgain) return known.at;
    // Read only after a start: otherwise the cache knows when the task entered or was released. The clock may have been
    // set back.
    const at =
      known === undefined ? Math.min(await beginningOfStay(store, task.id, updatedAt), clock.now()) : updatedAt;
    entered.set(task.id, { entry: task.entry, at });
    return at;
  };

  const hasHeard = async (task: string, at: number): Promise<boolean> => {
    // Only after a start: a person may have been told by an earlier daemon.
    if (!spoken.has(task) && at <= clock.now() && (await heardOfLimit(store, task, "time"))) spoken.add(task);
    return spoken.has(task);
  };

  const revisions = createRevisionGuard();
  const forget = (task: string) => {
    entered.delete(task);
    held.delete(task);
    revisions.forget(task);
  };
  const look = async (stored: StoredTask): Promise<void> => {
    const { task, isOpen } = stored;
    if (!revisions.hear(stored)) return;
    if (task.held !== undefined) held.add(task.id);
    const next = isOpen ? await nextDeadline(await ports.workflowOf(task), stored, enteredAt, hasHeard) : undefined;
    // The task may have moved meanwhile.
    if (!revisions.isLast(stored)) return;
    if (!isOpen) forget(task.id);
    if (next === undefined && !due.delete(task.id)) return;
    if (next !== undefined) due.set(task.id, inTime(next));
    plan();
  };
  const looks = new Set<() => void>();
  /** Retries: a deadline that could not be computed would never fire. */
  const lookLater = (id: string) => {
    const cancelLook = clock.after(retryPause, () => {
      looks.delete(cancelLook);
      store
        .getTask(id)
        .then((stored) => stored && look(stored))
        .catch((error) => {
          ports.onError(error);
          if (!stopped && isPassing(error)) lookLater(id);
        });
    });
    looks.add(cancelLook);
  };

  return {
    async noticed(stored) {
      try {
        await look(stored);
      } catch (error) {
        if (!stopped && isPassing(error)) lookLater(stored.task.id);
        throw error;
      }
    },
    forgot(task) {
      due.delete(task);
      forget(task);
      spoken.delete(task);
    },
    of: (task) => due.get(task),
    async stop() {
      stopped = true;
      cancel();
      for (const cancelLook of looks) cancelLook();
      await ringing;
    },
  };
}

async function nextDeadline(
  workflow: Workflow,
  stored: StoredTask,
  enteredAt: (stored: StoredTask) => Promise<number>,
  hasHeard: (task: string, at: number) => Promise<boolean>,
): Promise<Deadline | undefined> {
  const { task, createdAt } = stored;
  const state = workflow.states[task.status];
  if (state === undefined || state.terminal || task.held !== undefined) return undefined;
  const found: Deadline[] = [];
  const { entry } = task;
  const length = (workflow.limits.time ?? 0) * 1000;
  if (workflow.limits.time !== undefined && !(await hasHeard(task.id, createdAt + length))) {
    const request = { kind: "limit" as const, word: "time" as const };
    found.push({ at: createdAt + length, length, request, what: "The task reaches its time limit" });
  }
  const wait = state.wait.kind === "time" && task.phase === "waiting" ? state.wait.seconds : undefined;
  if (wait !== undefined || state.limits.time !== undefined) {
    const start = await enteredAt(stored);
    if (wait !== undefined) {
      const request = { kind: "continue" as const, actor: { role: "engine" } };
      const length = wait * 1000;
      found.push({ at: start + length, length, request, what: "Continue by itself" });
    }
    if (state.limits.time !== undefined) {
      const request = { kind: "limit" as const, word: "time" as const, entry };
      const length = state.limits.time * 1000;
      found.push({ at: start + length, length, request, what: `"${state.name}" reaches its time limit` });
    }
  }
  return found.sort((a, b) => a.at - b.at)[0];
}

function isPassing(error: unknown): boolean {
  return error instanceof Fault && error.retry === "later";
}

function isOfLife({ request }: Deadline): boolean {
  return request.kind === "limit" && request.entry === undefined;
}

/**
 * Whether a task was already held because of a limit on its whole life: the person who continued it knows of the limit.
 */
export async function heardOfLimit(store: Store, task: string, word: "time" | "cost"): Promise<boolean> {
  for await (const { event } of eventsOf(store, task)) if (tellsOfLife(event, word)) return true;
  return false;
}
