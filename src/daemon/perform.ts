import { actions } from "../engine/actions/index.ts";
import type { Effect } from "../engine/decision.ts";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
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
  /** Looks at what is owed now; a task that was just changed may have to go on by itself. */
  wake(task?: string): void;
  /** After a start: lets every open task go on from where it was left. */
  recover(): Promise<void>;
  /** Takes nothing new on, and waits for what is under way. */
  stop(): Promise<void>;
}

export interface PerformPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  readonly performers: Performers;
  /** Something nobody foresaw. */
  onError(error: unknown, effect: StoredEffect | undefined): void;
}

const pageSize = 200;
/** How often an effect that may work later is tried before a person is asked, and how long the first pause is. */
const mostTries = 6;
const firstPause = 1_000;

/**
 * Carries out what tasks owe: in order per task, tasks side by side. What was under way when the process died is still
 * owed and is carried out again.
 */
export function createPerformer(ports: PerformPorts): Performer {
  const { store, clock } = ports;
  const busy = new Map<string, Promise<void>>();
  const touched = new Set<string>();
  let stopped = false;
  let looking: Promise<void> | undefined;
  let again = false;
  let cancelTimer = () => {};

  /** One thing at a time per task. */
  const start = (task: string, work: () => Promise<void>, effect?: StoredEffect) => {
    const done = work()
      .catch((error) => ports.onError(error, effect))
      .finally(() => {
        busy.delete(task);
        wake();
      });
    busy.set(task, done);
  };

  const look = async () => {
    for (const task of [...touched]) {
      if (stopped || busy.has(task)) continue;
      touched.delete(task);
      start(task, () => advance(store, ports.submit, task));
    }
    for (const each of await store.dueEffects(clock.now(), pageSize)) {
      if (!stopped && !busy.has(each.task)) start(each.task, () => performOne(ports, each), each);
    }
    const next = await store.nextDue(clock.now());
    cancelTimer();
    if (next !== undefined && !stopped) cancelTimer = clock.after(next - clock.now(), wake);
  };

  const wake = (task?: string) => {
    if (task !== undefined) touched.add(task);
    if (stopped) return;
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look()
      .catch((error) => ports.onError(error, undefined))
      .finally(() => {
        looking = undefined;
        if (again) {
          again = false;
          wake();
        }
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
        for (const { task } of page) touched.add(task.id);
        before = page.at(-1)?.order;
        if (before === undefined) break;
      }
      wake();
    },
    async stop() {
      stopped = true;
      cancelTimer();
      await looking;
      await Promise.all(busy.values());
    },
  };
}

async function performOne(ports: PerformPorts, owed: StoredEffect): Promise<void> {
  const { store, clock, performers } = ports;
  const stored = await store.getTask(owed.task);
  if (stored === undefined) return;
  const perform = performers[owed.effect.action] ?? unavailable;
  try {
    await perform(owed.effect, { task: stored.task, key: `${owed.task}:${owed.id}` });
    await store.finishEffect(owed.id, clock.now());
  } catch (error) {
    await noteFailure(ports, owed, stored.task, error);
  }
  await advance(store, ports.submit, owed.task);
}

async function unavailable(effect: Effect): Promise<void> {
  throw new Fault("effect.unavailable", `"${effect.action}" is not available in this version yet.`);
}

/** What may work later is tried again for a while. What nothing depends on is noted, and the task goes on. */
async function noteFailure(
  { store, clock }: PerformPorts,
  owed: StoredEffect,
  task: Task,
  error: unknown,
): Promise<void> {
  const { action } = owed.effect;
  const reason = error instanceof Error ? error.message : String(error);
  const word = error instanceof Fault && Object.hasOwn(actions[action]?.words ?? {}, error.code) ? error.code : "error";
  const isHopeful = error instanceof Fault && error.retry === "later" && owed.tries + 1 < mostTries;
  if (isHopeful) return store.failEffect(owed.id, { word, reason }, clock.now() + firstPause * 2 ** owed.tries);
  if (actions[action]?.holds !== false || task.phase === "doing") return store.failEffect(owed.id, { word, reason });
  await store.addEvents(
    owed.task,
    [{ type: "effect.failed", by: "engine", data: { action, reason }, set: {} }],
    clock.now(),
  );
  await store.finishEffect(owed.id, clock.now());
}

/**
 * Tells the engine what follows from what a task owes. It only looks at what is stored, so that it does the same after a
 * crash as it would have done before.
 */
export async function advance(store: Store, submit: Submit, id: string): Promise<void> {
  const stored = await store.getTask(id);
  if (stored === undefined) return;
  const { entry, phase, held } = stored.task;
  const [first] = await store.openEffects(id);
  if (first?.state === "owed") return;
  if (first?.failure !== undefined) {
    const { word, reason } = first.failure;
    if (phase === "doing") await submit(id, { kind: "did", entry, word, reason });
    else if (held === undefined) await submit(id, { kind: "unsettled", entry, action: first.effect.action, reason });
  } else if (phase === "entering") await submit(id, { kind: "settled", entry });
  else if (phase === "doing") await submit(id, { kind: "did", entry, word: "ok" });
}
