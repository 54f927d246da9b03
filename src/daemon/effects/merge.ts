import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { beganByPerson } from "../beginning-of-stay.ts";
import type { Merging } from "../merging/merging.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";

export interface MergeEffectPorts {
  readonly store: Store;
  readonly merging: Merging;
}

/** Merges the task's work into the default branch, and ends when it has been seen there. */
export function mergeWork({ store, merging }: MergeEffectPorts): Perform {
  return async ({ params }, { task }) => {
    const { from = "task", into = "default", strategy, uncommitted } = params;
    if (from !== "task" || into !== "default")
      throw new Fault("effect.unavailable", `Merging from ${from} into ${into} is not available in this version yet.`);
    const project = await projectOf(store, task.project);
    const merge = await merging.askAndWait(task, {
      target: targetOf(project, task),
      strategy: strategy === "ff" ? "ff" : "merge",
      to: "",
      // A person may have asked for the state in which the workflow merges.
      by: (await beganByPerson(store, task.id)) ? "human" : "engine",
      ...(uncommitted === "leave" ? { leaves: true } : {}),
    });
    if (merge.state !== "merged") throw new Fault(wordOf(merge), merge.reason);
  };
}

/** What the workflow calls it. */
function wordOf({ state }: Merge): string {
  return state === "conflict" || state === "tests" ? state : "merge.refused";
}
