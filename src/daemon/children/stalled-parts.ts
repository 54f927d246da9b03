import { type ChildTask, stateOfChild } from "../../engine/children.ts";
import { startOf } from "../../engine/persons-turn.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Core } from "../core.ts";
import { seeDependencies } from "../dependencies.ts";
import { shownTask } from "../project.ts";

type Ports = Pick<Core, "store" | "workflows">;

/** By the id of a part that has not started: the tasks for which it waits because it depends on them. */
export type Awaited = ReadonlyMap<string, readonly Task[]>;

/** What the parts that have not started wait for, apart from their plan. */
export async function awaitedByParts(ports: Ports, children: readonly ChildTask[]): Promise<Awaited> {
  const found = new Map<string, readonly Task[]>();
  for (const { task, workflow, isOpen } of children) {
    if (!isOpen || workflow === undefined || task.dependsOn.length === 0) continue;
    const awaited = startOf(workflow, task) === undefined ? [] : await unmetOf(ports, task);
    if (awaited.length > 0) found.set(task.id, awaited);
  }
  return found;
}

async function unmetOf({ store, workflows }: Ports, { dependsOn }: Task): Promise<readonly Task[]> {
  const seen = await seeDependencies({ store, workflowOf: (task) => workflows.get(task.workflowHash) }, dependsOn);
  return seen.flatMap(({ stored, verdict }) => (verdict === "met" ? [] : [stored.task]));
}

/**
 * Throws if no part of a plan can go on by itself: none works, none was started, and everything that they wait for waits for
 * them in turn, or has ended. The caller has just found that it has nothing to start.
 */
export async function refuseStandstill(
  ports: Ports,
  parent: Task,
  children: readonly ChildTask[],
  awaited: Awaited,
): Promise<void> {
  const open = children.filter((child) => ["waiting", "running"].includes(stateOfChild(child)));
  const isAtWork = (child: ChildTask) => stateOfChild(child) === "running" && !awaited.has(child.task.id);
  if (awaited.size === 0 || open.length === 0 || open.some(isAtWork)) return;
  const stuck = new Set([...open.map(({ task }) => task.id), ...(await lineOf(ports, parent))]);
  const left = [...awaited.values()].flat();
  for (const task of left) {
    if (stuck.has(task.id)) continue;
    stuck.add(task.id);
    const stored = await ports.store.getTask(task.id);
    if (stored?.isOpen !== true) continue;
    const workflow = await ports.workflows.get(task.workflowHash).catch(() => undefined);
    if (workflow === undefined) continue;
    const further = startOf(workflow, task) === undefined ? [] : await unmetOf(ports, task);
    if (further.length === 0) return;
    left.push(...further);
  }
  const [first] = open.filter(({ task }) => awaited.has(task.id));
  const waits = open.flatMap(({ task }) => {
    const names = (awaited.get(task.id) ?? []).map(shownTask);
    return names.length === 0 ? [] : [`"${task.part.item}" waits for ${names.join(" and ")}`];
  });
  throw new Fault("children.standstill", `No part of the plan can go on: ${waits.join("; ")}.`, {
    hint: `Remove a dependency: signalbox task update ${first?.task.id} --depends-on ""`,
  });
}

/** The parent and everything above it, which wait for its parts. */
async function lineOf({ store }: Ports, parent: Task): Promise<readonly string[]> {
  const line = [parent.id];
  for (let at: Task | undefined = parent; at !== undefined && at.parent !== "" && !line.includes(at.parent); ) {
    line.push(at.parent);
    at = (await store.getTask(at.parent))?.task;
  }
  return line;
}
