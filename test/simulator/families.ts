import { awaitsChildren, planOf } from "../../src/engine/children.ts";
import type { Task } from "../../src/engine/task.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import { isCheckout } from "../../src/ports/records.ts";
import type { StoredTask } from "../../src/ports/store.ts";
import type { AskAsPerson } from "./agents.ts";
import { isDone } from "./team.ts";
import type { Program, World } from "./world.ts";

const uniquePromise = "one child for each item and try";
const endPromise = "a parent is over only once its parts are";
const joinedPromise = "every part that is done is in its parent's branch";
const leftPromise = "nothing is left of an ended task";

async function partsOf({ store }: World, parent: string): Promise<readonly StoredTask[]> {
  return (await store.listTasks({ parent }, { limit: 500 })).filter(({ task }) => task.part !== undefined);
}

/** Checked whenever a part is created. */
export async function checkNewPart(world: World, { parent, part, id }: Task): Promise<void> {
  if (part === undefined) return;
  const same = (await partsOf(world, parent)).filter(({ task: { part: other } }) => {
    return other?.stay === part.stay && other.item === part.item && other.try === part.try;
  });
  if (same.length > 1)
    world.violate(uniquePromise, `${parent} has ${same.length} children for ${part.item}, as ${id}.`);
  if (part.try > 1 && (part.reason ?? "") === "")
    world.violate("a second try is told why", `${id} does not say why the first try of ${part.item} failed.`);
}

/** Checked after every decision about a task. */
export async function checkFamily(world: World, before: Task, after: Task, isOpen: boolean): Promise<void> {
  if (before.status !== after.status && isDone(world, after)) checkPartIn(world, after);
  checkSkipReason(world, before, after);
  if (isOpen) return;
  // A part whose last effects have failed waits for a person, not its parent.
  for (const { task, isOpen: isChildOpen } of await partsOf(world, after.id))
    if (isChildOpen && !(isEnding(world, task) && task.held !== undefined))
      world.violate(endPromise, `${after.id} is over, and its part ${task.id} is in ${task.status}.`);
  if (world.workflowOf(after).states[after.status]?.outcome === "done") await checkJoined(world, after);
}

function isEnding(world: World, task: Task): boolean {
  return world.workflowOf(task).states[task.status]?.terminal === true;
}

/** The branch of the parent has the work of a part, as it was collected last. */
function checkPartIn({ repositories, violate }: World, { id, parent }: Task): void {
  const { commits, refs } = repositories;
  const [work, target] = [refs.get(taskRef(id)), refs.get(taskRef(parent))];
  if (work === undefined || (target !== undefined && commits.isAncestor(work, target))) return;
  violate(joinedPromise, `${id} is done, and ${work.slice(0, 7)} is not in the branch of ${parent}.`);
}

/** The branch of a task has the work of every part that is done. */
export async function checkJoined(world: World, { id, workspace }: Task): Promise<void> {
  const { commits, refs, folders } = world.repositories;
  const folder = folders.get(workspace);
  const head = folder === undefined ? refs.get(taskRef(id)) : world.repositories.head(folder);
  for (const { task } of await partsOf(world, id)) {
    const work = refs.get(taskRef(task.id));
    if (!isDone(world, task) || work === undefined) continue;
    if (head === undefined || !commits.isAncestor(work, head))
      world.violate(joinedPromise, `${id} joined its parts, and lacks ${work.slice(0, 7)} of ${task.id}.`);
  }
}

/** A part that the engine ends says why. */
function checkSkipReason(world: World, before: Task, after: Task): void {
  if (after.part === undefined || before.status === after.status) return;
  const { outcome } = world.workflowOf(after).states[after.status] ?? {};
  if (outcome === "cancelled" && !world.cancelled.has(after.id) && !/^(Skipped|Stopped): ./.test(after.reason))
    world.violate("a skipped part names its reason", `${after.id} ended in ${after.status}: "${after.reason}".`);
}

