import { engineEnd } from "../../engine/child-workflows.ts";
import {
  awaitsChildren,
  type ChildTask,
  fanOutOptions,
  freeSlot,
  newestTries,
  nextOfFanOut,
  planOf,
  stateOfChild,
  whySkipped,
  whyStopped,
} from "../../engine/children.ts";
import type { Item } from "../../engine/fan-out.ts";
import { isHeldFor } from "../../engine/settled.ts";
import type { Task } from "../../engine/task.ts";
import type { FanOut, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Core } from "../core.ts";
import { haltTask } from "../halt-task.ts";
import { type Perform, reasonOf } from "../perform.ts";
import type { Answer } from "../submit.ts";
import { childrenOf as childrenIn } from "./child-tasks.ts";
import { makeChildren, type Try } from "./make-child.ts";
import { awaitedByParts, refuseStandstill } from "./stalled-parts.ts";

/** Carries out the fan-outs of all tasks. It remembers nothing: every step is derived from what is stored. */
export interface Children {
  /** A task was created or changed: its parent or its children may have something to do. */
  noticed(stored: StoredTask): void;
  /** Something has changed that this task depends on: if it is a part, its parent may start it. */
  awaitedChanged(task: string): void;
  /** After a start: looks at the parents among these tasks, and at the parents of these tasks. */
  recover(tasks: readonly StoredTask[]): Promise<void>;
  /**
   * Whether the next step of a parent in this project is being worked out. Until then no other task is started: it could
   * take the place of a part that is about to get a slot.
   */
  isBusy(project: string): boolean;
  readonly performers: { readonly startChildren: Perform; readonly stopChildren: Perform };
  stop(): Promise<void>;
}

interface ChildrenPorts {
  readonly clock: Clock;
  core(): Core;
  onError(error: unknown): void;
}

/** Milliseconds before a failed step is retried; also how often a stop looks for children that ended unnoticed. */
const retryPause = 10_000;
/** How many looks at a parent may fail in a row, where the error may be temporary, before a person is called. */
const maxTries = 6;
/** What a parent is held for while its children cannot be looked after. */
const lookingAfter = "looking after the parts";

export function createChildren({ clock, core, onError }: ChildrenPorts): Children {
  const busy = new Map<string, Promise<void>>();
  const projects = new Map<string, string>();
  const again = new Set<string>();
  const timers = new Map<string, () => void>();
  /** What waits for the children of a task to end. */
  const waiting = new Map<string, Set<(error?: Error) => void>>();
  /** The error of the last look at a parent, and how many looks in a row have failed. */
  const failures = new Map<string, { readonly text: string; readonly tries: number }>();
  let stopped = false;

  const wake = (parent: string, project?: string) => {
    if (stopped) return;
    if (project !== undefined) projects.set(parent, project);
    if (busy.has(parent)) return void again.add(parent);
    timers.get(parent)?.();
    timers.delete(parent);
    const looking = inTurnOf(core(), parent, () => look(core(), parent, () => !stopped))
      .then(() => void failures.delete(parent))
      .catch(async (error) => {
        const before = failures.get(parent);
        const failure = { text: reasonOf(error), tries: (before?.tries ?? 0) + 1 };
        failures.set(parent, failure);
        if (before?.text !== failure.text) onError(error);
        if (!stopped && (isLasting(error) || failure.tries >= maxTries))
          await holdParent(core(), parent, failure.text).catch(onError);
        const project = projects.get(parent);
        if (!stopped)
          timers.set(
            parent,
            clock.after(retryPause, () => wake(parent, project)),
          );
      })
      .finally(() => {
        busy.delete(parent);
        if (again.delete(parent)) return wake(parent);
        const project = projects.get(parent);
        projects.delete(parent);
        if (!stopped && project !== undefined) core().scheduler.resumed(project);
      });
    busy.set(parent, looking);
  };

  /** Resolves when a child of the task has changed, and after a pause in any case. */
  const nextChange = (parent: string): { readonly promise: Promise<void>; cancel(): void } => {
    const tellers = waiting.get(parent) ?? new Set();
    waiting.set(parent, tellers);
    let tell: (error?: Error) => void = () => {};
    const promise = new Promise<void>((resolve, reject) => {
      tell = (error) => (error === undefined ? resolve() : reject(error));
      tellers.add(tell);
    });
    promise.catch(() => {});
    const cancelTimer = clock.after(retryPause, () => tell());
    const cancel = () => {
      cancelTimer();
      tellers.delete(tell);
      if (tellers.size === 0) waiting.delete(parent);
    };
    return { promise, cancel };
  };

  return {
    isBusy: (project) => [...busy.keys()].some((parent) => projects.get(parent) === project),
    noticed({ task, isOpen }) {
      const { id, part, parent, workflowHash, status, previousStatus } = task;
      const states = core().workflows.known(workflowHash)?.states;
      // While a child runs, its parent has nothing to do.
      if (part !== undefined && (!isOpen || part.slot === undefined || states?.[status]?.terminal !== false)) {
        for (const tell of waiting.get(parent) ?? []) tell();
        wake(parent, task.project);
      }
      if ([status, previousStatus].some((name) => states?.[name]?.wait.kind === "fan_out")) wake(id, task.project);
    },
    awaitedChanged(id) {
      const find = async () => {
        const stored = await core().store.getTask(id);
        if (stored?.task.part !== undefined && stored.isOpen) wake(stored.task.parent, stored.task.project);
      };
      find().catch(onError);
    },
    async recover(tasks) {
      const parents = new Map<string, string>();
      for (const { task } of tasks) if (task.part !== undefined) parents.set(task.parent, task.project);
      for (const { task } of tasks) {
        const workflow = await core()
          .workflows.get(task.workflowHash)
          .catch(() => undefined);
        if (workflow !== undefined && awaitsChildren(workflow, task)) parents.set(task.id, task.project);
      }
      for (const [parent, project] of parents) wake(parent, project);
    },
    performers: {
      startChildren: async ({ params }, { task }) =>
        inTurnOf(core(), task.id, async () => {
          // An effect of an earlier stay.
          if (params.stay !== task.entry) return;
          await createMissing(core(), task, params.again === true);
        }),
      /** Resolves once no child of the task is left. The children themselves are ended whenever nothing waits for them. */
      async stopChildren(_, { task }) {
        for (;;) {
          const change = nextChange(task.id);
          try {
            if ((await unended(core(), task.id)).length === 0) return;
            wake(task.id);
            await change.promise;
          } finally {
            change.cancel();
          }
        }
      },
    },
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      const error = new Fault("daemon.stopping", "The daemon stops.", { retry: "later" });
      for (const tellers of [...waiting.values()]) for (const tell of tellers) tell(error);
      await Promise.all(busy.values());
    },
  };
}

