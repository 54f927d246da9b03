import { Fault, tell } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import { createMemo, type Turns } from "../../keyed.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { type Callers, publishAgents } from "../callers.ts";
import type { Perform } from "../perform.ts";
import type { Answer } from "../submit.ts";
import { type Ending, type KillPorts, killRun } from "./heal-run.ts";
import { superseded } from "./run-order.ts";
import type { ReportedEnd } from "./run-record.ts";
import type { RunWatch } from "./watch-run.ts";

export interface BrakePorts extends KillPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Runs that are being watched. */
  known(): readonly Run[];
  /** Records why a run is ended, so that its dead program is not taken for a crash. */
  note(run: Run, ending: Ending): Promise<void>;
  onError(error: unknown): void;
}

/** The result for one run: `problem` says why its program could not be ended, and is empty if it was. */
interface Halted {
  readonly run: Run;
  readonly problem: string;
}

/** Ends programs on a person's order. Depends on no workspace, no task file, no git and no other decision. */
export interface Brake {
  /** Whether a person is ending the run now: then nothing else judges its end. */
  isOn(run: string): boolean;
  /** Runs whose programs may be alive, watched or not. */
  runsOf(isSelected: (run: Run) => boolean): Promise<readonly Run[]>;
  /**
   * Ends the programs of all these runs in parallel, then calls `then`. Until `then` has returned, their ends are not
   * reported to the engine. A program that cannot be ended keeps no other alive.
   */
  hold<T>(runs: readonly Run[], ending: Ending, then: (halted: readonly Halted[]) => Promise<T>): Promise<T>;
  /** The same for all runs of these tasks; until `then` has returned, no program of theirs is started either. */
  holdTasks<T>(tasks: ReadonlySet<string>, ending: Ending, then: () => Promise<T>): Promise<T>;
  /**
   * Starts a program, unless a person is ending its run. If that begins while the program is being started, the program is
   * ended afterwards, because the brake could not find it; `check` throws before it is started.
   */
  unlessHeld<T>(run: Run, open: (check: () => void) => Promise<T>): Promise<T>;
  /** Resolves once no person is ending the run. */
  released(run: Pick<Run, "id" | "task">): Promise<void>;
}

/** Milliseconds that the store has to record the reason before the program is ended without it. */
const noteTimeout = 1_000;

