import type { Need } from "../../engine/needs.ts";
import type { Task } from "../../engine/task.ts";
import type { CallRecord } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { createTurns } from "../turns.ts";
import { type CallSettings, debounce, planCalls } from "./plan-calls.ts";
import { createTelling, type TellPorts } from "./tell-calls.ts";

/** Calls the person once whenever a task begins to need one. */
export interface Calls {
  /** What a task needs now. What is new is stored as a call before anybody is called. */
  found(stored: StoredTask, needs: readonly Need[]): Promise<void>;
  /** A task has changed. One that is not held any more may be held again before anybody looks. */
  heard(task: Task): void;
  /** Since when needs are known that are there already, by key. */
  known(task: string): ReadonlyMap<string, number>;
  forgot(task: string): void;
  /** What is wrong with each channel; those that are fine are not in it. */
  problems(): readonly { readonly channel: string; readonly problem: string; readonly at: number }[];
  /** The tasks that still need a person whom a channel did not reach, by channel. */
  undelivered(): ReadonlyMap<string, readonly string[]>;
  /** After a start: takes up what an earlier daemon had stored. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export interface CallPorts extends Omit<TellPorts, "put"> {
  settings(): CallSettings;
}

/** A need that comes back is called for again, but no sooner than this after the last time. */
const repeatPause = 5 * 60_000;
/** After a start agents are looked at anew: until then nobody can tell that one has stopped to need a person. */
const grace = 30_000;
/** Timers reach no further. */
const longestTimer = 2 ** 31 - 1;

/** What a held task is called for. */
const heldReasons = ["held", "effect", "budget", "agent"];

export function createCalls(ports: CallPorts): Calls {
  const { store, clock } = ports;
  const rows = new Map<string, CallRecord>();
  const inTurn = createTurns();
  /** What was held, and was let go since it was last looked at. */
  const letGo = new Set<string>();
  const telling = createTelling({ ...ports, put: (row) => keepUp(row) });
  /** Calls for agents that were not seen to need a person since the start; until the grace is over that says nothing. */
  const unsure = new Set<string>();
  let cancel = () => {};
  let cancelGrace = () => {};
  let isStopped = false;
  let isGrace = false;
  let ending: Promise<void> | undefined;
  let underWay: Promise<void> | undefined;
  let isAgain = false;
  let recent: readonly number[] = [];

  const put = async (row: CallRecord) => {
    await store.calls.put(row);
    rows.set(row.id, row);
  };
  /** What has happened to the need while somebody was being told stays so. */
  const keepUp = async (row: CallRecord) => {
    const now = rows.get(row.id);
    if (now === undefined || now.episode !== row.episode) return;
    await put(now.overAt === undefined ? row : { ...row, overAt: now.overAt, state: "called" });
  };
  const drop = async (id: string) => {
    await store.calls.remove(id);
    rows.delete(id);
  };
  const ofTask = (task: string) => [...rows.values()].filter((row) => row.task === task);

  const begin = async ({ task }: StoredTask, need: Need) => {
    const { key, reason, text, command, since } = need;
    const now = clock.now();
    const before = rows.get(key);
    const isBack = letGo.delete(key);
    if (before !== undefined && before.overAt === undefined && !isBack) {
      const isNew = before.text !== text || before.command !== command;
      if (before.state === "waits" && isNew) await put({ ...before, text, command });
      return;
    }
    const dueAt = Math.max(now + debounce, (before?.calledAt ?? Number.NEGATIVE_INFINITY) + repeatPause);
    const { id: owner, project } = task;
    await put({
      ...{ id: key, project, task: owner, at: before === undefined ? since : now, reason, text, command },
      ...{ state: "waits", dueAt, episode: (before?.episode ?? 0) + 1, note: "", channels: {} },
      ...(before?.calledAt === undefined ? {} : { calledAt: before.calledAt }),
    });
  };
  const end = async (row: CallRecord) => {
    if (row.overAt !== undefined) return;
    if (row.reason === "agent" && isGrace) return void unsure.add(row.id);
    if (row.state === "waits" && row.calledAt === undefined) await drop(row.id);
    else await put({ ...row, overAt: clock.now(), state: "called" });
  };

  /** The grace is over: who was not found again by now needs nobody any more. */
  const endUnsure = async () => {
    isGrace = false;
    for (const id of unsure) {
      await inTurn(rows.get(id)?.task ?? "", async () => {
        const row = unsure.has(id) ? rows.get(id) : undefined;
        if (row !== undefined) await end(row);
        unsure.delete(id);
      });
    }
  };
  const endUnsureIn = (pause: number) => {
    if (isStopped) return;
    cancelGrace = clock.after(pause, () => {
      ending = endUnsure().then(wake, (error) => {
        ports.onError(error);
        endUnsureIn(debounce);
      });
    });
  };

  /** Calls whoever is due, and says when there is more to do. */
  const goOn = async (): Promise<number | undefined> => {
    const now = clock.now();
    const { settings } = ports;
    recent = recent.filter((at) => now - at < 60_000 && at <= now);
    const sure = [...rows.values()].filter(({ id }) => !unsure.has(id));
    const plan = planCalls(sure, settings(), now, recent);
    for (const row of plan.muted) await put({ ...row, state: "called", calledAt: now });
    for (const together of plan.notes) {
      recent = [...recent, now];
      await telling.begin(together);
    }
    const retryAt = await telling.goOn([...rows.values()].filter(({ state }) => state === "calling"));
    const next = [plan.nextAt, retryAt].filter((at) => at !== undefined);
    return next.length === 0 ? undefined : Math.min(...next);
  };
  const wake = () => {
    if (isStopped) return;
    cancel();
    isAgain = underWay !== undefined;
    if (isAgain) return;
    underWay = goOn()
      .catch((error) => {
        ports.onError(error);
        return clock.now() + debounce;
      })
      .then((at) => {
        underWay = undefined;
        if (isAgain) return wake();
        if (at === undefined || isStopped) return;
        cancel = clock.after(Math.min(Math.max(at - clock.now(), 0), longestTimer), wake);
      });
  };

  return {
    found: (stored, all) =>
      inTurn(stored.task.id, async () => {
        // Where nothing can be saved the person is called without anything being saved.
        const needs = all.filter(({ reason }) => reason !== "disk");
        const { id } = stored.task;
        const keys = new Set(needs.map(({ key }) => key));
        let hasChanged = false;
        for (const need of stored.isOpen ? needs : []) {
          const before = rows.get(need.key);
          await begin(stored, need);
          const wasUnsure = unsure.delete(need.key);
          hasChanged ||= wasUnsure || rows.get(need.key) !== before;
        }
        for (const row of ofTask(id)) {
          if (!stored.isOpen) await drop(row.id);
          else if (!keys.has(row.id)) await end(row);
        }
        if (hasChanged) wake();
      }),
    heard({ id, entry, held }) {
      if (held !== undefined) return;
      for (const reason of heldReasons) if (rows.has(`${id}:${entry}:${reason}`)) letGo.add(`${id}:${entry}:${reason}`);
    },
    known: (task) => new Map(ofTask(task).flatMap((row) => (row.overAt === undefined ? [[row.id, row.at]] : []))),
    forgot(task) {
      for (const { id } of ofTask(task)) rows.delete(id);
    },
    problems: telling.problems,
    undelivered() {
      const pairs = [...rows.values()].flatMap((row) =>
        row.overAt === undefined ? telling.failing(row).map((channel) => ({ channel, task: row.task })) : [],
      );
      const byChannel = [...Map.groupBy(pairs, ({ channel }) => channel)];
      return new Map(byChannel.map(([channel, all]) => [channel, [...new Set(all.map(({ task }) => task))]]));
    },
    async recover() {
      const startedAt = clock.now();
      isGrace = true;
      for (const row of await store.calls.list({})) {
        // While we were away nobody could tell that a need has gone: what was due is due again, after a moment.
        const dueAt = row.state === "waits" ? Math.max(row.dueAt, startedAt + debounce) : row.dueAt;
        rows.set(row.id, { ...row, dueAt });
      }
      telling.recall([...rows.values()]);
      endUnsureIn(grace);
      wake();
    },
    async stop() {
      isStopped = true;
      cancel();
      cancelGrace();
      await ending;
      await underWay;
    },
  };
}
