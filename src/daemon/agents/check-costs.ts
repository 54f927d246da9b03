import { specOf } from "../../engine/spec-of.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import { nameOfRun } from "./read-turn.ts";
import type { ReportedEnd } from "./report-end.ts";
import type { UsageBook } from "./usage-book.ts";
import type { RunWatch } from "./watch-run.ts";

export interface CostPorts {
  readonly store: Store;
  readonly book: UsageBook;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  kill(run: Run): Promise<void>;
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
}

/** Holds a run, its state and its task to what the workflow lets them cost. */
export function checkCosts(ports: CostPorts): (watch: RunWatch) => Promise<void> {
  const { store, book, submit } = ports;
  const told = new Set<string>();
  return async (watch) => {
    const { run, started } = watch;
    const cost = book.of(run.id)?.cost;
    if (cost === undefined) return;
    const task = (await store.getTask(run.task))?.task;
    const workflow = task && (await ports.workflowOf(task));
    const state = task && workflow?.states[task.status];
    if (task === undefined || workflow === undefined || state === undefined) return;
    const ofTask = book.total((usage) => usage.task === task.id).cost;
    if (workflow.limits.cost !== undefined && ofTask >= workflow.limits.cost && !told.has(task.id)) {
      told.add(task.id);
      await submit(task.id, { kind: "limit", word: "cost" });
    }
    const stay = (await store.runs.list({ task: task.id })).filter((each) => each.started?.entry === task.entry);
    const ids = new Set(stay.map(({ id }) => id));
    const ofStay = book.total((usage) => ids.has(usage.id)).cost;
    if (state.limits.cost !== undefined && ofStay >= state.limits.cost && started.entry === task.entry) {
      await submit(task.id, { kind: "limit", word: "cost", entry: task.entry });
    }
    const own = specOf(workflow, state, nameOfRun(run.key)).limits.cost;
    if (own === undefined || cost < own || !(run.key === task.runs[nameOfRun(run.key)]?.key)) return;
    await ports.kill(run);
    await ports.finish(watch, { word: "cost", reason: `It has cost $${cost.toFixed(2)} of $${own.toFixed(2)}.` });
  };
}