export function createBrake(ports: BrakePorts): Brake {
  const { store, clock, known, note, onError } = ports;
  /** By the ids of runs, which contain that of their task, and of tasks. */
  const held = new Map<string, number>();
  const isHeld = ({ id, task }: Pick<Run, "id" | "task">) => held.has(id) || held.has(task);
  /** Programs that are being started; `ending` is that of the brake that came on meanwhile. */
  const starts = new Set<{ readonly run: Run; ending: Ending | undefined }>();
  const waiting = new Set<() => void>();
  const change = (ids: Iterable<string>, by: number) => {
    for (const id of ids) {
      const count = (held.get(id) ?? 0) + by;
      if (count > 0) held.set(id, count);
      else held.delete(id);
    }
  };
  const during = async <T>(ids: readonly string[], ending: Ending, then: () => Promise<T>): Promise<T> => {
    change(ids, 1);
    for (const start of starts) if (isHeld(start.run)) start.ending ??= ending;
    try {
      return await then();
    } finally {
      change(ids, -1);
      for (const look of waiting) look();
    }
  };
  const end = async (run: Run, ending: Ending): Promise<Halted> => {
    try {
      await Promise.race([
        note(run, ending).catch(onError),
        new Promise<void>((resolve) => clock.after(noteTimeout, resolve)),
      ]);
      await killRun(ports, run);
      return { run, problem: "" };
    } catch (error) {
      onError(error);
      return { run, problem: error instanceof Error ? error.message : String(error) };
    }
  };
  const runsOf: Brake["runsOf"] = async (isMeant) => {
    const recorded = await store.liveRuns().catch((error) => {
      onError(error);
      return [];
    });
    const all = new Map([...recorded, ...known()].map((run) => [run.id, run]));
    return [...all.values()].filter((run) => run.started !== undefined && isMeant(run));
  };
  const hold: Brake["hold"] = (runs, ending, then) => {
    const ids = runs.map(({ id }) => id);
    return during(ids, ending, async () => then(await Promise.all(runs.map((run) => end(run, ending)))));
  };
  return {
    isOn: (run) => held.has(run),
    runsOf,
    hold,
    holdTasks: (tasks, ending, then) =>
      during([...tasks], ending, async () => hold(await runsOf(({ task }) => tasks.has(task)), ending, then)),
    async unlessHeld(run, open) {
      if (isHeld(run)) throw superseded();
      const start = { run, ending: undefined as Ending | undefined };
      const check = () => {
        if (start.ending !== undefined) throw superseded();
      };
      starts.add(start);
      try {
        const opened = await open(check);
        if (start.ending !== undefined) await end(run, start.ending);
        check();
        return opened;
      } finally {
        starts.delete(start);
      }
    },
    released: (run) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (isHeld(run)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

export type EndedRun =
  /** Its program is gone; `answer` is the engine's decision. */
  | { readonly kind: "told"; readonly answer: Answer }
  /** Its program is gone; `problem` says why the engine could not be notified yet. */
  | { readonly kind: "ended"; readonly problem: string }
  /** Its program could not be ended. */
  | { readonly kind: "alive"; readonly problem: string };

interface EndByPersonPorts {
  readonly brake: Brake;
  readonly clock: Clock;
  readonly inTurn: Turns;
  watchOf(run: string): RunWatch | undefined;
  /** The run is over: reports it to the engine and stops watching it. */
  over(run: Run, end: ReportedEnd): Promise<Answer>;
  /** Watches the run again. */
  watch(run: Run): void;
  track(work: Promise<unknown>): void;
}

/** Milliseconds that a person who ends a run waits for the engine's decision. */
const reportTimeout = 5_000;

/** Ends a run that its task still wants: first its program, then the end is reported to the engine, which decides. */
export function endByPerson({ brake, clock, inTurn, watchOf, over, watch, track }: EndByPersonPorts) {
  return (run: Run, end: ReportedEnd): Promise<EndedRun> =>
    brake.hold([run], { reason: "", ...end }, async ([halted]) => {
      const problem = halted?.problem ?? "";
      if (problem !== "") return { kind: "alive", problem };
      const watched = watchOf(run.id);
      const told = inTurn(run.id, async (): Promise<EndedRun> => {
        try {
          await watched?.readRest();
          return { kind: "told", answer: await over(run, end) };
        } catch (error) {
          // The watch reports the end to the engine later.
          watch(watched?.run ?? run);
          return { kind: "ended", problem: error instanceof Fault ? tell(error) : String(error) };
        }
      });
      track(told);
      let cancel = () => {};
      const late = new Promise<EndedRun>((resolve) => {
        const busy = "The task is busy with another step. The daemon reports the agent's end to it afterwards.";
        cancel = clock.after(reportTimeout, () => resolve({ kind: "ended", problem: busy }));
      });
      return Promise.race([told, late]).finally(() => cancel());
    });
}

interface AwaitLoginPorts {
  readonly clock: Clock;
  end(watch: RunWatch, ending: Ending): Promise<void>;
}

/** Milliseconds between two checks of a harness's login. */
const checkInterval = 15_000;

/**
 * Restarts runs that wait for a login once a person has logged in elsewhere: programs read their login only when they
 * start. Restarts only if the login was first seen to be missing and then to be there, so that restarts cannot loop.
 */
export function createAwaitLogin({ clock, end }: AwaitLoginPorts): (watch: RunWatch) => Promise<void> {
  const looks = createMemo<string>({ maxAge: { clock, ms: checkInterval } });
  const missed = new Set<string>();
  const stateOf = ({ name, login }: Harness): Promise<string> =>
    looks.get(name, async () => (await login?.().catch(() => undefined))?.state ?? "unknown");
  return async (watch) => {
    const { run, harness, pane } = watch;
    const state = await stateOf(harness);
    if (state === "out") missed.add(run.id);
    // A person who has the window open may be logging in there.
    if (state !== "in" || !missed.has(run.id) || (pane?.watchers ?? 0) > 0) return;
    missed.delete(run.id);
    await end(watch, { word: "lost", reason: "A person has logged in." });
  };
}

interface EndAgentPorts {
  readonly places: Places;
  readonly store: Store;
  readonly clock: Clock;
  readonly callers: Pick<Callers, "revoke">;
  /** Ends the run's process; missing where the daemon starts none. */
  kill?(run: Run): Promise<void>;
  /** Closes the remaining windows of a task. */
  closeSession?(task: string): Promise<void>;
}

/** Ends one run of a task: revokes its credential first, then ends its process. */
export function killAgent(ports: EndAgentPorts): Perform {
  return ({ params: { run, role } }, { task }) =>
    endRuns(ports, task.id, (key) => (run === undefined ? roleOf(key) === role : key === run));
}

/** Ends every run of a task. */
export function killSession(ports: EndAgentPorts): Perform {
  return async (_, { task }) => {
    await endRuns(ports, task.id, () => true);
    const runs = await ports.store.runs.list({ task: task.id });
    // If no run had a window, asking the terminal would start a process for nothing.
    const hasNone = runs.length > 0 && runs.every(({ started }) => started !== undefined && started.mode !== "session");
    if (!hasNone) await ports.closeSession?.(task.id);
  };
}

/**
 * Deletes the record of folders that were lent to the task, so that their owner has them back. Does nothing without
 * any.
 */
export function returnFolders({ store, places }: Pick<EndAgentPorts, "store" | "places">): Perform {
  return async (_, { task }) => {
    for (const { id, kind } of await store.workspaces.list({ task: task.id })) {
      if (kind === "folder") await store.workspaces.remove(id);
    }
    await publishAgents({ store, places });
  };
}

async function endRuns(
  { store, places, clock, callers, kill }: EndAgentPorts,
  task: string,
  isMeant: (key: string) => boolean,
): Promise<void> {
  for (const run of await store.runs.list({ task })) {
    if (!isMeant(run.key) || run.endedAt !== undefined) continue;
    await callers.revoke(task, run.key);
    await kill?.(run);
    // `kill` may have written to the record.
    const known = (await store.runs.get(run.id)) ?? run;
    await store.runs.put({ ...known, endedAt: clock.now(), word: "killed" });
  }
  await publishAgents({ store, places });
}

function roleOf(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}
