import type { Need } from "../../engine/needs.ts";
import type { Task } from "../../engine/task.ts";
import { type Fault, tell } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { CallRecord } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Channels, Clock, Note } from "../../ports/system.ts";
import { createTelling, quietUntil, type TellPorts } from "./tell-calls.ts";

/** Calls the person once whenever a task begins to need one. */
export interface Calls {
  /** The current needs of a task. A new need is stored as a call before the call is made. */
  found(stored: StoredTask, needs: readonly Need[]): Promise<void>;
  /** A task has changed. A task that was released may be held again before the next check. */
  heard(task: Task): void;
  /** Since when each known need exists, by key. */
  known(task: string): ReadonlyMap<string, number>;
  forgot(task: string): void;
  /** The problem of each channel that has one. */
  problems(): readonly { readonly channel: string; readonly problem: string; readonly at: number }[];
  /** The tasks that still need a person and whose call a channel did not deliver, by channel. */
  undelivered(): ReadonlyMap<string, readonly string[]>;
  /** After a start: continues the stored calls of an earlier daemon. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

interface CallPorts extends Omit<TellPorts, "put"> {
  settings(): CallSettings;
  /** Whether a chat has asked the person already; missing where there are no chats. */
  hasAsked?(row: CallRecord): boolean;
}

/** A need that comes back causes another call, but no sooner than this after the last one. */
const repeatInterval = 5 * 60_000;
/** After a start every agent is checked again; until then a missing need of an agent proves nothing. */
const grace = 30_000;
/** The longest delay that a timer supports. */
const maxTimer = 2 ** 31 - 1;

/** The reasons of calls for a held task. */
const heldReasons = ["held", "effect", "budget", "agent"];

