import type { TaskView } from "../../api/tasks.ts";
import {
  awaitsChildren,
  type ChildTask,
  isUnstarted,
  newestTries,
  planOf,
  stateOfChild,
} from "../../engine/children.ts";
import { waysToDone } from "../../engine/persons-turn.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Core } from "../core.ts";
import { childrenOf } from "./child-tasks.ts";

type Ports = Pick<Core, "store" | "workflows" | "needs">;
type Progress = NonNullable<TaskView["children"]>;

/** How far the parts of a task's last plan are; null where it has none. */
export async function childProgress(
  ports: Ports,
  task: Task,
  workflow: Workflow | undefined,
): Promise<Progress | null> {
  const hasFanOut = Object.values(workflow?.states ?? {}).some(({ wait }) => wait.kind === "fan_out");
  const children = hasFanOut ? await lastParts(ports, task.id) : [];
  if (children.length === 0) return null;
  const count = (wanted: string) => children.filter((child) => stateOfChild(child) === wanted).length;
  const needPerson: string[] = [];
  for (const { task: child } of children.filter(({ isOpen }) => isOpen)) {
    const stored = await ports.store.getTask(child.id);
    if (stored !== undefined && (await ports.needs.of(stored)).length > 0) needPerson.push(child.id);
  }
  return {
    checkpoint: checkpointOf(children) ?? task.status,
    ...{ waiting: count("waiting"), running: count("running"), done: count("done") },
    ...{ failed: count("failed"), skipped: count("skipped"), needPerson },
  };
}

/** The state of the running child that is farthest from its end. */
function checkpointOf(children: readonly ChildTask[]): string | undefined {
  const running = children.flatMap((child) => {
    const { workflow, task } = child;
    if (workflow === undefined || stateOfChild(child) !== "running") return [];
    return [{ status: task.status, ways: waysToDone(workflow, task.status) }];
  });
  return running.sort((one, other) => other.ways - one.ways)[0]?.status;
}

async function lastParts({ store, workflows }: Ports, parent: string): Promise<readonly ChildTask[]> {
  const all = await childrenOf({ store, workflowOf: (task) => workflows.get(task.workflowHash) }, parent);
  return newestTries(all, Math.max(0, ...all.map(({ task }) => task.part.stay)));
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
  if (progress === null) return [];
  const { checkpoint, needPerson } = progress;
  const counts = (["done", "running", "waiting", "failed", "skipped"] as const).flatMap((name) =>
    progress[name] === 0 ? [] : [`${progress[name]} ${name}`],
  );
  const where = progress.running === 0 ? "" : ` The least advanced is in "${checkpoint}".`;
  return [
    {
      reason: `Its parts: ${counts.join(", ")}.${where}`,
      fix: `See them: signalbox task list --parent ${task.id} --open --closed`,
    },
    ...needPerson.map((id) => ({ reason: `Its part ${id} needs a person.`, fix: `signalbox task explain ${id}` })),
  ];
}

async function explainPart(ports: Ports, { parent, part }: Task): Promise<readonly Block[]> {
  const stored = await ports.store.getTask(parent);
  const workflow = stored && (await ports.workflows.get(stored.task.workflowHash));
  const wait = stored && workflow?.states[stored.task.status]?.wait;
  if (stored === undefined || part === undefined) return [];
  const fix = `See the whole: signalbox task explain ${parent}`;
  if (wait?.kind !== "fan_out" || stored.task.held !== undefined)
    return [{ reason: `It waits for its parent ${parent}, which is in "${stored.task.status}".`, fix }];
  const plan = planOf(stored.task, wait);
  const siblings = await lastParts(ports, parent);
  const byItem = new Map(siblings.map((child) => [child.task.part.item, child]));
  const needs = plan.ok ? (plan.items.find(({ id }) => id === part.item)?.needs ?? []) : [];
  const open = needs.flatMap((need) => {
    const child = byItem.get(need);
    return child !== undefined && stateOfChild(child) !== "done" ? [`"${need}" (${child.task.id})`] : [];
  });
  if (open.length > 0)
    return [{ reason: `It needs ${open.join(" and ")}, which ${open.length === 1 ? "is" : "are"} not done.`, fix }];
  const running = siblings.filter((child) => stateOfChild(child) === "running").length;
  return [{ reason: `It waits for a slot: ${running} of its siblings ${running === 1 ? "is" : "are"} at work.`, fix }];
}