/** The mutex for the children of a task. It is not that of the task: decisions about the parent are made inside it. */
function inTurnOf<T>({ inTurn }: Core, parent: string, run: () => Promise<T>): Promise<T> {
  return inTurn(`children ${parent}`, run);
}

function childrenOf({ store, workflows }: Core, parent: string): Promise<readonly ChildTask[]> {
  return childrenIn({ store, workflowOf: (task) => workflows.get(task.workflowHash) }, parent);
}

/** The children of a task that have not ended. One whose last effects have failed waits for a person, not its parent. */
async function unended(core: Core, parent: string): Promise<readonly ChildTask[]> {
  const children = await childrenOf(core, parent);
  return children.filter((child) => child.isOpen && (!isEnding(child) || child.task.held === undefined));
}

function isEnding({ task, workflow }: ChildTask): boolean {
  return workflow?.states[task.status]?.terminal === true;
}

/** Does what a parent and its children need now, until nothing is left to do. */
async function look(core: Core, id: string, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const { store, workflows } = core;
    const parent = (await store.getTask(id))?.task;
    const workflow = parent && (await workflows.get(parent.workflowHash));
    const awaiting = parent !== undefined && workflow !== undefined && awaitsChildren(workflow, parent);
    const children = await childrenOf(core, id);
    if (await endUnwanted(core, children, awaiting ? parent.entry : undefined, endOf(parent, workflow))) continue;
    const isOurs = parent !== undefined && isHeldFor(parent, lookingAfter);
    const { wait } = workflow?.states[parent?.status ?? ""] ?? {};
    const isTurn = awaiting && parent.phase === "waiting" && (parent.held === undefined || isOurs);
    const goesFurther = isTurn && wait?.kind === "fan_out" && (await advance(core, workflow, parent, wait, children));
    if (isOurs) await core.submit(id, { kind: "mended", entry: parent.entry, action: lookingAfter });
    if (!goesFurther) return;
  }
}

/** Holds a parent whose children cannot be looked after, until a look succeeds or a person continues it. */
async function holdParent(core: Core, id: string, reason: string): Promise<void> {
  const parent = (await core.store.getTask(id))?.task;
  if (parent === undefined || parent.phase === "over" || parent.held !== undefined) return;
  await core.submit(id, { kind: "unsettled", entry: parent.entry, action: lookingAfter, reason });
}

/** Whether trying again cannot help until a person has changed something. */
function isLasting(error: unknown): boolean {
  return (
    error instanceof Fault &&
    error.retry === "never" &&
    /^(workflow\.|children\.(endless|standstill)$)/.test(error.code)
  );
}

/** Ends the children of stays that are over; returns whether there were any. */
async function endUnwanted(
  core: Core,
  children: readonly ChildTask[],
  stay: number | undefined,
  reason: string,
): Promise<boolean> {
  const unwanted = children.filter((child) => child.isOpen && child.task.part.stay !== stay && !isEnding(child));
  await Promise.all(unwanted.map((child) => end(core, child, reason)));
  return unwanted.length > 0;
}

function endOf(parent: Task | undefined, workflow: Workflow | undefined): string {
  if (parent === undefined) return "Stopped: its parent was deleted.";
  const isOver = workflow?.states[parent.status]?.terminal === true;
  return `Stopped: its parent ${isOver ? "ended in" : "went on to"} "${parent.status}".`;
}

