import { Fault, tell } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Answer } from "../submit.ts";
import type { Turns } from "../turns.ts";
import { type Ending, type KillPorts, killRun } from "./end-run.ts";
import type { ReportedEnd } from "./report-end.ts";
import type { RunWatch } from "./watch-run.ts";

export interface BrakePorts extends KillPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** Runs that somebody looks after, as they are known. */
  known(): readonly Run[];
  /** Notes why a run is ended, for whoever finds its program dead. */
  note(run: Run, ending: Ending): Promise<void>;
  onError(error: unknown): void;
}

/** What became of one run: `problem` is why its program could not be ended; empty where it was. */
export interface Halted {
  readonly run: Run;
  readonly problem: string;
}

/** Ends programs on a person's word. Depends on no workspace, no task file, no git and no other decision. */
export interface Brake {
  /** Whether a person is ending the run just now: then nobody else judges its death. */
  isOn(run: string): boolean;
  /** Runs whose programs may live, whether or not anybody looks after them. */
  runsOf(isMeant: (run: Run) => boolean): Promise<readonly Run[]>;
  /**
   * Ends the programs of all these runs side by side, then does `then`. Until that is done nobody tells the engine of their
   * deaths. A program that cannot be ended keeps no other alive.
   */
  hold<T>(runs: readonly Run[], ending: Ending, then: (halted: readonly Halted[]) => Promise<T>): Promise<T>;
}

/** Milliseconds that the store has to note the reason before the program is ended without it. */
const notePatience = 1_000;

export function createBrake(ports: BrakePorts): Brake {
  const { store, clock, known, note, onError } = ports;
  const held = new Map<string, number>();
  const change = (runs: readonly Run[], by: number) => {
    for (const { id } of runs) {
      const count = (held.get(id) ?? 0) + by;
      if (count > 0) held.set(id, count);
      else held.delete(id);
    }
  };
  const end = async (run: Run, ending: Ending): Promise<Halted> => {
    try {
      await Promise.race([
        note(run, ending).catch(onError),
        new Promise<void>((resolve) => clock.after(notePatience, resolve)),
      ]);
      await killRun(ports, run);
      return { run, problem: "" };
    } catch (error) {
      onError(error);
      return { run, problem: error instanceof Error ? error.message : String(error) };
    }
  };
  return {
    isOn: (run) => held.has(run),
    async runsOf(isMeant) {
      const recorded = await store.liveRuns().catch((error) => {
        onError(error);
        return [];
      });
      const all = new Map([...recorded, ...known()].map((run) => [run.id, run]));
      return [...all.values()].filter((run) => run.started !== undefined && isMeant(run));
    },
    async hold(runs, ending, then) {
      change(runs, 1);
      try {
        return await then(await Promise.all(runs.map((run) => end(run, ending))));
      } finally {
        change(runs, -1);
      }
    },
  };
}

export type EndedRun =
  /** Its program is gone, and this is what the engine made of it. */
  | { readonly kind: "told"; readonly answer: Answer }
  /** Its program is gone; why the engine could not be told yet. */
  | { readonly kind: "ended"; readonly problem: string }
  /** Its program could not be ended. */
  | { readonly kind: "alive"; readonly problem: string };

export interface EndByPersonPorts {
  readonly brake: Brake;
  readonly clock: Clock;
  readonly inTurn: Turns;
  watchOf(run: string): RunWatch | undefined;
  /** The run is over: the engine is told, and nobody looks after it any more. */
  over(run: Run, end: ReportedEnd): Promise<Answer>;
  /** Somebody looks after it again. */
  watch(run: Run): void;
  track(work: Promise<unknown>): void;
}

/** How long a person who ends a run waits until the engine has been told. */
const tellPatience = 5_000;

/** Ends a run that its task still wants. Its program is gone first; then the engine is told, and decides. */
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
          // Whoever looks after it tells the engine later.
          watch(watched?.run ?? run);
          return { kind: "ended", problem: error instanceof Fault ? tell(error) : String(error) };
        }
      });
      track(told);
      let cancel = () => {};
      const late = new Promise<EndedRun>((resolve) => {
        const busy = "Its task is busy with something else, and is told as soon as that is over.";
        cancel = clock.after(tellPatience, () => resolve({ kind: "ended", problem: busy }));
      });
      return Promise.race([told, late]).finally(() => cancel());
    });
}
