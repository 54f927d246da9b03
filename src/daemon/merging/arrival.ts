import { Fault, tell } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import { placeAt } from "../landing-place.ts";
import type { LandEntriesPorts } from "./land.ts";
import { lineOf } from "./merge-queue.ts";
import type { MergingPorts } from "./merging.ts";

/** Whether the branch contained a commit when it was last fetched. */
export async function isInTarget(ports: LandEntriesPorts, merge: Merge, commit: string): Promise<boolean> {
  const found = await foundPlace(ports, merge);
  const tip = await found?.place.lastSeen();
  return found !== undefined && tip !== undefined && (await found.own.control.isAncestor(commit, tip));
}

/** Where a planned merge has arrived: in the branch, or only in the remote's. Undefined in neither. */
export async function whereArrived(
  ports: LandEntriesPorts,
  merge: Merge,
  commit: string,
): Promise<"here" | "remote" | undefined> {
  const { onRemote = false } = merge;
  const place = (await foundPlace(ports, merge))?.place;
  try {
    await place?.find();
  } catch (error) {
    if (!(error instanceof Fault) || (error.retry === "later" && !onRemote)) throw error;
    if (!onRemote) return undefined;
  }
  if (await isInTarget(ports, merge, commit)) return "here";
  return onRemote || (await place?.isOnRemote(commit)) ? "remote" : undefined;
}

/** Where a recorded merge goes; undefined if its project was removed. */
async function foundPlace({ store, workspacesOf, where }: LandEntriesPorts, merge: Merge) {
  const project = await store.getProject(merge.project);
  if (project === undefined) return undefined;
  const own = await workspacesOf(project);
  return { own, place: placeAt({ store, where: where() }, own, project, merge) };
}

/**
 * Undoes what publishing has begun in the user's checkout. Returns what could not be undone, or an empty text. `known`: why the
 * merge ended, which is not repeated.
 */
export async function undoBegun(ports: LandEntriesPorts, merge: Merge, known: string): Promise<string> {
  try {
    return (await (await foundPlace(ports, merge))?.place.undoBegun()) ?? "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const why = tell(error);
    return known.includes(why)
      ? "For the same reason, what the merge has begun could not be undone yet."
      : `What the merge has begun could not be undone: ${why}`;
  }
}

type FollowPorts = Pick<MergingPorts, "store" | "inTurn" | "workspacesOf" | "landingOf">;

/**
 * Fast-forwards the user's branch to the remote's if nothing blocks it. The work is safe on the remote in any case. Returns
 * whether the user's branch has everything.
 */
export async function followRemote(ports: FollowPorts, project: Project, target: string): Promise<boolean> {
  return ports.inTurn(lineOf(project.name, { target }), async () => {
    const own = await ports.workspacesOf(project);
    const place = placeAt({ store: ports.store, where: "both" }, own, project, { target });
    const tips = await place.find();
    if (tips.apart) return false;
    if (tips.base === tips.user) return true;
    return (await place.publish(await ports.landingOf(project, own), tips, tips.base)).kind === "published";
  });
}

/** Lets the user's branch follow a merge that only the remote's branch has. Returns whether nothing is left to do. */
async function catchUp(ports: FollowPorts, task: string): Promise<boolean> {
  const { store } = ports;
  const merge = await store.merges.get(task);
  const project = merge?.onRemote === true ? await store.getProject(merge.project) : undefined;
  if (merge === undefined || project === undefined || merge.endedAt === undefined) return true;
  if (!(await followRemote(ports, project, merge.target))) return false;
  const { onRemote: _, ...rest } = merge;
  await store.merges.put({ ...rest, reason: "" });
  return true;
}

/** The first and the longest pause before the user's branch tries to follow the remote's again, in milliseconds. */
const [firstPause, maxPause] = [5_000, 60_000];

/** Lets the user's branches follow merges that only the remote's have, as soon as nothing is in the way. */
export function createFollower(ports: FollowPorts & Pick<MergingPorts, "clock" | "onError">) {
  const timers = new Set<() => void>();
  let stopped = false;
  const follow = (task: string, pause = firstPause): void => {
    if (stopped) return;
    const cancel = ports.clock.after(pause, async () => {
      timers.delete(cancel);
      const isDone = await catchUp(ports, task).catch((error) => {
        if (!(error instanceof Fault)) ports.onError(error);
      });
      if (isDone !== true) follow(task, Math.min(pause * 2, maxPause));
    });
    timers.add(cancel);
  };
  return {
    follow: (task: string) => follow(task),
    stop() {
      stopped = true;
      for (const cancel of timers) cancel();
    },
  };
}

/** What a person is told about a merge that only the remote's branch has. */
export function isPublished({ target, task }: Pick<Merge, "target" | "task">): string {
  return `The remote's "${target}" has it already, so it is published. Your local "${target}" follows by itself when nothing is in its way. To undo it: signalbox task merge ${task} --undo`;
}
