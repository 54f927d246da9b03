import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { Fault, tell } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Channels } from "../../ports/notifier.ts";
import type { CallRecord, ChannelState } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { type Called, callNote } from "./call-note.ts";

/** Carries calls out: to history, where the bell hears of them, and to every channel. */
export interface Telling {
  /** Stores that these are told together from now on, before anybody is told. */
  begin(rows: readonly CallRecord[]): Promise<void>;
  /** Tells every channel that is due. Gives the time at which one is to be tried again. */
  goOn(rows: readonly CallRecord[]): Promise<number | undefined>;
  /** After a start: what is known of the channels from what is stored. */
  recall(rows: readonly CallRecord[]): void;
  problems(): readonly { readonly channel: string; readonly problem: string; readonly at: number }[];
  /** The channels that have not told this call although they were tried. */
  failing(row: CallRecord): readonly string[];
}

export interface TellPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Where calls go, as it is configured now. */
  channels(): Channels;
  onError(error: unknown): void;
  put(row: CallRecord): Promise<void>;
}

/** The task's history, as a channel: what follows events hears of a call there. */
const history = "history";
/** What a channel says that has begun to tell the person and did not come to an end: the person has heard of it. */
const toldSlowly = "notifier.slow";
const maxTries = 5;
const firstPause = 5_000;

export function createTelling(ports: TellPorts): Telling {
  const { store, clock } = ports;
  const troubles = new Map<string, { problem: string; at: number }>();

  /** One note in all its channels; gives the rows as they are then. */
  const tellNote = async (rows: readonly CallRecord[]): Promise<readonly CallRecord[]> => {
    const [first] = rows;
    if (first === undefined) return [];
    const called = await tasksOf(rows);
    const now = clock.now();
    const due = Object.entries(first.channels).filter(([, { state, at }]) => state === "owed" && at <= now);
    const told = await Promise.all(
      due.map(async ([name, state]) => [name, await tellOne(name, state, called)] as const),
    );
    const channels = { ...first.channels, ...Object.fromEntries(told) };
    const isOver = Object.values(channels).every(({ state }) => state !== "owed");
    return rows.map((row) => ({ ...row, channels, state: isOver ? "called" : "calling" }));
  };
  const tasksOf = async (rows: readonly CallRecord[]): Promise<readonly Called[]> => {
    const found: Called[] = [];
    for (const call of rows) {
      const task: Task | undefined = (await store.getTask(call.task))?.task;
      if (task !== undefined) found.push({ task, call });
    }
    return found;
  };
  const tellOne = async (name: string, before: ChannelState, called: readonly Called[]): Promise<ChannelState> => {
    const now = clock.now();
    const tries = before.tries + 1;
    try {
      if (name === history) await note(called, now);
      else {
        // One that was taken out of the configuration is not missed.
        const key = called[0]?.call.note ?? "";
        if (called.length > 0) await ports.channels().get(name)?.notify(callNote(called, key));
        troubles.delete(name);
      }
      return { state: "told", tries, at: now, problem: "" };
    } catch (error) {
      const problem = error instanceof Fault ? tell(error) : String(error);
      if (error instanceof Fault && error.code === toldSlowly) {
        troubles.set(name, { problem, at: now });
        return { state: "told", tries, at: now, problem };
      }
      const at = now + firstPause * 2 ** before.tries;
      // Whatever it was: a program that is not there now may be there in a moment, and a person waits to be called.
      const isHopeful = name === history || tries < maxTries;
      if (name === history) ports.onError(error);
      else troubles.set(name, { problem, at: now });
      return { state: isHopeful ? "owed" : "failed", tries, at: isHopeful ? at : now, problem };
    }
  };
  const note = async (called: readonly Called[], now: number) => {
    for (const { task, call } of called) {
      const { reason, text, command, note, at } = call;
      const data = { reason, text, command, call: note, tasks: new Set(called.map(({ task }) => task.id)).size };
      const since = new Date(at).toISOString();
      const event: TaskEvent = { type: "person.called", by: "engine", data: { ...data, since }, set: {} };
      await store.addEvents(task.id, [event], now);
    }
  };

  return {
    async begin(rows) {
      const [first] = rows;
      const now = clock.now();
      const names = [history, ...ports.channels().keys()];
      const owed: ChannelState = { state: "owed", tries: 0, at: now, problem: "" };
      const channels = Object.fromEntries(names.map((name) => [name, owed]));
      const more = rows.length > 1 ? `+${rows.length - 1}` : "";
      const key = `${first?.id}~${first?.episode}${more}`;
      for (const row of rows) await ports.put({ ...row, state: "calling", note: key, calledAt: now, channels });
    },
    async goOn(rows) {
      let next: number | undefined;
      // Side by side: a channel that takes long keeps no other note waiting.
      const notes = [...Map.groupBy(rows, ({ note }) => note).values()];
      for (const row of (await Promise.all(notes.map(tellNote))).flat()) {
        await ports.put(row);
        for (const { state, at } of Object.values(row.channels)) if (state === "owed") next = Math.min(next ?? at, at);
      }
      return next;
    },
    recall(rows) {
      const tried = rows.flatMap(({ channels }) => Object.entries(channels)).filter(([, { tries }]) => tries > 0);
      for (const [name, { problem, at }] of tried.sort(([, a], [, b]) => a.at - b.at)) {
        if (problem === "") troubles.delete(name);
        else if (name !== history) troubles.set(name, { problem, at });
      }
    },
    failing: ({ channels }) =>
      Object.entries(channels).flatMap(([name, { state, tries }]) =>
        name !== history && state !== "told" && tries > 0 ? [name] : [],
      ),
    problems: () => [...troubles].map(([channel, trouble]) => ({ channel, ...trouble })),
  };
}
