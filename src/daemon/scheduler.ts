import { storedDependency } from "../engine/dependency.ts";
import { saysWhenNext } from "../engine/needs.ts";
import { isUnstarted, personsStart, startOf } from "../engine/persons-turn.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import { areMet } from "./dependencies.ts";
import { isPooled } from "./workspaces/pool.ts";

/** The newest known revision of each open task: while one notification is processed, the next can overtake it. */
interface RevisionGuard {
  /** Records a revision; false where a newer one is known already. */
  hear(stored: StoredTask): boolean;
  /** Whether no newer revision was recorded since, and the task was not forgotten. */
  isLast(stored: StoredTask): boolean;
  /** Whether any revision was recorded since the task was forgotten. */
  isKnown(task: string): boolean;
  forget(task: string): void;
}

export function createRevisionGuard(): RevisionGuard {
  const heard = new Map<string, number>();
  return {
    hear({ task, revision }) {
      if ((heard.get(task.id) ?? 0) > revision) return false;
      heard.set(task.id, revision);
      return true;
    },
    isLast: ({ task, revision }) => heard.get(task.id) === revision,
    isKnown: (task) => heard.has(task),
    forget: (task) => void heard.delete(task),
  };
}

/** Milliseconds before a failed step is retried. */
const retryPause = 10_000;

export interface Scheduler {
  /** A task has changed: it may wait for a slot, take one, or have released one. */
  noticed(stored: StoredTask): Promise<void>;
  /** A section of the task's document was stored without a change of the task. */
  wrote(task: string): void;
  forgot(task: string): void;
  /** Learns of a task after a start; nothing is started before all tasks are known. */
  recall(stored: StoredTask): Promise<void>;
  /** Checks again: a project's pool may have changed. */
  wake(): void;
  /** Checks a project again whose tasks could not start for a moment. A slot that was left free stays so. */
  resumed(project: string): void;
  /** The slot that a task has, or is about to release, goes to the next task. */
  startNext(task: Pick<Task, "id" | "project">): void;
  /** Whether a slot was released by a task whose workflow does not start another task then. */
  isLeft(project: string): boolean;
  /** Whether a slot was left free, and this task would have got it: only a person can start it now. */
  isNextLeft(task: Pick<Task, "id" | "project">): Promise<boolean>;
  /** Whether a task would start if there were a slot. */
  waits(task: string): boolean;
  /** Whether other tasks have taken all slots of the project. */
  isFull(project: string, task: string): Promise<boolean>;
  /**
   * Whether other tasks have all workspaces of the project, or are about to acquire them. A task may have a slot and no
   * workspace, such as one that waits for a time before its work.
   */
  isPoolFull(project: string, task: string): Promise<boolean>;
  /** Waits for work in progress, then does nothing any more. */
  stop(): Promise<void>;
}

interface SchedulerPorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  submit(task: string, request: Request): Promise<{ readonly stored: StoredTask }>;
  poolSize(project: string): Promise<number>;
  /** Whether tasks of the project may start; missing: always. */
  mayStart?(project: string): boolean;
  /** This task waits for a slot, and the next task in the queue may be another one now. */
  nextChanged?(task: string): void;
  /** Something has changed that this open task depends on. */
  awaitedChanged?(task: string): void;
  onError(error: unknown): void;
}

interface Seat {
  /** Notifications of a task can overtake each other. */
  readonly revision: number;
  readonly project: string;
  /** Its age; a part of a plan is as old as the task that the plan is for. */
  readonly age: readonly [ancestor: number, own: number];
  readonly priority: number;
  readonly dependsOn: readonly string[];
  /** Whether it is a task that was started before, or a part of one: it starts in a slot that was left free too. */
  readonly isBegun: boolean;
  /** Whether the task has a slot. */
  readonly isTaken: boolean;
  /** Whether it has a workspace; `maybe` if it has a slot without one, and may be about to acquire one. */
  readonly hasWorkspace: boolean | "maybe";
  /** The request that starts it; undefined where it has started, is held, or waits for a person. */
  readonly start: Request | undefined;
}

/**
 * Gives free slots to waiting tasks: the highest priority first, then the oldest. Only open tasks are kept in memory,
 * and only changed ones are checked.
 */
