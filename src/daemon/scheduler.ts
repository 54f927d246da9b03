import { saysWhenNext } from "../engine/needs.ts";
import type { Request } from "../engine/request.ts";
import { startOf } from "../engine/start-of.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import { createNewest } from "./newest.ts";

/** Before what failed is tried again, in milliseconds. */
const pause = 10_000;

export interface Scheduler {
  /** A task is as it is now: it may wait for a slot, take one, or have given one back. */
  noticed(stored: StoredTask): Promise<void>;
  forgot(task: string): void;
  /** Learns of a task after a start; nothing is begun before all are known. */
  recall(stored: StoredTask): Promise<void>;
  /** Looks again: a project's pool may have changed. */
  wake(): void;
  /** The slot that a task has, or is about to give back, goes to whoever is next. */
  startNext(task: Pick<Task, "id" | "project">): void;
  /** Whether a slot was given back by a task whose workflow does not let another start then. */
  isLeft(project: string): boolean;
  /** Whether a slot was left, and this is the task that would have got it: only a person can start it now. */
  isNextLeft(task: Pick<Task, "id" | "project">): Promise<boolean>;
  /** Whether a task would start if there were a slot. */
  waits(task: string): boolean;
  /** Whether other tasks have taken all slots of the project. */
  isFull(project: string, task: string): Promise<boolean>;
  /** Waits for what is under way, then does nothing any more. */
  stop(): Promise<void>;
}

export interface SchedulerPorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  submit(task: string, request: Request): Promise<{ readonly stored: StoredTask }>;
  poolSize(project: string): Promise<number>;
  /** Whether anything may begin there; missing: always. */
  mayStart?(project: string): boolean;
  /** This task waits for a slot, and somebody else may be the next one now. */
  nextChanged?(task: string): void;
  onError(error: unknown): void;
}

interface Seat {
  /** News of a task can overtake each other. */
  readonly revision: number;
  readonly project: string;
  readonly order: number;
  readonly priority: number;
  readonly dependsOn: readonly string[];
  /** It has a slot. */
  readonly isTaken: boolean;
  /** What starts it; undefined where it has started, is held, or waits for a person's word. */
  readonly start: Request | undefined;
}

/**
 * Gives free slots to tasks that wait for one: the highest priority first, then the oldest. Only what is open is kept in
 * memory, and only what changed is looked at.
 */
