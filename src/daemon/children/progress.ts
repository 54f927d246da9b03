import type { ChildrenView, PartView } from "../../api/tasks.ts";
import {
  awaitsChildren,
  type ChildTask,
  isUnstarted,
  newestTries,
  planOf,
  stateOfChild,
  whyNotDone,
} from "../../engine/children.ts";
import type { Item } from "../../engine/fan-out.ts";
import { ledgerNumber } from "../../engine/findings.ts";
import { briefNeed, type Need } from "../../engine/needs.ts";
import { waysToDone } from "../../engine/persons-turn.ts";
import type { Part, Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Core } from "../core.ts";
import { allTaken, shownTask } from "../project.ts";
import { childrenOf } from "./child-tasks.ts";
import { awaitedByParts } from "./stalled-parts.ts";

type Ports = Pick<Core, "store" | "workflows" | "needs" | "scheduler" | "pools" | "agents">;

/** How far the parts of a task's last plan are; null where its workflow makes none. */
export async function childProgress(
  ports: Ports,
  task: Task,
  workflow: Workflow | undefined,
): Promise<ChildrenView | null> {
  if (!Object.values(workflow?.states ?? {}).some(({ wait }) => wait.kind === "fan_out")) return null;
  const all = await allParts(ports, task.id);
  const children = newestTries(all, lastStay(all));
  const items = itemsOf(task, workflow);
  const awaited = await awaitedByParts(ports, children);
  const parts: PartView[] = [];
  for (const child of children) {
    const { id, number, status, part } = child.task;
    const [need] = child.isOpen ? await needsOf(ports, id) : [];
    const state = stateOfChild(child);
    const names = awaited.get(id)?.map(shownTask) ?? [];
    const idle =
      names.length > 0
        ? `It waits for ${names.join(" and ")}.`
        : state === "running" && need === undefined
          ? await whyIdle(ports, child.task)
          : undefined;
    const earlier = all.filter(({ task: other }) => other.id !== id && isSameItem(other.part, part));
    parts.push({
      ...{ id, number, item: part.item, title: part.title, try: part.try, status },
      state: idle === undefined ? state : "waiting",
      needsPerson: need !== undefined,
      why: need === undefined ? (idle ?? whatFor(child, children, items, task) ?? aboutEnd(child)) : briefNeed(need),
      earlier: earlier.map((other) => other.task.id),
    });
  }
  const count = (wanted: PartView["state"]) => parts.filter(({ state }) => state === wanted).length;
  return {
    checkpoint: checkpointOf(children) ?? task.status,
    ...{ waiting: count("waiting"), running: count("running"), done: count("done") },
    ...{ failed: count("failed"), skipped: count("skipped") },
    needPerson: parts.filter(({ needsPerson }) => needsPerson).map(({ id }) => id),
    parts,
  };
}

/** Why a part that may work does not: no workspace is free, or its agent waits for a seat or for a provider's limit. */
async function whyIdle({ store, scheduler, pools, agents }: Ports, { id, project }: Task): Promise<string | undefined> {
  const isWithoutWorkspace = pools?.room.waits(id) || (scheduler.waits(id) && (await scheduler.isFull(project, id)));
  if (!isWithoutWorkspace) {
    const run = agents?.dispatch.waiting().find(({ task }) => task === id)?.run;
    const block = run === undefined ? undefined : agents?.dispatch.blockOf(run);
    // The task that has the budget tells all about it, once.
    if (block === undefined || block.owner === id) return agents?.dispatch.whyWaiting(id);
    return `It waits for the budget of ${block.owner}.`;
  }
  const size = (await store.getProject(project))?.poolSize ?? 0;
  return `It waits for a workspace. ${allTaken(project, size)}`;
}

async function needsOf({ store, needs }: Ports, id: string): Promise<readonly Need[]> {
  const stored = await store.getTask(id);
  return stored === undefined ? [] : needs.of(stored);
}

function isSameItem(one: Part, other: Part): boolean {
  return one.item === other.item && one.stay === other.stay;
}

/** The items of the plan that the task carries out. */
function itemsOf(task: Task, workflow: Workflow | undefined): readonly Item[] {
  const wait = workflow?.states[task.status]?.wait;
  const plan = wait?.kind === "fan_out" ? planOf(task, wait) : undefined;
  return plan?.ok ? plan.items : [];
}

/** Why a part was not done, or that it was done although small findings were left. */
function aboutEnd(child: ChildTask): string {
  const noted = stateOfChild(child) === "done" ? (ledgerNumber(child.task.ledger, "noted_findings") ?? 0) : 0;
  if (noted === 0) return whyNotDone(child);
  return `${noted} small ${noted === 1 ? "finding is" : "findings are"} noted: signalbox task findings ${child.task.id}`;
}

