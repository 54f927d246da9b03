import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { type Entry, type Outcome, outcomeOf, type Ready, refused } from "./entry.ts";
import { findTips, lastSeen, type Where } from "./find-tips.ts";
import { type LandPorts, land } from "./land.ts";
import { wholeWork } from "./restore-work.ts";
import { type Merged, obstacle } from "./stack-up.ts";
import { workOf } from "./work-of.ts";

export interface LandEntriesPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  /** Whose branch counts. */
  where(): Where;
  /** How a project's merges are tested and published. */
  landingOf(project: Project, own: ProjectWorkspaces): Promise<Omit<LandPorts, "planned">>;
}

/** Merges entries of one line, with the work as it is now. */
export async function landEntries(
  ports: LandEntriesPorts,
  name: string,
  target: string,
  entries: readonly Entry[],
): Promise<ReadonlyMap<Entry, Outcome>> {
  const project = await ports.store.getProject(name);
  if (project === undefined) return new Map(entries.map((entry) => [entry, refused("The project is gone.")]));
  const own = await ports.workspacesOf(project);
  const outcomes = new Map<Entry, Outcome>();
  const ready = new Map<Ready, Entry>();
  for (const entry of entries) {
    // One whose work cannot be read is nothing to the others.
    const found = await prepare(ports, own, project, entry).catch((error): Outcome => {
      if (error instanceof Fault) return outcomeOf(error);
      throw error;
    });
    if ("kind" in found) outcomes.set(entry, found);
    else ready.set(found, entry);
  }
  const landing = {
    ...(await ports.landingOf(project, own)),
    planned: (merged: readonly Merged[]) => plan(ports, merged),
  };
  const landed = await land(landing, own, project, target, [...ready.keys()]);
  for (const [each, outcome] of landed) {
    const entry = ready.get(each);
    if (entry !== undefined) outcomes.set(entry, outcome);
  }
  return outcomes;
}

async function prepare(
  { store, where }: LandEntriesPorts,
  own: ProjectWorkspaces,
  project: Project,
  entry: Entry,
): Promise<Ready | Outcome> {
  const stored = await store.getTask(entry.task);
  if (stored === undefined || stored.task.phase === "over") return refused("The task is over.");
  const asked = await store.merges.get(entry.task);
  const work = await workOf(own, project, stored.task, asked?.leaves);
  if (work.kind === "refused") return refused(work.reason);
  const { only = work.commit } = asked ?? {};
  if (only !== work.commit) return refused(movedSince(only, work.commit));
  const whole = await wholeWork(own, project, stored.task, asked, work.commit, where(), entry.at);
  if (whole.kind === "conflict") return obstacle(entry, whole);
  return { ...entry, commit: whole.commit, message: messageOf(stored.task) };
}

export function movedSince(approved: string, now: string): string {
  const [from, to] = [approved.slice(0, 10), now.slice(0, 10)];
  return `The branch has moved since it was approved, from ${from} to ${to}. Look at what is new, and approve that.`;
}

/** Whether everything that the task has done by now is in the branch. */
export async function hasAll(ports: LandEntriesPorts, id: string, merge: Merge): Promise<boolean> {
  const stored = await ports.store.getTask(id);
  const project = stored && (await ports.store.getProject(stored.task.project));
  if (stored === undefined || project === undefined) return true;
  const work = await workOf(await ports.workspacesOf(project), project, stored.task, merge.leaves);
  return work.kind === "ready" && isInTarget(ports, merge, work.commit);
}

/** Whether the branch, as it was last looked at, contains a commit. */
export async function isInTarget(
  { store, workspacesOf, where }: LandEntriesPorts,
  { project: name, target }: Merge,
  commit: string,
): Promise<boolean> {
  const project = await store.getProject(name);
  if (project === undefined) return false;
  const { control } = await workspacesOf(project);
  const tip = await lastSeen(control, target, where());
  return tip !== undefined && (await control.isAncestor(commit, tip));
}

/** The same, looked at now. Where there is nothing to look at, it has not. */
export async function hasArrived(ports: LandEntriesPorts, merge: Merge, commit: string): Promise<boolean> {
  const project = await ports.store.getProject(merge.project);
  if (project === undefined) return false;
  try {
    await findTips(await ports.workspacesOf(project), project, merge.target, ports.where());
    return await isInTarget(ports, merge, commit);
  } catch (error) {
    if (error instanceof Fault && error.retry !== "later") return false;
    throw error;
  }
}

/** Noted before the branch moves: whoever finds the work there after a crash still knows how it came in. */
async function plan({ store }: LandEntriesPorts, merged: readonly Merged[]): Promise<void> {
  for (const { entry, before, after } of merged) {
    const merge = before === after ? undefined : await store.merges.get(entry.task);
    if (merge !== undefined) await store.merges.put({ ...merge, commit: entry.commit, before, after });
  }
}

export function messageOf({ branch, summary, project, number, id, ticket = "" }: Task): string {
  const title = summary.replace(/\s+/g, " ").trim();
  const named = ticket === "" ? "" : `Ticket: ${ticket}\n`;
  return `Merge ${branch}${title === "" ? "" : `: ${title}`}\n\nTask: ${project}#${number} (${id})\n${named}`;
}