/** Checked when the effect of a fan-out is marked done. */
export async function checkChildrenEffect(world: World, task: Task, action: string): Promise<void> {
  const parts = await partsOf(world, task.id);
  if (action === "stop_children") {
    const left = parts.find((each) => each.isOpen && !(isEnding(world, each.task) && each.task.held !== undefined));
    if (left !== undefined)
      world.violate(endPromise, `The children of ${task.id} were stopped, but not ${left.task.id}.`);
    return;
  }
  const workflow = world.workflowOf(task);
  const { wait } = workflow.states[task.status] ?? {};
  const plan = wait?.kind === "fan_out" && awaitsChildren(workflow, task) ? planOf(task, wait) : undefined;
  if (plan?.ok !== true) return;
  const items = new Set(parts.flatMap(({ task: { part } }) => (part?.stay === task.entry ? [part.item] : [])));
  const missing = plan.items.find(({ id }) => !items.has(id));
  if (missing !== undefined) world.violate(uniquePromise, `${task.id} has no child for ${missing.id}.`);
}

/** Checked whenever a workspace is bound: parents leave theirs to their parts. */
export async function checkParentsRoom(world: World, id: string): Promise<void> {
  const task = (await world.store.getTask(id))?.task;
  if (task === undefined) return;
  const promise = "a parent holds no workspace while its parts work";
  if (task.part === undefined) {
    if (awaitsChildren(world.workflowOf(task), task) && task.phase === "waiting")
      world.violate(promise, `${id} waits for its parts, and got a workspace.`);
    return;
  }
  const held = (await world.store.workspaces.list({ task: task.parent })).filter((each) => !isCheckout(each));
  if (held.length > 0 && !isEnding(world, task))
    world.violate(promise, `${id} got a workspace while its parent has ${held[0]?.path}.`);
}

/** An agent that has answered a prompt does not get it again. */
export function checkPrompt(world: World, program: Program): void {
  const { task, run, order } = program;
  for (const other of world.programs.values()) {
    const isSame = other !== program && other.task === task && other.run === run && other.order.prompt === order.prompt;
    if (isSame && other.hasAnswered)
      world.violate(
        "no prompt is sent twice",
        `${run} of ${task} got the prompt again that ${other.name} has answered.`,
      );
  }
}

/** Cancels a task and everything below it, as `task cancel --tree` does. */
export async function cancelTree(world: World, id: string, ask: AskAsPerson): Promise<void> {
  if ((await world.store.getTask(id))?.isOpen === true) {
    world.cancelled.add(id);
    await ask("cancelTask", id, {});
  }
  const below = (await world.store.listTasks({ parent: id, isOpen: true }, { limit: 500 })).map(({ task }) => task);
  for (const task of below) {
    if (task.part === undefined && !isEnding(world, task)) await cancelTree(world, task.id, ask);
    else world.trees.add(task.id);
  }
  world.trees.add(id);
}

/** At the end: ended tasks have left nothing, and trees that the person has cancelled are over. */
export async function checkNothingLeft(world: World): Promise<void> {
  const { store, violate } = world;
  const all = await store.listTasks({}, { limit: 500 });
  const closed = new Map(all.flatMap(({ task, isOpen }) => (isOpen ? [] : [[task.id, task] as const])));
  for (const { path, task } of await store.workspaces.list({}))
    if (closed.has(task)) violate(leftPromise, `${task} has ended, and still has the workspace ${path}.`);
  for (const [id, { workspace }] of closed) {
    if (workspace !== "") violate(leftPromise, `${id} has ended, and names the workspace ${workspace}.`);
    const run = (await store.runs.list({ task: id })).find(({ endedAt }) => endedAt === undefined);
    if (run !== undefined) violate(leftPromise, `${id} has ended, and its run ${run.id} has not.`);
    const merge = await store.merges.get(id);
    if (merge !== undefined && merge.endedAt === undefined)
      violate(leftPromise, `${id} has ended, and its merge has not.`);
    if ((await store.openEffects(id)).length > 0) violate(leftPromise, `${id} has ended, and owes effects.`);
  }
  for (const { task, isOpen } of all) {
    if (isOpen && task.part !== undefined && closed.has(task.parent) && task.held === undefined)
      violate(leftPromise, `${task.id} is open, and its parent has ended.`);
    if (isOpen && world.trees.has(task.id) && task.held === undefined)
      violate("cancelling a tree ends all of it", `${task.id} is in ${task.status}, and its tree was cancelled.`);
  }
}
