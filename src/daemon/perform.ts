import { actions } from "../engine/actions/index.ts";
import type { Effect, TaskEvent } from "../engine/decision.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Outcome } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import { retryAtOf } from "../ports/retry-at.ts";
import type { Store, StoredEffect } from "../ports/store.ts";
import type { Submit } from "./submit.ts";

/** Carries one kind of effect out. Must be safe to run twice: after a crash it is carried out again. */
export type Perform = (effect: Effect, context: PerformContext) => Promise<void>;

export interface PerformContext {
  readonly task: Task;
  /** The same whenever the same effect is carried out: whoever must not repeat something can remember it. */
  readonly key: string;
}

export type Performers = Readonly<Record<string, Perform>>;

export interface Performer {
  /** A task was changed: it may owe something now, or may have to go on by itself. */
  wake(task: string): void;
  /** After a start: lets every open task go on from where it was left. */
  recover(): Promise<void>;
  /** Whether a task waits for a person to resume its project. */
  isHalted(task: string): boolean;
  /** Somebody has been resumed: tasks that waited for that go on. */
  resumed(): void;
  /** Takes nothing new on, and waits for what is under way. */
  stop(): Promise<void>;
}

export interface PerformPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  readonly performers: Performers;
  /** How a task has ended; undefined where it has not. What was still to be begun for it is pointless then. */
  outcomeOf?(task: Task): Promise<Outcome | undefined>;
  /** Whether what the workflow wants to publish of a task has to wait, because a person has paused its project. */
  isPaused?(task: Task): Promise<boolean>;
  /** Something nobody foresaw. */
  onError(error: unknown): void;
}

interface Work extends PerformPorts {
  isStopped(): boolean;
  /** Keys of what was carried out but could not be ticked off: when the disk has room again, it is not repeated. */
  readonly unnoted: Set<string>;
  /** Until when effects wait, by their id, where they do. */
  readonly waits: Map<number, number>;
  /** Tasks that wait for a person to resume their project. */
  readonly halted: Set<string>;
  /** How often in a row something has failed for a task that nobody foresaw. */
  failuresOf(task: string): number;
  /** How long effects were told to wait by whom they asked, by their id, where they were. */
  readonly limits: Map<number, number>;
}

const pageSize = 500;
/** How often an effect that may work later is tried before a person is asked, and how long the first pause is. */
const mostTries = 6;
const firstPause = 1_000;
/** Something nobody foresaw is tried again too, but a store that is full must not be asked without a pause. */
const longestPause = 60_000;
/** Nothing should ever be found by looking; this is for what nobody thought of. */
const netInterval = 60_000;

/**
 * Carries out what tasks owe: in order per task, tasks side by side. What was under way when the process died is still
 * owed and is carried out again.
 */
export function createPerformer(ports: PerformPorts): Performer {
  const { store, clock } = ports;
  const busy = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const timers = new Map<string, () => void>();
  const failures = new Map<string, number>();
  let stopped = false;
  const work: Work = {
    ...ports,
    isStopped: () => stopped,
    failuresOf: (task) => failures.get(task) ?? 0,
    unnoted: new Set(),
    waits: new Map(),
    limits: new Map(),
    halted: new Set(),
  };

  const wake = (task: string) => {
    if (stopped) return;
    if (busy.has(task)) return void again.add(task);
    cancelTimer(task);
    // What has changed until the next look at the task is seen by that look.
    const looks = () => {
      again.delete(task);
      return !stopped;
    };
    const done = goOn(work, task, looks)
      .then((dueAt) => {
        failures.delete(task);
        if (dueAt !== undefined) wakeIn(task, dueAt - clock.now());
      })
      .catch((error) => {
        ports.onError(error);
        const count = failures.get(task) ?? 0;
        failures.set(task, count + 1);
        wakeIn(task, Math.min(firstPause * 2 ** count, longestPause));
      })
      .finally(() => {
        busy.delete(task);
        if (again.delete(task)) wake(task);
      });
    busy.set(task, done);
  };
  const cancelTimer = (task: string) => {
    timers.get(task)?.();
    timers.delete(task);
  };
  const wakeIn = (task: string, milliseconds: number) => {
    cancelTimer(task);
    if (!stopped)
      timers.set(
        task,
        clock.after(milliseconds, () => wake(task)),
      );
  };

  const wakeOwing = async (until: number) => {
    for (const { task } of await store.dueEffects(until, Number.MAX_SAFE_INTEGER)) {
      if (!busy.has(task) && !timers.has(task)) wake(task);
    }
  };
  let cancelNet = () => {};
  const spreadNet = () => {
    if (stopped) return;
    cancelNet = clock.after(netInterval, () => {
      wakeOwing(clock.now()).catch(ports.onError).finally(spreadNet);
    });
  };

  return {
    wake,
    async recover() {
      for (let before: number | undefined; ; ) {
        const page = await store.listTasks(
          { isOpen: true },
          before === undefined ? { limit: pageSize } : { before, limit: pageSize },
        );
        for (const { task } of page) if (task.phase !== "waiting" || (await hasFailed(store, task))) wake(task.id);
        before = page.at(-1)?.order;
        if (before === undefined) break;
      }
      await wakeOwing(Number.MAX_SAFE_INTEGER);
      spreadNet();
    },
    isHalted: (task) => work.halted.has(task),
    resumed() {
      for (const task of work.halted) wake(task);
    },
    async stop() {
      stopped = true;
      cancelNet();
      for (const cancel of timers.values()) cancel();
      await Promise.all(busy.values());
    },
  };
}

