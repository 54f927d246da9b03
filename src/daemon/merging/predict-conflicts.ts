import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Clock } from "../../ports/clock.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Store } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { createTurns } from "../turns.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface PredictPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspacesOf: WorkspacesOf;
  onError(error: unknown): void;
}

export interface Predictions {
  /**
   * A task's branch was collected and is at this commit, with so many that the default branch had not then. Whom it conflicts
   * with is worked out in the background.
   */
  collected(task: Task, commit: string, commits: number): void;
  /** Open tasks of the project that conflict with this one, and where. */
  of(task: string): readonly Predicted[];
  /** Resolves when everything that was begun has been worked out. */
  stop(): Promise<void>;
}

export interface Predicted {
  readonly task: string;
  readonly files: readonly string[];
}

/** Each is a merge in memory: some milliseconds. */
const mostOthers = 100;
/** What is merged right after it was committed, or committed over, conflicts with nobody for long. */
const pause = 2_000;

/** Tells two tasks that are at odds long before the second of them is merged. */
export function createPredictions({ store, clock, workspacesOf, onError }: PredictPorts): Predictions {
  const heads = new Map<string, string>();
  /** Tasks whose branch has nothing that the default branch does not have. */
  const workless = new Set<string>();
  const found = new Map<string, Map<string, readonly string[]>>();
  const inTurn = createTurns();
  const under = new Set<Promise<void>>();
  /** Of the tasks that are still to be looked at; each cancels its look. */
  const timers = new Map<string, () => void>();
  let stopped = false;
  const track = (work: Promise<void>) => {
    const safe = work.catch(onError);
    under.add(safe);
    safe.finally(() => under.delete(safe));
  };

  const of = (task: string) => found.get(task) ?? new Map<string, readonly string[]>();
  const forget = (task: string) => {
    heads.delete(task);
    workless.delete(task);
    for (const other of of(task).keys()) found.get(other)?.delete(task);
    found.delete(task);
  };
  const note = async (task: Task, other: string, files: readonly string[]) => {
    const isNew = of(task.id).get(other)?.join("\n") !== files.join("\n");
    // First: who is shown a conflict finds it in history.
    if (isNew && files.length > 0) {
      const event: TaskEvent = { type: "merge.predicted", by: "engine", data: { other, files }, set: {} };
      await store.addEvents(task.id, [event], clock.now());
    }
    for (const [one, two] of [
      [task.id, other],
      [other, task.id],
    ] as const) {
      if (files.length === 0) found.get(one)?.delete(two);
      else found.set(one, of(one).set(two, files));
    }
  };

  const predictLater = (task: Task, commit: string) => {
    timers.get(task.id)?.();
    const cancel = clock.after(pause, () => track(inTurn(task.project, () => predict(task, commit))));
    timers.set(task.id, cancel);
  };

  async function predict(task: Task, commit: string): Promise<void> {
    if (stopped || heads.get(task.id) !== commit) return;
    timers.delete(task.id);
    const project = await store.getProject(task.project);
    const isOpen = (await store.getTask(task.id))?.isOpen ?? false;
    if (project === undefined || !isOpen) return;
    const { control } = await workspacesOf(project);
    const base = await control.commitAt(`refs/remotes/user/${targetOf(project, task)}`);
    const all = await store.listTasks({ project: task.project, isOpen: true }, { limit: mostOthers });
    const asked: { readonly id: string; readonly commit: string }[] = [];
    for (const { task: other } of all) {
      // Whoever comes later is told, and looks at everybody before.
      if (timers.has(other.id)) continue;
      if (other.id === task.id || (workless.has(other.id) && !of(task.id).has(other.id))) continue;
      const theirs = heads.get(other.id) ?? (await control.commitAt(taskRef(other.id)));
      if (theirs === undefined || theirs === commit) continue;
      // Nobody has collected it since we started: what it has of the default branch's is not its own.
      if (!heads.has(other.id) && base !== undefined && (await control.isAncestor(theirs, base))) continue;
      asked.push({ id: other.id, commit: theirs });
    }
    if (stopped || heads.get(task.id) !== commit) return;
    const conflicts = await control.predictConflicts(
      commit,
      asked.map((other) => other.commit),
    );
    for (const [index, { id }] of asked.entries())
      await note(task, id, conflicts[index]?.files.map(({ path }) => path.text) ?? []);
    const open = new Set(all.map(({ task: each }) => each.id));
    for (const other of of(task.id).keys()) if (!open.has(other)) forget(other);
  }

  return {
    collected(task, commit, commits) {
      if (stopped || heads.get(task.id) === commit) return;
      heads.set(task.id, commit);
      // Most tasks have nothing of their own for most of their lives: they conflict with nobody.
      if (commits === 0) workless.add(task.id);
      else workless.delete(task.id);
      if (commits > 0 || of(task.id).size > 0) predictLater(task, commit);
    },
    of: (task) => [...of(task)].map(([other, files]) => ({ task: other, files })),
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      await Promise.all(under);
    },
  };
}