export function createScheduler(ports: SchedulerPorts): Scheduler {
  const seats = new Map<string, Seat>();
  const revisions = createRevisionGuard();
  const dirty = new Set<string>();
  /** Projects with a released slot that no task was offered since. */
  const left = new Set<string>();
  /** Tasks whose slot goes to another task when they release it. */
  const passedOn = new Set<string>();
  let working: Promise<void> | undefined;
  let cancel = () => {};
  let stopped = false;

  const taken = new Map<string, number>();
  /** The tasks of each project with `hasWorkspace`. */
  const housed = new Map<string, Map<string, true | "maybe">>();
  const setSeat = (task: string, seat: Seat | undefined) => {
    const before = seats.get(task);
    if (before?.isTaken) taken.set(before.project, (taken.get(before.project) ?? 0) - 1);
    if (seat?.isTaken) taken.set(seat.project, (taken.get(seat.project) ?? 0) + 1);
    if (before !== undefined) housed.get(before.project)?.delete(task);
    if (seat?.hasWorkspace) {
      const tasks = housed.get(seat.project) ?? new Map();
      housed.set(seat.project, tasks.set(task, seat.hasWorkspace));
    }
    if (seat === undefined) seats.delete(task);
    else seats.set(task, seat);
  };
  const isFull = async (project: string, task: string) => {
    const others = (taken.get(project) ?? 0) - (seats.get(task)?.isTaken ? 1 : 0);
    return others >= (await ports.poolSize(project));
  };

  const isPoolFull = async (project: string, task: string) => {
    const size = await ports.poolSize(project);
    const others = [...(housed.get(project) ?? [])].filter(([id]) => id !== task);
    const users = new Set(others.flatMap(([id, has]) => (has === true ? [id] : [])));
    // A task that is held while its workspace is prepared keeps that workspace.
    for (const each of await ports.store.workspaces.list({ project }))
      if (isPooled(each) && each.task !== task && seats.has(each.task)) users.add(each.task);
    for (const [id] of others) if (users.size < size && (await isAcquiring(ports.store, id))) users.add(id);
    return users.size >= size;
  };

  /** Retries: no event would trigger another check. */
  const retryLater = (error: unknown) => {
    ports.onError(error);
    cancel();
    if (!stopped) cancel = ports.clock.after(retryPause, wakeAll);
  };
  const waitingIn = (project: string) =>
    [...seats]
      .filter(([, seat]) => seat.project === project && seat.start !== undefined)
      .sort(([, a], [, b]) => b.priority - a.priority || a.age[0] - b.age[0] || a.age[1] - b.age[1]);
  const notifyWaiting = (project: string) => {
    for (const [task] of waitingIn(project)) ports.nextChanged?.(task);
  };
  const fill = async (project: string) => {
    if (ports.mayStart?.(project) === false) return;
    for (const [task, { start, dependsOn, isBegun }] of waitingIn(project)) {
      if (stopped || start === undefined || (await isFull(project, task))) return;
      if (left.has(project) && !isBegun) continue;
      try {
        if (!(await areMet(ports, dependsOn))) continue;
        // The task's slot is taken before the next task is considered.
        const { stored } = await ports.submit(task, start);
        await note(stored);
      } catch (error) {
        // A temporary fault, such as a full disk, would affect all of them.
        if (error instanceof Fault && error.retry === "later") throw error;
        // A task that cannot be started must not block the others.
        retryLater(error);
      }
    }
  };

  const wakeProject = (project: string, takesLeft = true) => {
    if (takesLeft && left.delete(project)) notifyWaiting(project);
    dirty.add(project);
    if (working !== undefined || stopped) return;
    working = (async () => {
      for (const each of dirty) {
        dirty.delete(each);
        await fill(each);
      }
    })()
      .catch(retryLater)
      .finally(() => {
        working = undefined;
        if (dirty.size > 0 && !stopped) wakeProject([...dirty][0] ?? "", false);
      });
  };

  const awaiting = (isMeant: (dependency: string) => boolean) =>
    [...seats.values()].filter((seat) => seat.dependsOn.some(isMeant)).map((seat) => seat.project);
  /** A task may have reached a state, or have a section, that others wait for. A slot that was left free stays so. */
  const wakeAwaiting = (task: string) => {
    for (const [id, { dependsOn }] of seats)
      if (dependsOn.some((each) => storedDependency(each).task === task)) ports.awaitedChanged?.(id);
    for (const project of new Set(awaiting((each) => each.startsWith(`${task}:`)))) wakeProject(project, false);
  };

  /** Returns the projects in which a task may start now that could not before. */
  const note = async (stored: StoredTask): Promise<readonly string[]> => {
    const { task, isOpen, revision } = stored;
    revisions.hear(stored);
    const workflow = await ports.workflowOf(task);
    const age = isOpen ? await ageOf(ports.store, stored) : ([0, 0] as const);
    const before = seats.get(task.id);
    // A closed task must not get a seat again. An older notification counts until the newer ones are processed, because
    // the caller relies on the seat being taken.
    if (!revisions.isKnown(task.id) || (before !== undefined && before.revision > revision)) return [];
    if (!isOpen) {
      revisions.forget(task.id);
      setSeat(task.id, undefined);
      if (before === undefined) return [];
      // Tasks of any project may have waited for it.
      const projects = awaiting((each) => storedDependency(each).task === task.id);
      if (passedOn.delete(task.id) || !saysWhenNext(workflow)) return [task.project, ...projects];
      left.add(task.project);
      notifyWaiting(task.project);
      wakeProject(task.project, false);
      return projects;
    }
    const { project, priority, dependsOn, held, phase, workspace } = task;
    const way = startOf(workflow, task);
    const start = startsByItself(workflow, task) && held === undefined && phase === "waiting" ? way : undefined;
    // In a waiting state the task may just have been given a slot, or may not have released its earlier one yet. A parent
    // without a workspace leaves its slot to its children. A task that a person has not started yet needs none.
    const needsNone =
      personsStart(workflow, task) !== undefined || workflow.states[task.status]?.wait.kind === "fan_out";
    const isTaken = !needsNone || phase === "doing" || workspace !== "";
    const isBegun = !isUnstarted(workflow, task);
    const hasWorkspace = workspace !== "" || (isTaken && ("maybe" as const));
    setSeat(task.id, { revision, project, age, priority, dependsOn, isBegun, isTaken, hasWorkspace, start });
    if (left.has(project)) notifyWaiting(project);
    return start !== undefined || (before?.isTaken === true && !isTaken) ? [project] : [];
  };
  const wakeAll = () => {
    for (const project of new Set([...seats.values()].map((seat) => seat.project))) wakeProject(project);
  };

  return {
    isFull,
    isPoolFull,
    isLeft: (project) => left.has(project),
    async isNextLeft({ id, project }) {
      if (!left.has(project) || ports.mayStart?.(project) === false || (await isFull(project, id))) return false;
      for (const [task, { dependsOn }] of waitingIn(project)) if (await areMet(ports, dependsOn)) return task === id;
      return false;
    },
    waits: (task) => seats.get(task)?.start !== undefined,
    async noticed(stored) {
      for (const project of new Set(await note(stored))) wakeProject(project);
      wakeAwaiting(stored.task.id);
    },
    forgot(task) {
      revisions.forget(task);
      passedOn.delete(task);
      const project = seats.get(task)?.project;
      setSeat(task, undefined);
      if (project !== undefined && left.has(project)) notifyWaiting(project);
    },
    wrote: wakeAwaiting,
    recall: async (stored) => void (await note(stored)),
    wake: wakeAll,
    resumed: (project) => wakeProject(project, false),
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

/**
 * Whether the task starts once there is a slot. A part waits for its parent first. A task that has begun, and waits for a
 * slot again, is not asked about a second time.
 */
function startsByItself(workflow: Workflow, task: Task): boolean {
  if (task.part !== undefined) return task.part.slot !== undefined;
  return task.autostart || !isUnstarted(workflow, task);
}

async function isAcquiring(store: Store, task: string): Promise<boolean> {
  return (await store.openEffects(task)).some(({ effect }) => effect.action === "acquire_workspace");
}

const maxDepth = 20;

/** The children of an older task come before a younger task, so that what was begun first is finished first. */
async function ageOf(store: Store, { task, order }: StoredTask): Promise<Seat["age"]> {
  let ancestor = order;
  let at: Task | undefined = task;
  for (let depth = 0; at?.part !== undefined && depth < maxDepth; depth++) {
    const parent: StoredTask | undefined = await store.getTask(at.parent);
    ancestor = parent?.order ?? ancestor;
    at = parent?.task;
  }
  return [ancestor, order];
}
