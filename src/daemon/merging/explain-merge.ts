import type { ExplanationView } from "../../api/task-wires.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { Core } from "../core.ts";
import { lastSeen } from "./find-tips.ts";
import { restoreMessage, restoreWork, takenBack } from "./restore-work.ts";

/** Open tasks that change the same places, as sentences. */
export async function expectedConflicts({ store, repositories }: Core, id: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const { task, files } of repositories?.predictions.of(id) ?? []) {
    const other = await store.getTask(task);
    if (other === undefined || !other.isOpen) continue;
    const { project, number, summary } = other.task;
    const title = summary === "" ? "" : ` (${summary})`;
    sentences.push(`It will conflict with ${project}#${number}${title} in ${files.join(", ")}.`);
  }
  return sentences;
}

/** Submodules that the task's work has at commits that nobody else could get, as sentences with what to do. */
export async function warnOfModules(core: Core, task: Task): Promise<string[]> {
  return (await unpushedModules(core, task)).map(
    (name) =>
      `${name} points to a commit that no remote of its repository has. Push it: git -C ${task.workspace}/${name} push origin HEAD:refs/heads/${task.branch}`,
  );
}

/** The same once the task is merged, and its workspace goes. */
export function mergedModules(names: readonly string[]): string[] {
  return names.map(
    (name) =>
      `${name} points to a commit that no remote of its repository has, so nobody else can check it out. It is salvaged with the workspace: signalbox salvage list`,
  );
}

/** Their paths. */
export async function unpushedModules({ store, repositories }: Core, task: Task): Promise<string[]> {
  const project = task.workspace === "" ? undefined : await store.getProject(task.project);
  if (project === undefined || repositories === undefined) return [];
  try {
    const { control } = await repositories.workspacesOf(project);
    const base = await lastSeen(control, targetOf(project, task), repositories.where());
    const commit = await control.commitAt(taskRef(task.id));
    const from = base && commit && (await control.mergeBase(base, commit));
    if (from === undefined || commit === undefined || from === "" || commit === "") return [];
    const found = await control.unpushedModules({ folder: task.workspace, from, to: commit });
    return found.map(({ text }) => text);
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** A conflict that an agent was told of, while the task is still where it was sent for that. */
export async function givenBackConflict({ store }: Core, task: Task): Promise<ExplanationView["blocked"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge?.state !== "conflict" || merge.givenBack === undefined) return [];
  const { givenBack, target, files, entry } = merge;
  const isThere = entry === undefined ? task.status === givenBack.to : task.entry === entry + 1;
  if (!isThere) return [];
  const shown = files.slice(0, mostFiles).join(", ");
  const where = files.length > mostFiles ? `${shown} and ${files.length - mostFiles} more files` : shown;
  const told =
    givenBack.run === "" ? "" : ` ${givenBack.run} was told to resolve it, and hands the work over again then.`;
  const reason = `Its work conflicts with "${target}" in ${where}.${told}`;
  return [{ reason, fix: `See what it is at: signalbox task peek ${task.id}` }];
}

const mostFiles = 5;

/** What becomes of a task's merge by itself. */
export async function nextOfMerge(
  { store, repositories }: Core,
  { task }: StoredTask,
): Promise<ExplanationView["next"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge?.state === "waits")
    return [{ what: `Merge into "${merge.target}" as soon as that is out of the way`, at: null }];
  if (merge?.state !== "lined-up") return [];
  const before = repositories?.merging.before(task.id) ?? 0;
  const others = before === 0 ? "" : ` (after ${before} others)`;
  return [{ what: `Merge into "${merge.target}"${others}`, at: null }];
}

/** Of a task that is over: that the branch has not its work any more, as far as that is known, and how it comes back. */
export async function lostMerge(core: Core, { task }: StoredTask): Promise<ExplanationView["blocked"]> {
  const merge = task.phase === "over" ? await core.store.merges.get(task.id) : undefined;
  if (merge === undefined || (merge.state !== "merged" && merge.state !== "undone") || merge.commit === "") return [];
  try {
    const reason = await howLost(core, task, merge);
    const fix = `To bring its work back in a new task: signalbox task create --from ${task.id}`;
    return reason === undefined ? [] : [{ reason, fix }];
  } catch (error) {
    // What was forgotten, or cannot be read now, nobody knows.
    if (error instanceof Fault) return [];
    throw error;
  }
}

async function howLost(core: Core, task: Task, merge: Merge): Promise<string | undefined> {
  const { repositories, store, clock } = core;
  const project = await store.getProject(task.project);
  if (repositories === undefined || project === undefined) return undefined;
  const own = await repositories.workspacesOf(project);
  const { control } = own;
  const { target, commit, after } = merge;
  await control.syncFrom({ from: project.path, name: "user", only: [target] });
  const tip = await lastSeen(control, target, repositories.where());
  if (tip === undefined) return undefined;
  const isThere = (await control.isAncestor(commit, tip)) || (after !== "" && (await control.isAncestor(after, tip)));
  if (!isThere) return `It was merged, but "${target}" does not contain its work any more: somebody has moved it back.`;
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(task, target), author, date: clock.now() };
  const lost = await takenBack(control, merge, commit, tip, how);
  if (lost === undefined || (await restoreWork(control, lost, tip, how)) === undefined) return undefined;
  return `Its merge into "${target}" was taken back.`;
}
