import { useSyncExternalStore } from "react";
import type { RunView } from "../../api/agents.ts";

/** The agents at work, by task, as the stream last told. */
const runs = new Map<string, RunView>();
const listeners = new Map<string, Set<() => void>>();

export function setLiveRun(run: RunView): void {
  if (run.activity === "ended" && runs.get(run.task)?.key === run.key) runs.delete(run.task);
  else if (run.activity !== "ended" && !isLessTelling(run, runs.get(run.task))) runs.set(run.task, run);
  for (const each of listeners.get(run.task) ?? []) each();
}

/** Of several agents of a task, one that works tells more than one that waits for it. */
function isLessTelling(run: RunView, shown: RunView | undefined): boolean {
  return shown !== undefined && shown.key !== run.key && shown.activity === "busy" && run.activity !== "busy";
}

export function useLiveRun(task: string): RunView | undefined {
  return useSyncExternalStore(
    (listener) => {
      const own = listeners.get(task) ?? new Set();
      listeners.set(task, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(task);
      };
    },
    () => runs.get(task),
  );
}