const freeSlot = "It waits for a free slot.";

/** What a part waits for before it starts; undefined if it has started, or has ended. */
function whatFor(
  child: ChildTask,
  siblings: readonly ChildTask[],
  items: readonly Item[],
  { held, status }: Task,
  name = ({ part }: ChildTask["task"]) => `"${part.item}"`,
): string | undefined {
  if (stateOfChild(child) !== "waiting") return undefined;
  if (items.length === 0 || held !== undefined) return `It waits for its parent, which is in "${status}".`;
  const byItem = new Map(siblings.map((each) => [each.task.part.item, each]));
  const needs = items.find(({ id }) => id === child.task.part.item)?.needs ?? [];
  const open = needs.flatMap((need) => {
    const sibling = byItem.get(need);
    return sibling !== undefined && stateOfChild(sibling) !== "done" ? [name(sibling.task)] : [];
  });
  if (open.length > 0) return `It needs ${open.join(" and ")}, which ${open.length === 1 ? "is" : "are"} not done.`;
  return freeSlot;
}

/** The state of the running child that is farthest from its end. One that has ended, and still owes effects, comes last. */
function checkpointOf(children: readonly ChildTask[]): string | undefined {
  const running = children.flatMap((child) => {
    const { workflow, task } = child;
    if (workflow === undefined || stateOfChild(child) !== "running") return [];
    const isEnding = workflow.states[task.status]?.terminal === true;
    return [{ status: task.status, ways: isEnding ? -1 : waysToDone(workflow, task.status) }];
  });
  return running.sort((one, other) => other.ways - one.ways)[0]?.status;
}

function allParts({ store, workflows }: Ports, parent: string): Promise<readonly ChildTask[]> {
  return childrenOf({ store, workflowOf: (task) => workflows.get(task.workflowHash) }, parent);
}

function lastStay(all: readonly ChildTask[]): number {
  return Math.max(0, ...all.map(({ task }) => task.part.stay));
}

type Block = { readonly reason: string; readonly fix: string };

/** What a part waits for before it gets a slot, or what a parent waits for, as sentences. */
export async function explainChildren(ports: Ports, task: Task, workflow: Workflow): Promise<readonly Block[]> {
  return task.part === undefined || !isUnstarted({ task: { ...task, part: task.part }, workflow })
    ? explainParent(ports, task, workflow)
    : explainPart(ports, task);
}

async function explainParent(ports: Ports, task: Task, workflow: Workflow): Promise<readonly Block[]> {
  const progress = awaitsChildren(workflow, task) ? await childProgress(ports, task, workflow) : null;
  if (progress === null || progress.parts.length === 0) return [];
  const { checkpoint, parts } = progress;
  const counts = (["done", "running", "waiting", "failed", "skipped"] as const).flatMap((name) =>
    progress[name] === 0 ? [] : [`${progress[name]} ${name}`],
  );
  const where = progress.running === 0 ? "" : ` Its checkpoint is "${checkpoint}", where the least advanced part is.`;
  return [
    {
      reason: `It waits for its ${parts.length === 1 ? "only part" : `${parts.length} parts`}: ${counts.join(", ")}.${where}`,
      fix: `See them: signalbox task list --parent ${task.id} --open --closed`,
    },
    ...parts
      .filter(({ needsPerson }) => needsPerson)
      .map(({ id, item }) => ({
        reason: `Its part "${item}" (${id}) needs a person.`,
        fix: `signalbox task explain ${id}`,
      })),
  ];
}

async function explainPart(ports: Ports, { id, parent, part }: Task): Promise<readonly Block[]> {
  const stored = await ports.store.getTask(parent);
  const workflow = stored && (await ports.workflows.get(stored.task.workflowHash));
  if (stored === undefined || workflow === undefined || part === undefined) return [];
  const siblings = newestTries(await allParts(ports, parent), part.stay);
  const child = siblings.find(({ task }) => task.id === id);
  const named = (task: ChildTask["task"]) => `"${task.part.item}" (${task.id})`;
  const reason = child && whatFor(child, siblings, itemsOf(stored.task, workflow), stored.task, named);
  if (reason === undefined) return [];
  const running = siblings.filter((each) => stateOfChild(each) === "running").length;
  const atWork = reason === freeSlot ? ` ${running} of its siblings ${running === 1 ? "is" : "are"} at work.` : "";
  return [{ reason: `${reason}${atWork}`, fix: `See the whole: signalbox task explain ${parent}` }];
}
