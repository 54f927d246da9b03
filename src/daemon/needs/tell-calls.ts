import type { TaskEvent } from "../../engine/decision.ts";
import { briefNeed } from "../../engine/needs.ts";
import type { Task } from "../../engine/task.ts";
import { Fault, tell } from "../../fault.ts";
import type { CallRecord, ChannelState } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Channels, Clock, Note } from "../../ports/system.ts";

/** Delivers calls: to the history, which the event feed shows, and to every channel. */
interface Telling {
  /** Stores that these calls go out together in one note, before it is delivered. */
  begin(rows: readonly CallRecord[]): Promise<void>;
  /** Delivers to every channel whose time has come. Returns when to retry a failed one. */
  goOn(rows: readonly CallRecord[]): Promise<number | undefined>;
  /** After a start: restores the state of the channels from the stored calls. */
  recall(rows: readonly CallRecord[]): void;
  problems(): readonly { readonly channel: string; readonly problem: string; readonly at: number }[];
  /** The channels that were tried and have not delivered this call. */
  failing(row: CallRecord): readonly string[];
}

export interface TellPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** The channels that are configured now. */
  channels(): Channels;
  onError(error: unknown): void;
  put(row: CallRecord): Promise<void>;
}

/** The task's history as a channel: clients of the event feed see a call there. */
const history = "history";
/** The fault of a channel that began to deliver and timed out: the person has probably seen the note. */
const deliveredSlowly = "notifier.slow";
const maxTries = 5;
const firstRetryPause = 5_000;

export function createTelling(ports: TellPorts): Telling {
  const { store, clock } = ports;
  const troubles = new Map<string, { problem: string; at: number }>();

  /** Delivers one note through all its channels. Returns the updated rows. */
  const deliverNote = async (rows: readonly CallRecord[]): Promise<readonly CallRecord[]> => {
    const [first] = rows;
    if (first === undefined) return [];
    const called = await tasksOf(rows);
    const now = clock.now();
    const due = Object.entries(first.channels).filter(([, { state, at }]) => state === "owed" && at <= now);
    const told = await Promise.all(
      due.map(async ([name, state]) => [name, await deliverTo(name, state, called)] as const),
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
  const deliverTo = async (name: string, before: ChannelState, called: readonly Called[]): Promise<ChannelState> => {
    const now = clock.now();
    const tries = before.tries + 1;
    try {
      if (name === history) await note(called, now);
      else {
        // A channel that was removed from the configuration counts as done.
        const key = called[0]?.call.note ?? "";
        if (called.length > 0) await ports.channels().get(name)?.notify(callNote(called, key));
        troubles.delete(name);
      }
      return { state: "told", tries, at: now, problem: "" };
    } catch (error) {
      const problem = error instanceof Fault ? tell(error) : String(error);
      if (error instanceof Fault && error.code === deliveredSlowly) {
        troubles.set(name, { problem, at: now });
        return { state: "told", tries, at: now, problem };
      }
      const at = now + firstRetryPause * 2 ** before.tries;
      // Every fault is retried: a program that is missing now may be installed in a moment, and the call matters.
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
      // In parallel, so that a slow channel does not delay other notes.
      const notes = [...Map.groupBy(rows, ({ note }) => note).values()];
      for (const row of (await Promise.all(notes.map(deliverNote))).flat()) {
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

interface Called {
  readonly task: Task;
  readonly call: CallRecord;
}

/** A longer note would not be read. */
const maxLines = 8;

/** The text of a note: one task that needs the person, or several. Each task is named once, with its first need. */
function callNote(called: readonly Called[], key: string): Note {
  const tasks = [...new Map([...called].reverse().map((each) => [each.task.id, each])).values()].reverse();
  const [first] = tasks;
  const needs = tasks.map(({ task, call }) => ({
    ...{ task: task.id, name: nameOf(task), summary: task.summary },
    ...{ reason: call.reason, text: briefNeed(call), command: call.command },
  }));
  if (first !== undefined && tasks.length === 1) {
    const { task, call } = first;
    const text = [briefNeed(call), call.command].filter(Boolean).join(" → ");
    const title = `${nameOf(task)} needs you: ${task.summary}`.replace(/: $/, "");
    return { title, text, task: task.id, project: task.project, key, needs };
  }
  const causes = new Set(needs.map(({ text }) => text));
  const shown = tasks.slice(0, maxLines).map(({ task, call }) => `${nameOf(task)}: ${briefNeed(call)}`);
  const more = tasks.length > maxLines ? [`and ${tasks.length - maxLines} more`] : [];
  const [cause = ""] = causes;
  const names = tasks.slice(0, maxLines).map(({ task }) => nameOf(task));
  const what = causes.size === 1 ? `${cause} (${[...names, ...more].join(", ")})` : [...shown, ...more].join("; ");
  const projects = new Set(tasks.map(({ task }) => task.project));
  return {
    title: `${tasks.length} tasks need you`,
    text: `${what} → signalbox task list --needs-me --all`,
    task: "",
    project: projects.size === 1 ? (first?.task.project ?? "") : "",
    key,
    needs,
  };
}

function nameOf({ project, number }: Task): string {
  return `${project}#${number}`;
}

/** When the person wants no calls: from one time of the day to another, in minutes; the range may cross midnight. */
interface QuietHours {
  readonly from: number;
  readonly to: number;
}

/** `22:00-07:00`; undefined for anything else, and for an empty range. */
export function readQuietHours(text: string): QuietHours | undefined {
  const [, ...parts] = /^(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})$/.exec(text.trim()) ?? [];
  const [h1 = 24, m1 = 60, h2 = 24, m2 = 60] = parts.map(Number);
  if (h1 > 23 || m1 > 59 || h2 > 23 || m2 > 59) return undefined;
  const [from, to] = [h1 * 60 + m1, h2 * 60 + m2];
  return from === to ? undefined : { from, to };
}

/** When the current quiet hours end, in local time; undefined outside of quiet hours. */
export function quietUntil(text: string, now: number): number | undefined {
  const hours = readQuietHours(text);
  if (hours === undefined) return undefined;
  const { from, to } = hours;
  const time = new Date(now);
  const minute = time.getHours() * 60 + time.getMinutes();
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!isQuiet) return undefined;
  const end = new Date(now);
  end.setHours(Math.floor(to / 60), to % 60, 0, 0);
  if (end.getTime() <= now) end.setDate(end.getDate() + 1);
  return end.getTime();
}