export function createScheduler(ports: SchedulerPorts): Scheduler {
  const seats = new Map<string, Seat>();
  const newest = createNewest();
  const dirty = new Set<string>();
  /** Projects with a slot that was given back and that nobody was offered since. */
  const left = new Set<string>();
  /** Tasks whose slot is somebody else's when they give it back. */
  const passedOn = new Set<string>();
  let working: Promise<void> | undefined;
  let cancel = () => {};
  let stopped = false;

  const taken = new Map<string, number>();
  const setSeat = (task: string, seat: Seat | undefined) => {
    const before = seats.get(task);
    if (before?.isTaken) taken.set(before.project, (taken.get(before.project) ?? 0) - 1);
    if (seat?.isTaken) taken.set(seat.project, (taken.get(seat.project) ?? 0) + 1);
    if (seat === undefined) seats.delete(task);
    else seats.set(task, seat);
  };
  const isFull = async (project: string, task: string) => {
    const others = (taken.get(project) ?? 0) - (seats.get(task)?.isTaken ? 1 : 0);
    return others >= (await ports.poolSize(project));
  };

  /** Nothing else would make us look again. */
  const lookLater = (error: unknown) => {
    ports.onError(error);
    cancel();
    if (!stopped) cancel = ports.clock.after(pause, wakeAll);
  };
  const waitingIn = (project: string) =>
    [...seats]
      .filter(([, seat]) => seat.project === project && seat.start !== undefined)
      .sort(([, a], [, b]) => b.priority - a.priority || a.order - b.order);
  const tellWaiting = (project: string) => {
    for (const [task] of waitingIn(project)) ports.nextChanged?.(task);
  };
  const fill = async (project: string) => {
    if (ports.mayStart?.(project) === false) return;
    for (const [task, { start, dependsOn }] of waitingIn(project)) {
      if (stopped || start === undefined || (await isFull(project, task))) return;
      try {
        if (!(await areDone(ports, dependsOn))) continue;
        // Its slot is taken before the next one is looked at.
        const { stored } = await ports.submit(task, start);
        await note(stored);
      } catch (error) {
        // What passes, such as a full disk, would be in the way of all of them.
        if (error instanceof Fault && error.retry === "later") throw error;
        // One that cannot be started must not keep the others from it.
        lookLater(error);
      }
    }
  };

  const wakeProject = (project: string) => {
    if (left.delete(project)) tellWaiting(project);
    dirty.add(project);
    if (working !== undefined || stopped) return;
    working = (async () => {
      for (const each of dirty) {
        dirty.delete(each);
        await fill(each);
      }
    })()
      .catch(lookLater)
      .finally(() => {
        working = undefined;
        if (dirty.size > 0 && !stopped) wakeProject([...dirty][0] ?? "");
      });
  };

  /** Says in which projects somebody may start now who could not before. */
  const note = async (stored: StoredTask): Promise<readonly string[]> => {
    const { task, isOpen, order, revision } = stored;
    newest.hear(stored);
    const workflow = await ports.workflowOf(task);
    const before = seats.get(task.id);
    // One that is over must not get a seat again. What is only older than other news counts until those have their turn:
    // whoever waits for us relies on the seat being taken.
    if (!newest.isKnown(task.id) || (before !== undefined && before.revision > revision)) return [];
    if (!isOpen) {
      newest.forget(task.id);
      setSeat(task.id, undefined);
      if (before === undefined) return [];
      // Others may have waited for it, in whatever project.
      const awaiting = [...seats.values()].filter((seat) => seat.dependsOn.includes(task.id));
      const projects = awaiting.map((seat) => seat.project);
      if (passedOn.delete(task.id) || !saysWhenNext(workflow)) return [task.project, ...projects];
      left.add(task.project);
      tellWaiting(task.project);
      return projects;
    }
    const { project, priority, dependsOn, autostart, held, phase, workspace } = task;
    const way = startOf(workflow, task);
    const start = autostart && held === undefined && phase === "waiting" ? way : undefined;
    // Where it waits it may have been given a slot a moment ago, or not have given back what it had when it came there.
    const isTaken = way === undefined || phase === "doing" || workspace !== "";
    setSeat(task.id, { revision, project, order, priority, dependsOn, isTaken, start });
    if (left.has(project)) tellWaiting(project);
    return start !== undefined || (before?.isTaken === true && !isTaken) ? [project] : [];
  };
  const wakeAll = () => {
    for (const project of new Set([...seats.values()].map((seat) => seat.project))) wakeProject(project);
  };

  return {
    isFull,
    isLeft: (project) => left.has(project),
    async isNextLeft({ id, project }) {
      if (!left.has(project) || ports.mayStart?.(project) === false || (await isFull(project, id))) return false;
      for (const [task, { dependsOn }] of waitingIn(project)) if (await areDone(ports, dependsOn)) return task === id;
      return false;
    },
    waits: (task) => seats.get(task)?.start !== undefined,
    async noticed(stored) {
      for (const project of new Set(await note(stored))) wakeProject(project);
    },
    forgot(task) {
      newest.forget(task);
      passedOn.delete(task);
      const project = seats.get(task)?.project;
      setSeat(task, undefined);
      if (project !== undefined && left.has(project)) tellWaiting(project);
    },
    recall: async (stored) => void (await note(stored)),
    wake: wakeAll,
    startNext({ id, project }) {
      passedOn.add(id);
      wakeProject(project);
    },
    async stop() {
      stopped = true;
      cancel();
      await working;
    },
  };
}

async function areDone({ store, workflowOf }: SchedulerPorts, dependsOn: readonly string[]): Promise<boolean> {
  for (const id of dependsOn) {
    const stored = await store.getTask(id);
    // What was deleted will never be done, and was over.
    if (stored === undefined) continue;
    const state = (await workflowOf(stored.task)).states[stored.task.status];
    if (state?.outcome !== "done") return false;
  }
  return true;
}
