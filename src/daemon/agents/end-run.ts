import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Processes } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Terminal } from "../../ports/terminal.ts";
import type { ReportedEnd } from "./report-end.ts";
import { runMark } from "./run-environment.ts";
import { processName } from "./run-name.ts";
import type { RunWatch } from "./watch-run.ts";

export interface EndingPorts {
  readonly terminal: Terminal;
  readonly processes: Processes;
  readonly places: Places;
  /** The run is over: it is not looked after any more, and the engine is told. */
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
}

export type Ending = NonNullable<StartedRun["ending"]>;

export async function endRun(ports: EndingPorts, watch: RunWatch, ending: Ending): Promise<void> {
  await noteEnding(watch, ending);
  await killRun(ports, watch.run);
  await ports.finish(watch, ending);
}

/**
 * Comes before the end of its program: if we die meanwhile, whoever comes after us neither takes its death for one of its own
 * nor lets it go on.
 */
export async function noteEnding(watch: RunWatch, { word, reason }: Ending): Promise<void> {
  await watch.keep({ started: { ...watch.started, ending: { word, reason } } });
}

export type KillPorts = Pick<EndingPorts, "terminal" | "processes" | "places">;

/**
 * Ends the process of a run, with everything that it started. It is looked for by its recorded identity and by its mark:
 * whether its window can be reached makes no difference.
 */
export async function killRun(ports: KillPorts, run: Run): Promise<void> {
  const { started } = run;
  if (started === undefined) return;
  const { terminal, processes } = ports;
  const isSession = started.mode === "session";
  // A terminal that hangs keeps nobody alive. Of a supervisor, on the other hand, the word comes first: it notes the reason.
  if (isSession && started.process !== undefined) await sweepRun(ports, run);
  const closing = isSession ? terminal.close(started.name) : processes.kill(processName(started));
  const failure = await closing.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const hasSwept = await sweepRun(ports, run);
  // Nothing of it lives any more, if only it is known who it was.
  if (failure !== undefined && started.process === undefined && !hasSwept) throw failure.error;
}

/** Ends what lives of a run that has ended or cannot be reached, before anybody else works in its folder. */
export async function sweepRun({ processes, places }: Omit<KillPorts, "terminal">, { started }: Run): Promise<boolean> {
  return started !== undefined && (await processes.sweep(started.process, runMark(places, started.name)));
}

export interface KillerPorts extends KillPorts {
  readonly store: Store;
  readonly clock: Clock;
  isStopped(): boolean;
  track(work: Promise<unknown>): void;
  /** The run is not looked after any more; gives who did. */
  forget(run: Run): RunWatch | undefined;
  /** The program is gone. */
  ended(run: Run, watched: RunWatch | undefined): Promise<void>;
}

/** Between two tries to end a program that could not be ended. */
const killPause = 5_000;

/** Ends the programs of runs that nobody wants any more. */
export function createKiller(ports: KillerPorts) {
  const { store, clock, isStopped, track } = ports;
  /** Could not be ended, and keep their seats until they are. */
  const undead = new Set<string>();
  const close = async ({ id }: Run) => {
    const run = await store.runs.get(id);
    if (run !== undefined && run.endedAt === undefined)
      await store.runs.put({ ...run, endedAt: clock.now(), word: "killed" });
  };
  const kill = async (run: Run): Promise<void> => {
    const watched = ports.forget(run);
    await killRun(ports, run).catch((error) => {
      // Its task may go on without it, and then nobody else would try again.
      undead.add(run.id);
      clock.after(killPause, () => {
        if (undead.has(run.id) && !isStopped()) track(kill(run).then(() => close(run)));
      });
      throw error;
    });
    undead.delete(run.id);
    await ports.ended(run, watched);
  };
  return { kill, close };
}
