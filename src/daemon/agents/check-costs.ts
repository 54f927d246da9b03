import { specOf } from "../../engine/spec-of.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Store } from "../../ports/store.ts";
import { beginningOfStay } from "../beginning-of-stay.ts";
import { heardOfLimit } from "../heard-of-limit.ts";
import type { Submit } from "../submit.ts";
import type { Ending } from "./end-run.ts";
import { nameOfRun } from "./read-turn.ts";
import type { UsageBook } from "./usage-book.ts";
import type { RunWatch } from "./watch-run.ts";

export interface CostPorts {
  readonly store: Store;
  readonly book: UsageBook;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  /** Ends the run, and tells the engine. */
  end(watch: RunWatch, ending: Ending): Promise<void>;
}

/** Holds a run, its state and its task to what the workflow lets them cost. */
export function checkCosts(ports: CostPorts): (watch: RunWatch) => Promise<void> {
  const { store, book, submit } = ports;
  const told = new Set<string>();
  const tellOnce = async (task: string) => {
    if (!(await heardOfLimit(store, task, "cost"))) await submit(task, { kind: "limit", word: "cost" });
  };
  const costOfStay = async ({ id: task, entry }: Task, since: number) => {
    const runs = await store.runs.list({ task });
    const stay = runs.filter(({ started }) => started?.entry === entry && started.at >= since);
    const ids = new Set(stay.map(({ id }) => id));
    return book.total((usage) => ids.has(usage.id)).cost;
  };
  return async (watch) => {
    const { run, started } = watch;
    const cost = book.of(run.id)?.cost;
    if (cost === undefined) return;
    const task = (await store.getTask(run.task))?.task;
    const workflow = task && (await ports.workflowOf(task));
    const state = task && workflow?.states[task.status];
    if (task === undefined || workflow === undefined || state === undefined) return;
    const ofTask = () => book.total((usage) => usage.task === task.id).cost;
    if (workflow.limits.cost !== undefined && !told.has(task.id) && ofTask() >= workflow.limits.cost) {
      told.add(task.id);
      await tellOnce(task.id).catch((error) => {
        told.delete(task.id);
        throw error;
      });
    }
    const most = started.entry === task.entry ? state.limits.cost : undefined;
    if (most !== undefined && (await costOfStay(task, 0)) >= most) {
      // Whoever has tried it again after it was held for that lets it cost as much once more.
      const since = await beginningOfStay(store, task.id, 0);
      if ((await costOfStay(task, since)) >= most)
        await submit(task.id, { kind: "limit", word: "cost", entry: task.entry });
    }
    const own = specOf(workflow, state, nameOfRun(run.key)).limits.cost;
    if (own === undefined || cost < own || !(run.key === task.runs[nameOfRun(run.key)]?.key)) return;
    await ports.end(watch, { word: "cost", reason: `It has cost $${cost.toFixed(2)} of $${own.toFixed(2)}.` });
  };
}
