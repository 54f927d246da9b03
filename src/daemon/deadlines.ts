import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import { beginningOfStay } from "./beginning-of-stay.ts";
import { heardOfLimit } from "./heard-of-limit.ts";
import { createNewest } from "./newest.ts";

/** Before what failed is tried again, in milliseconds. */
const pause = 10_000;
/** The same, where a person has to do something first. */
const longPause = 60_000;

export interface Deadline {
  readonly at: number;
  /** How long it was from the beginning, in milliseconds. */
  readonly length: number;
  readonly request: Request;
  /** For people: what will happen then. */
  readonly what: string;
}

export interface Deadlines {
  /** A task is as it is now. */
  noticed(stored: StoredTask): Promise<void>;
  forgot(task: string): void;
  /** The next one of a task. */
  of(task: string): Deadline | undefined;
  stop(): Promise<void>;
}

export interface DeadlinePorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  submit(task: string, request: Request): Promise<unknown>;
  onError(error: unknown): void;
}

/** Waits that only time ends, and limits on time: of the stay in a state, and of the whole life. */
export function createDeadlines(ports: DeadlinePorts): Deadlines {
  const { store, clock } = ports;
  const due = new Map<string, Deadline>();
  // A person who continues a task past its limit has heard of it.
  const spoken = new Set<string>();
  const entered = new Map<string, { entry: number; at: number }>();
  /** Those that are held: when they are tried again, they have the whole time of their state once more. */
  const held = new Set<string>();
  let cancel = () => {};
  let ringing: Promise<void> = Promise.resolve();
  let stopped = false;

  /** Nobody waits for more than the whole time once more because the clock was put back. */
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
            // A disk that was full may have room later, and a repository may be trusted; a task that is gone stays away.
            if (error instanceof Fault && error.code === "task.missing") return;
            spoken.delete(task);
            const length = isPassing(error) ? pause : longPause;
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
    // A timer cannot be set further than 24 days ahead; it then rings for nothing and is set again.
    cancel = clock.after(Math.min(Math.max(0, first - clock.now()), 2 ** 31 - 1), ring);
  };

  const enteredAt = async ({ task, updatedAt }: StoredTask): Promise<number> => {
    const known = entered.get(task.id);
    const isTriedAgain = held.delete(task.id) && known?.entry === task.entry;
    if (known?.entry === task.entry && !isTriedAgain) return known.at;
    // Only after a start: otherwise it was noticed when it entered, or was held no more. The clock may have been put back.
    const at =
      known === undefined ? Math.min(await beginningOfStay(store, task.id, updatedAt), clock.now()) : updatedAt;
    entered.set(task.id, { entry: task.entry, at });
    return at;
  };

  const hasHeard = async (task: string, at: number): Promise<boolean> => {
    // Only after a start somebody may have been told whom we do not know of.
    if (!spoken.has(task) && at <= clock.now() && (await heardOfLimit(store, task, "time"))) spoken.add(task);
    return spoken.has(task);
  };

  const newest = createNewest();
  const forget = (task: string) => {
    entered.delete(task);
    held.delete(task);
    newest.forget(task);
  };
  const look = async (stored: StoredTask): Promise<void> => {
    const { task, isOpen } = stored;
    if (!newest.hear(stored)) return;
    if (task.held !== undefined) held.add(task.id);
    const next = isOpen ? await nextDeadline(await ports.workflowOf(task), stored, enteredAt, hasHeard) : undefined;
    // Meanwhile it may have gone on.
    if (!newest.isLast(stored)) return;
    if (!isOpen) forget(task.id);
    if (next === undefined && !due.delete(task.id)) return;
    if (next !== undefined) due.set(task.id, inTime(next));
    plan();
  };
  const looks = new Set<() => void>();
  /** A time that could not be worked out would never come. */
  const lookLater = (id: string) => {
    const cancelLook = clock.after(pause, () => {
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
    found.push({ at: createdAt + length, length, request, what: "The task's time is up" });
  }
  const wait = state.wait.kind === "time" && task.phase === "waiting" ? state.wait.seconds : undefined;
  if (wait !== undefined || state.limits.time !== undefined) {
    const start = await enteredAt(stored);
    if (wait !== undefined) {
      const request = { kind: "continue" as const, actor: { role: "engine" } };
      const length = wait * 1000;
      found.push({ at: start + length, length, request, what: "Go on by itself" });
    }
    if (state.limits.time !== undefined) {
      const request = { kind: "limit" as const, word: "time" as const, entry };
      const length = state.limits.time * 1000;
      found.push({ at: start + length, length, request, what: `The time of "${state.name}" is up` });
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
