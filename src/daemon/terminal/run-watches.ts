import type { HolderView, TerminalMessage } from "../../api/terminal.ts";
import { Fault } from "../../fault.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Screen, ScreenWatch } from "../../ports/terminal.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { createOutputText, type OutputText, type ReadPart } from "./output-text.ts";

/** Somebody who watches a run. */
export interface Watcher {
  /** The screen or the output is another now. */
  changed(): void;
  tell(message: TerminalMessage): void;
}

/** One run that is watched, however many watch it. */
export interface RunWatch {
  run(): Run;
  /** Undefined while it is not known; null while there is no window. */
  screen(): Screen | null | undefined;
  /** Of a run without a terminal. */
  readonly output: OutputText | undefined;
  /** Of a run with one. */
  readonly terminal: Pick<ScreenWatch, "readAbove"> | undefined;
  holds(watcher: Watcher): boolean;
  /** Throws if another watcher has control, unless it is taken over. */
  take(watcher: Watcher, how: { readonly as: string; readonly force: boolean }): void;
  release(watcher: Watcher): void;
  /** Sizes the window, until control is released. */
  resize(size: { readonly columns: number; readonly rows: number } | undefined): Promise<void>;
  /** Looks at the run's record again. */
  look(): Promise<void>;
  leave(watcher: Watcher): void;
}

export interface RunWatches {
  join(run: Run & { readonly started: StartedRun }, watcher: Watcher): RunWatch;
}

type WatchPorts = Pick<Core, "store" | "clock" | "eventFeed" | "agents" | "log"> & {
  readOutput(run: Run): ReadPart;
};

/** Keeps one reader for each run that is watched. */
export function createRunWatches(ports: WatchPorts): RunWatches {
  const all = new Map<string, ReturnType<typeof createRunWatch>>();
  return {
    join(run, watcher) {
      const found = all.get(run.id) ?? createRunWatch(ports, run, () => all.delete(run.id));
      all.set(run.id, found);
      found.add(watcher);
      return found;
    },
  };
}

/** The record of a run may be written after the event that tells of it. */
const lookAgain = 500;

function createRunWatch(ports: WatchPorts, first: Run & { readonly started: StartedRun }, forget: () => void) {
  const { store, clock, eventFeed, agents, log } = ports;
  const watchers = new Set<Watcher>();
  const isSession = first.started.mode === "session";
  let run: Run = first;
  let screen: Screen | null | undefined;
  let watch: ScreenWatch | undefined;
  let watched = "";
  let holder: { readonly watcher: Watcher; readonly view: HolderView } | undefined;
  let isSized = false;
  let isOver = first.endedAt !== undefined;
  let next = "";
  let isClosed = false;
  let cancelLook = () => {};
  let stopFeed = () => {};
  /** Keeps the program from being put to sleep, while a watcher has control. */
  let stopAttending = () => {};

  const changed = () => {
    for (const watcher of watchers) watcher.changed();
  };
  const failed = (error: unknown) => {
    if (!isClosed) log.warn("A watched run could not be read", { run: run.id, error });
  };
  /** A run that was woken up has another window. */
  const openScreen = () => {
    const name = run.started?.name ?? "";
    if (!isSession || name === watched) return;
    watch?.close();
    watched = name;
    watch = agents?.ports.terminal.watchScreen?.(name, (seen) => {
      screen = seen ?? null;
      changed();
    });
  };
  const output = isSession
    ? undefined
    : createOutputText({ clock, changed, failed, read: (from) => ports.readOutput(run)(from) });

  const look = async () => {
    const runs = (await store.runs.list({ task: run.task })).filter(({ started }) => started !== undefined);
    if (isClosed) return;
    run = runs.find(({ id }) => id === run.id) ?? run;
    openScreen();
    if (run.endedAt !== undefined && !isOver) {
      isOver = true;
      output?.end();
      release();
      for (const watcher of watchers) watcher.tell(endMessage(run));
    }
    const other = runs.findLast(({ id, endedAt }) => endedAt === undefined && id !== run.id);
    if (other === undefined || other.key === next) return;
    next = other.key;
    for (const watcher of watchers) watcher.tell({ type: "next", run: other.key, role: other.role });
  };
  const lookSoon = () => {
    look().catch(failed);
    cancelLook();
    cancelLook = clock.after(lookAgain, () => void look().catch(failed));
  };
  const tellControl = () => {
    for (const watcher of watchers) watcher.tell(controlMessage(watcher));
  };
  const controlMessage = (watcher: Watcher): TerminalMessage => ({
    ...{ type: "control", holder: holder?.view ?? null },
    isYours: holder?.watcher === watcher,
  });
  const returnSize = () => {
    if (!isSized) return;
    isSized = false;
    watch?.resize(undefined).catch(failed);
  };
  const release = (by = holder?.watcher) => {
    if (holder === undefined || holder.watcher !== by) return;
    holder = undefined;
    stopAttending();
    returnSize();
    tellControl();
  };

  openScreen();
  const stopAgents =
    agents?.follow((id) => {
      if (id === run.id) lookSoon();
    }) ?? (() => {});
  void store.lastEvent().then((last) => {
    if (isClosed) return;
    stopFeed = eventFeed.follow(
      last,
      ({ task }) => task === run.task,
      () => {
        lookSoon();
        return true;
      },
    ).end;
    lookSoon();
  }, failed);

  return {
    run: () => run,
    screen: () => screen,
    output,
    terminal: isSession
      ? { readAbove: (skip: number, count: number) => watch?.readAbove(skip, count) ?? Promise.resolve([]) }
      : undefined,
    add(watcher: Watcher) {
      watchers.add(watcher);
      const { key, role, harness } = run;
      watcher.tell({ type: "run", run: key, role, harness, source: isSession ? "screen" : "output" });
      watcher.tell(controlMessage(watcher));
      if (isOver) watcher.tell(endMessage(run));
      const known = next === "" || next === key ? undefined : next;
      if (known !== undefined) watcher.tell({ type: "next", run: known, role: known.slice(0, known.indexOf("#")) });
      watcher.changed();
    },
    holds: (watcher: Watcher) => holder?.watcher === watcher,
    take(watcher: Watcher, { as, force }: { readonly as: string; readonly force: boolean }) {
      if (holder !== undefined && holder.watcher !== watcher && !force) throw held(holder.view);
      if (holder?.watcher !== watcher) returnSize();
      if (holder === undefined) stopAttending = agents?.attend(run.id) ?? (() => {});
      holder = { watcher, view: { as, since: isoTime(clock.now()) } };
      tellControl();
    },
    release,
    async resize(size: { readonly columns: number; readonly rows: number } | undefined) {
      if (size === undefined) return returnSize();
      await watch?.resize(size);
      isSized = true;
      // Control may have been released in the meantime.
      if (holder === undefined) returnSize();
    },
    look,
    leave(watcher: Watcher) {
      watchers.delete(watcher);
      release(watcher);
      if (watchers.size > 0 || isClosed) return;
      isClosed = true;
      forget();
      cancelLook();
      stopFeed();
      stopAgents();
      output?.end();
      watch?.close();
    },
  };
}

function endMessage({ key, word, error = "", endedAt = 0 }: Run): TerminalMessage {
  return { type: "end", run: key, word, why: error, at: isoTime(endedAt) };
}

function held({ as, since }: HolderView): Fault {
  return new Fault("terminal.held", `${as} has had control since ${since}.`, {
    hint: "Take it over with force, or wait until it is released.",
  });
}
