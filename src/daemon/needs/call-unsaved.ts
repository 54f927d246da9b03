import { type Fault, tell } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Channels, Note } from "../../ports/notifier.ts";
import { type CallSettings, debounce } from "./plan-calls.ts";
import { quietUntil } from "./quiet-hours.ts";

export interface UnsavedPorts {
  readonly clock: Clock;
  /** Where calls go, as it is configured now. */
  channels(): Channels;
  settings(): CallSettings;
  onError(error: unknown): void;
}

/** Calls the person where nothing can be saved, and so no call either: what is to be remembered of it is in memory. */
export interface UnsavedCall {
  /** Why nothing can be saved now; undefined where it can again. */
  changed(fault: Fault | undefined): void;
  stop(): void;
}

/** A disk that has room and is full again within this is told of once. */
const repeatPause = 30 * 60_000;
const mostTries = 5;
const firstPause = 5_000;

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
      if (present !== undefined && tries < mostTries)
        later(firstPause * 2 ** tries, () => void tellOne(name, note, tries + 1));
    }
  };
  const call = () => {
    const { reasons, quiet, urgent } = settings();
    if (present === undefined || (reasons.length > 0 && !reasons.includes("disk"))) return;
    const now = clock.now();
    const quietEnd = urgent.includes("disk") ? undefined : quietUntil(quiet, now);
    const dueAt = Math.max(quietEnd ?? now, toldAt + repeatPause);
    if (dueAt > now) return plan(dueAt - now);
    toldAt = now;
    const note: Note = {
      ...{ title: "Signalbox can save nothing", text: `${tell(present)} → signalbox doctor` },
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