/** Whether something has failed that nobody was told of before we died: nothing is due any more that would lead to it. */
async function hasFailed(store: Store, { id, held }: Task): Promise<boolean> {
  return held === undefined && (await store.openEffects(id)).some(({ state }) => state === "failed");
}

/** Lets a task go on as far as it can by itself. Gives the time at which it can go on further, where there is one. */
async function goOn(ports: Work, task: string, looks: () => boolean): Promise<number | undefined> {
  while (looks()) {
    const [first] = await ports.store.openEffects(task);
    if (first?.state !== "owed") {
      if (!(await advance(ports, task, first))) return undefined;
    } else {
      const dueAt = dueTime(ports, first);
      if (dueAt > ports.clock.now() && !(await isPointless(ports, first))) return dueAt;
      if (await isHalted(ports, first)) return undefined;
      ports.waits.delete(first.id);
      await performOne(ports, first);
    }
  }
  return undefined;
}

/** Nothing waits longer than the pause that was meant, also where the clock has been put back since. */
function dueTime({ clock, waits, limits }: Work, { id, effect, tries, dueAt }: StoredEffect): number {
  const pause = limits.get(id) ?? (tries > 0 ? firstPause * 2 ** (tries - 1) : (effect.delay ?? 0) * 1000);
  const at = Math.min(waits.get(id) ?? dueAt, dueAt, clock.now() + pause);
  waits.set(id, at);
  return at;
}

async function performOne(ports: Work, owed: StoredEffect): Promise<void> {
  const { store, clock, performers, unnoted, isStopped } = ports;
  const stored = await store.getTask(owed.task);
  if (stored === undefined) return;
  if (await isPointless(ports, owed)) return passOver(ports, owed);
  const perform = performers[owed.effect.action] ?? unavailable;
  const key = `${owed.task}:${owed.id}`;
  try {
    if (!unnoted.has(key)) await perform(owed.effect, { task: stored.task, key });
  } catch (error) {
    // What was cut short because we stop has not failed; it stays owed.
    if (isStopped()) return;
    return noteFailure(ports, owed, stored.task, error);
  }
  unnoted.add(key);
  await store.finishEffect(owed.id, clock.now());
  unnoted.delete(key);
  ports.limits.delete(owed.id);
}

/** Effects by which a task's work leaves its workspace. */
const publishing = new Set(["merge", "merge_pr", "push_branch", "create_pr"]);

/** It stays owed, and no try is spent on it. */
async function isHalted({ store, halted, isPaused }: Work, { task, effect }: StoredEffect): Promise<boolean> {
  const stored = publishing.has(effect.action) ? await store.getTask(task) : undefined;
  const is = stored !== undefined && ((await isPaused?.(stored.task)) ?? false);
  if (is) halted.add(task);
  else halted.delete(task);
  return is;
}

/**
 * Owed by an earlier stay of a task that has ended since, and would begin something: it would only keep what comes after it
 * waiting. What ends, gives back, deletes or notes something is carried out all the same.
 */
