import type { Task } from "../../engine/task.ts";
import { Fault, tell } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import { sentences } from "../../text.ts";
import { type LandingPlace, placeAt } from "../landing-place.ts";
import { type MergeableWork, mergeableWork } from "../task-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { LandEntriesPorts } from "./land.ts";

/** Which work of the task its merge does not contain, in sentences for a person; empty if it contains everything. */
export async function laterWork(ports: LandEntriesPorts, merge: Merge, task: Task): Promise<string> {
  const { only, target, leaves, to } = merge;
  const project = await ports.store.getProject(task.project);
  if (only === undefined || project === undefined) return "";
  const own = await ports.workspacesOf(project);
  const work = await mergeableWork(ports.store, own, project, task, leaves).catch((error): MergeableWork => {
    if (error instanceof Fault && error.retry !== "later") return { kind: "refused", reason: tell(error) };
    throw error;
  });
  const landed = `${short(only)} is merged into ${target}.`;
  const stays = `so the task stays in ${task.status}.`;
  // After a workflow's merge, its rules or the hold say what to do.
  const then = to === "" ? "" : `signalbox task merge ${task.id}`;
  if (work.kind === "refused")
    return sentences([landed, `Some of the task's work is not, ${stays}`, work.reason, then && `Then: ${then}`]);
  const place = placeAt({ store: ports.store, where: ports.where() }, own, project, merge);
  const count = work.commit === only ? 0 : await laterCommits(own, place, only, work.commit);
  if (count === 0) return "";
  const later = count === 1 ? "1 later commit is" : `${count} later commits are`;
  return sentences([landed, `${later} not, ${stays}`, then && `Merge ${count === 1 ? "it" : "them"}: ${then}`]);
}

/** A forge may have rewritten the work as another commit: then the commits after the merged one are counted. */
async function laterCommits(
  { control }: ProjectWorkspaces,
  place: LandingPlace,
  merged: string,
  now: string,
): Promise<number> {
  const tip = await place.lastSeen();
  const isThere = tip !== undefined && (await control.isAncestor(merged, tip));
  return control.countCommits(isThere ? tip : merged, now);
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