/** One round of a fan-out; returns whether anything was done that may allow more. */
async function advance(
  core: Core,
  workflow: Workflow,
  parent: Task,
  fanOut: FanOut,
  all: readonly ChildTask[],
): Promise<boolean> {
  const plan = planOf(parent, fanOut);
  if (!plan.ok) return false;
  const { items } = plan;
  const children = newestTries(all, parent.entry);
  const byItem = new Map(children.map((child) => [child.task.part.item, child]));
  const awaited = await awaitedByParts(core, children);
  const blocked = new Set(children.flatMap(({ task }) => (awaited.has(task.id) ? [task.part.item] : [])));
  const next = nextOfFanOut(items, children, { ...fanOutOptions(workflow, parent, fanOut), blocked });
  const named = (ids: readonly string[]) => ids.flatMap((id) => byItem.get(id) ?? []);

  const ended = [
    ...named(next.skip).map((child) => ({ child, reason: whySkipped(items, children, child.task.part.item) })),
    ...named(next.stop).map((child) => ({ child, reason: whyStopped(children) })),
  ].filter(({ child }) => !isEnding(child));
  await Promise.all(ended.map(({ child, reason }) => end(core, child, reason)));

  const tries = items.flatMap((item): readonly Try[] => {
    const child = byItem.get(item.id);
    if (child === undefined) return [{ item, try: 1 }];
    return next.retry.includes(item.id) ? [nextTry(item, child)] : [];
  });
  await makeChildren(core, parent, parent.entry, fanOut.workflow, tries);

  // A child that a person moved out of its first state runs too.
  const strays = children.filter((child) => child.task.part.slot === undefined && stateOfChild(child) === "running");
  const started = [...strays.filter((child) => !isEnding(child)), ...named(next.start)];
  let slots: readonly ChildTask[] = all;
  for (const child of started) {
    const part = { ...child.task.part, slot: freeSlot(slots) };
    mustChange(await core.submit(child.task.id, { kind: "edit", actor: { role: "engine" }, set: { part } }));
    slots = [...slots, { ...child, task: { ...child.task, part } }];
  }
  if (ended.length + tries.length + started.length > 0) return true;

  const isOver = children.every((child) => !["waiting", "running"].includes(stateOfChild(child)));
  if (next.over !== undefined && isOver) {
    const { word, reason } = next.over;
    await core.submit(parent.id, { kind: "children", entry: parent.entry, word, reason });
  }
  await refuseStandstill(core, parent, children, awaited);
  return false;
}

function nextTry(item: Item, { task }: ChildTask): Try {
  const reason = task.reason || `It ended in "${task.status}", after "${task.previousStatus}".`;
  return { item, try: task.part.try + 1, reason };
}

/** Creates the children that are missing; with `again` also a new try for each item that was not done. */
async function createMissing(core: Core, parent: Task, again: boolean): Promise<void> {
  const { wait } = (await core.workflows.get(parent.workflowHash)).states[parent.status] ?? {};
  const plan = wait?.kind === "fan_out" ? planOf(parent, wait) : undefined;
  if (wait?.kind !== "fan_out" || plan?.ok !== true) return;
  const children = newestTries(await childrenOf(core, parent.id), parent.entry);
  const byItem = new Map(children.map((child) => [child.task.part.item, child]));
  const tries = plan.items.flatMap((item): readonly Try[] => {
    const child = byItem.get(item.id);
    if (child === undefined) return [{ item, try: 1 }];
    return again && ["failed", "skipped"].includes(stateOfChild(child)) ? [nextTry(item, child)] : [];
  });
  await makeChildren(core, parent, parent.entry, wait.workflow, tries);
}

/** What a part is held for that its parent no longer wants, and that the engine cannot move to its end. */
const stopping = "stopping the part";

/** Moves a child to its cancelled end. Its programs are ended first, also where it cannot be moved. */
async function end(core: Core, { task, workflow }: ChildTask, reason: string): Promise<void> {
  const to = workflow && engineEnd(workflow, task.status);
  if (to === undefined) {
    const endless = new Fault("children.endless", `The engine cannot end the part ${task.id} in "${task.status}".`, {
      hint: `End it yourself: signalbox task cancel ${task.id}`,
    });
    if (workflow !== undefined && !(isHeldFor(task, stopping) && Object.keys(task.runs).length === 0)) {
      const held = { kind: "unsettled", entry: task.entry, action: stopping, ends: true } as const;
      const asked = { ...held, reason: `${reason} ${reasonOf(endless)}` };
      await haltTask(core, task.id, () => core.submit(task.id, asked, undefined, "brake"), reason);
    }
    throw endless;
  }
  const request = { kind: "move", to, actor: { role: "engine" }, reason } as const;
  mustChange(await haltTask(core, task.id, () => core.submit(task.id, request, undefined, "brake"), reason));
}

/** What is refused would be tried again at once, without end. A child that has ended meanwhile is no refusal. */
function mustChange({ decision, stored }: Answer): void {
  if (decision.kind !== "rejected" || decision.reasons.some(({ code }) => code === "terminal")) return;
  const why = decision.reasons.map(({ text }) => text).join(" ");
  throw new Fault("children.refused", `The child ${stored.task.id} could not be changed. ${why}`);
}