async function isPointless({ store, outcomeOf }: Work, { task: id, entry, effect }: StoredEffect): Promise<boolean> {
  const begins = effect.action === "start_children" ? "agent" : actions[effect.action]?.begins;
  if (begins === undefined) return false;
  const task = (await store.getTask(id))?.task;
  if (task === undefined || entry >= task.entry) return false;
  const outcome = await outcomeOf?.(task);
  return outcome !== undefined && (begins === "agent" || outcome !== "done");
}

function passOver({ store, clock }: Work, { id, effect: { action } }: StoredEffect): Promise<void> {
  const data = { action, reason: "The task ended before this was done." };
  return store.finishEffect(id, clock.now(), { type: "effect.failed", by: "engine", data, set: {} });
}

async function unavailable(effect: Effect): Promise<void> {
  throw new Fault("effect.unavailable", `"${effect.action}" is not available in this version yet.`);
}

/** What may work later is tried again for a while. What nothing depends on is noted, and the task goes on. */
async function noteFailure(
  { store, clock, limits }: Work,
  owed: StoredEffect,
  task: Task,
  error: unknown,
): Promise<void> {
  const { action } = owed.effect;
  const reason = reasonOf(error);
  const word = error instanceof Fault && Object.hasOwn(actions[action]?.words ?? {}, error.code) ? error.code : "error";
  // A limit is over when it is over, however often that takes; whoever asks before is not listened to.
  const limit = Math.max(0, (retryAtOf(error) ?? 0) - clock.now());
  const isHopeful = error instanceof Fault && error.retry === "later" && (limit > 0 || owed.tries + 1 < mostTries);
  const pause = Math.max(limit, firstPause * 2 ** Math.min(owed.tries, mostTries));
  if (limit > 0) limits.set(owed.id, pause);
  else limits.delete(owed.id);
  const failure = { word, reason, ...(error instanceof Fault ? { code: error.code } : {}) };
  if (isHopeful) return store.failEffect(owed.id, failure, clock.now() + pause);
  const { holds = true, failsSilently = false } = actions[action] ?? {};
  if (holds || (task.phase === "doing" && !failsSilently)) return store.failEffect(owed.id, failure);
  const note: TaskEvent = { type: "effect.failed", by: "engine", data: { action, reason }, set: {} };
  await store.finishEffect(owed.id, clock.now(), note);
}

/** A person who reads it must learn what to do about it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof Fault && error.hint !== undefined && error.hint !== ""
    ? `${error.message}\n${error.hint}`
    : error.message;
}

/**
 * Tells the engine what follows from what a task owes; false where nothing does. It only looks at what is stored, so that
 * it does the same after a crash as it would have done before. `first` is the first effect that is not done.
 */
async function advance(ports: Work, id: string, first: StoredEffect | undefined): Promise<boolean> {
  const task = (await ports.store.getTask(id))?.task;
  const request = nextRequest(task, first);
  if (task === undefined || request === undefined) return false;
  try {
    const { decision } = await ports.submit(id, request);
    return decision.kind === "moved" || decision.kind === "stayed";
  } catch (error) {
    if (!needsPerson(error)) throw error;
    const { entry, held } = task;
    if (held !== undefined) return false;
    // A repository that has changed stays so. What else git complains about may have been a moment's.
    if (error.code !== "project.changed" && ports.failuresOf(id) < mostTries - 1) throw error;
    const action = "looking at the workspace";
    await ports.submit(id, { kind: "unsettled", entry, action, reason: reasonOf(error) });
    return false;
  }
}

/** A person has to look at the repository, or the workspace, and must be told so: nothing else would change it. */
function needsPerson(error: unknown): error is Fault {
  return error instanceof Fault && error.retry === "never" && /^(project|git|workspace)\./.test(error.code);
}

function nextRequest(task: Task | undefined, first: StoredEffect | undefined): Request | undefined {
  if (task === undefined) return undefined;
  const { entry, phase, held } = task;
  if (first?.failure !== undefined) {
    const { word, reason } = first.failure;
    if (phase === "doing") return { kind: "did", entry, word, reason };
    return held === undefined ? { kind: "unsettled", entry, action: first.effect.action, reason } : undefined;
  }
  if (phase === "entering") return { kind: "settled", entry };
  return phase === "doing" ? { kind: "did", entry, word: "ok" } : undefined;
}