export function createCalls(ports: CallPorts): Calls {
  const { store, clock } = ports;
  const rows = new Map<string, CallRecord>();
  const inTurn = createTurns();
  /** Calls of tasks that were held, and were released since the last check. */
  const letGo = new Set<string>();
  const telling = createTelling({ ...ports, put: (row) => keepUp(row) });
  /** Calls for agents whose need was not seen again since the start; they are kept until the grace period is over. */
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
  /** If the need has ended while its call was being made, it stays ended. */
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
    const dueAt = Math.max(now + debounce, (before?.calledAt ?? Number.NEGATIVE_INFINITY) + repeatInterval);
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

  /** The grace period is over: a need that was not seen again has ended. */
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

  /** Makes the calls that must go out now. Returns when to continue. */
  const makeCalls = async (): Promise<number | undefined> => {
    const now = clock.now();
    const { settings } = ports;
    recent = recent.filter((at) => now - at < 60_000 && at <= now);
    const sure = [...rows.values()].filter(({ id }) => !unsure.has(id));
    const plan = planCalls(sure, settings(), now, recent, ports.hasAsked ?? (() => false));
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
    underWay = makeCalls()
      .catch((error) => {
        ports.onError(error);
        return clock.now() + debounce;
      })
      .then((at) => {
        underWay = undefined;
        if (isAgain) return wake();
        if (at === undefined || isStopped) return;
        cancel = clock.after(Math.min(Math.max(at - clock.now(), 0), maxTimer), wake);
      });
  };

  return {
    found: (stored, all) =>
      inTurn(stored.task.id, async () => {
        // Calls for an unsaved store are made by `createUnsavedCall`, which saves nothing.
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
        // A need may have ended while no daemon was running, so calls wait for a moment before they go out.
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

/** Which calls the person wants. */
interface CallSettings {
  readonly reasons: readonly string[];
  /** `22:00-07:00`; empty for never. */
  readonly quiet: string;
  /** Reasons that cause calls in quiet hours too. */
  readonly urgent: readonly string[];
}

/** What to do with the calls that were not made yet. */
interface CallPlan {
  /** The person does not want these calls, or has had one for the same cause. */
  readonly muted: readonly CallRecord[];
  /** One note each. */
  readonly notes: readonly (readonly CallRecord[])[];
  /** When to plan again; undefined where nothing waits. */
  readonly nextAt: number | undefined;
}

/** A need that ends within this time causes no call. */
const debounce = 3_000;
/** More notes than this within a minute are a storm: the following calls are put into one note. */
const maxNotes = 3;
const minute = 60_000;
/** A call waits at most this long for others that follow soon. */
const maxGathering = 10_000;
/** A call that is later than this was held back by quiet hours or a storm. */
const maxDelay = 30_000;

/**
 * Decides which calls go out now, and how they are grouped. One cause is one note, however many tasks it holds up; many
 * calls together are one summary; calls that quiet hours held back go out together when they end. `recent`: when notes
 * went out.
 */
function planCalls(
  rows: readonly CallRecord[],
  settings: CallSettings,
  now: number,
  recent: readonly number[],
  hasAsked: (row: CallRecord) => boolean,
): CallPlan {
  const waiting = rows.filter(({ state, overAt }) => state === "waits" && overAt === undefined);
  const isDue = ({ dueAt }: CallRecord) => dueAt <= now;
  const isKnown = (row: CallRecord) => isKnownLimit(rows, row);
  const isMuted = (row: CallRecord) => !isWanted(settings, row.reason) || hasAsked(row);
  const muted = waiting.filter((row) => isKnown(row) || (isDue(row) && isMuted(row)));
  const wanted = waiting.filter((row) => !isKnown(row) && !isMuted(row));
  const quietEnd = quietUntil(settings.quiet, now);
  const isQuiet = ({ reason }: CallRecord) => quietEnd !== undefined && !settings.urgent.includes(reason);
  const due = wanted.filter((row) => isDue(row) && !isQuiet(row));
  const soon = wanted.filter((row) => !isDue(row) && !isQuiet(row)).map(({ dueAt }) => dueAt);
  const later = [...soon, ...(quietEnd !== undefined && wanted.some(isQuiet) ? [quietEnd] : [])];
  const wait = (at?: number): CallPlan => {
    const all = at === undefined ? later : [...later, at];
    return { muted, notes: [], nextAt: all.length === 0 ? undefined : Math.min(...all) };
  };
  if (due.length === 0) return wait();
  const first = Math.min(...due.map(({ dueAt }) => dueAt));
  // In a burst more calls follow soon: one note says more than many.
  const others = soon.filter((at) => at <= now + debounce);
  if (others.length > 0 && now - first < maxGathering) return wait();
  const free = maxNotes - recent.length;
  if (free <= 0) return wait(Math.min(...recent) + minute);
  const notes = together(due, now, free);
  return { muted, notes, nextAt: wait().nextAt };
}

function together(due: readonly CallRecord[], now: number, free: number): readonly (readonly CallRecord[])[] {
  const byTask = Map.groupBy(due, ({ task }) => task);
  // All needs of a task go into the note of its first one.
  const causes = Map.groupBy(byTask.values(), ([first]) => `${first?.reason}\n${first?.text}`);
  const notes = [...causes.values()].map((tasks) => tasks.flat());
  const isLate = due.some(({ dueAt }) => now - dueAt > maxDelay);
  return notes.length > free || isLate ? [due] : notes;
}

/** A limit causes one call, however many tasks wait for its end later. */
function isKnownLimit(rows: readonly CallRecord[], { reason, text }: CallRecord): boolean {
  const isTold = ({ state, overAt }: CallRecord) => state !== "waits" && overAt === undefined;
  return reason === "limit" && rows.some((row) => row.reason === reason && row.text === text && isTold(row));
}

function isWanted({ reasons }: CallSettings, reason: string): boolean {
  return reasons.length === 0 || reasons.includes(reason);
}

interface UnsavedPorts {
  readonly clock: Clock;
  /** The channels that are configured now. */
  channels(): Channels;
  settings(): CallSettings;
  onError(error: unknown): void;
}

/** Calls the person where nothing can be saved. Such a call cannot be saved either, so its state is in memory. */
interface UnsavedCall {
  /** Why nothing can be saved now; undefined once it can again. */
  changed(fault: Fault | undefined): void;
  stop(): void;
}

/** A disk that has room and is full again within this time causes one call. */
const unsavedRepeatInterval = 30 * 60_000;
const maxTries = 5;
const firstRetryPause = 5_000;

export function createUnsavedCall({ clock, channels, settings, onError }: UnsavedPorts): UnsavedCall {
  let present: Fault | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  const retries = new Set<() => void>();
  const stop = () => {
    present = undefined;
    cancel();
    for (const each of retries) each();
    retries.clear();
  };
  const later = (milliseconds: number, work: () => void) => {
    const drop = clock.after(milliseconds, () => {
      retries.delete(drop);
      work();
    });
    retries.add(drop);
  };
  const tellOne = async (name: string, note: Note, tries: number): Promise<void> => {
    try {
      await channels().get(name)?.notify(note);
    } catch (error) {
      onError(error);
      if (present !== undefined && tries < maxTries)
        later(firstRetryPause * 2 ** tries, () => void tellOne(name, note, tries + 1));
    }
  };
  const call = () => {
    const { reasons, quiet, urgent } = settings();
    if (present === undefined || (reasons.length > 0 && !reasons.includes("disk"))) return;
    const now = clock.now();
    const quietEnd = urgent.includes("disk") ? undefined : quietUntil(quiet, now);
    const dueAt = Math.max(quietEnd ?? now, toldAt + unsavedRepeatInterval);
    if (dueAt > now) return plan(dueAt - now);
    toldAt = now;
    const note: Note = {
      ...{ title: "Signalbox cannot save anything", text: `${tell(present)} → signalbox doctor` },
      ...{ task: "", project: "", key: `disk~${now}` },
    };
    for (const name of channels().keys()) void tellOne(name, note, 0);
  };
  const plan = (milliseconds: number) => {
    cancel();
    cancel = clock.after(milliseconds, call);
  };
  return {
    changed(fault) {
      if (fault === undefined) return stop();
      const isNew = present === undefined;
      present = fault;
      if (isNew) plan(debounce);
    },
    stop,
  };
}
