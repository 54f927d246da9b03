import type { CallRecord } from "../../ports/records.ts";
import { quietUntil } from "./quiet-hours.ts";

/** Which calls the person wants. */
export interface CallSettings {
  readonly reasons: readonly string[];
  /** `22:00-07:00`; empty for never. */
  readonly quiet: string;
  /** Reasons that count in quiet hours too. */
  readonly urgent: readonly string[];
}

/** What is to be done with calls that have not been made. */
export interface CallPlan {
  /** The person does not want to be called for these, or knows of them. */
  readonly muted: readonly CallRecord[];
  /** One note each. */
  readonly notes: readonly (readonly CallRecord[])[];
  /** When to look again; undefined where nothing waits. */
  readonly nextAt: number | undefined;
}

/** A need that goes away within this is called for by nobody. */
export const debounce = 3_000;
/** More notes than this within a minute are a storm: what comes then is told together. */
const mostNotes = 3;
const minute = 60_000;
/** Whoever is due waits this long at most for others that are about to be. */
const gathering = 10_000;
/** What is later than this was held back: by quiet hours, or because there were too many. */
const lateness = 30_000;

/**
 * Which calls go out now, and how they are put together. One cause is one note, however many tasks it holds; many at once
 * are one summary; what quiet hours held back is told together when they end. `recent`: when notes went out.
 */
export function planCalls(
  rows: readonly CallRecord[],
  settings: CallSettings,
  now: number,
  recent: readonly number[],
): CallPlan {
  const waiting = rows.filter(({ state, overAt }) => state === "waits" && overAt === undefined);
  const isDue = ({ dueAt }: CallRecord) => dueAt <= now;
  const isKnown = (row: CallRecord) => isKnownLimit(rows, row);
  const muted = waiting.filter((row) => isKnown(row) || (isDue(row) && !isWanted(settings, row.reason)));
  const wanted = waiting.filter((row) => !isKnown(row) && isWanted(settings, row.reason));
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
  // Of a burst the others are about to be due: one note says more than many.
  const others = soon.filter((at) => at <= now + debounce);
  if (others.length > 0 && now - first < gathering) return wait();
  const free = mostNotes - recent.length;
  if (free <= 0) return wait(Math.min(...recent) + minute);
  const notes = together(due, now, free);
  return { muted, notes, nextAt: wait().nextAt };
}

function together(due: readonly CallRecord[], now: number, free: number): readonly (readonly CallRecord[])[] {
  const byTask = Map.groupBy(due, ({ task }) => task);
  // All needs of a task go with its first one.
  const causes = Map.groupBy(byTask.values(), ([first]) => `${first?.reason}\n${first?.text}`);
  const notes = [...causes.values()].map((tasks) => tasks.flat());
  const isLate = due.some(({ dueAt }) => now - dueAt > lateness);
  return notes.length > free || isLate ? [due] : notes;
}

/** Of a limit the person hears once, however many tasks come to wait for its end later. */
function isKnownLimit(rows: readonly CallRecord[], { reason, text }: CallRecord): boolean {
  const isTold = ({ state, overAt }: CallRecord) => state !== "waits" && overAt === undefined;
  return reason === "limit" && rows.some((row) => row.reason === reason && row.text === text && isTold(row));
}

function isWanted({ reasons }: CallSettings, reason: string): boolean {
  return reasons.length === 0 || reasons.includes(reason);
}
