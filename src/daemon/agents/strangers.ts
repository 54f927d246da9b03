import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { RunWatch } from "./watch-run.ts";

/** Runs that go on and whose harness nobody knows: it was taken out of the configuration, or that is wrong. */
export interface Strangers {
  /** A person is told; it goes on, and is looked after once its harness is known again. */
  meet(run: Run & { readonly started: StartedRun }): Promise<void>;
  forget(run: string): void;
  list(): readonly Run[];
}

export interface StrangerPorts {
  readonly store: Store;
  raise(watch: Pick<RunWatch, "run" | "started" | "keep">, reason: string): Promise<void>;
}

export function createStrangers({ store, raise }: StrangerPorts): Strangers {
  const known = new Map<string, Run>();
  return {
    async meet(run) {
      known.set(run.id, run);
      const keep = async (change: Partial<Run>) => {
        const raised = { ...run, ...change };
        await store.runs.put(raised);
        if (known.has(run.id)) known.set(run.id, raised);
      };
      const reason = `There is no harness "${run.harness}" any more to look after it with.`;
      await raise({ run, started: run.started, keep }, reason);
    },
    forget: (run) => void known.delete(run),
    list: () => [...known.values()],
  };
}
