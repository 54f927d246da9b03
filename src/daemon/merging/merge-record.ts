import type { Task } from "../../engine/task.ts";
import type { Merge } from "../../ports/records.ts";
import type { Wanted } from "./merging.ts";

/** The record of a merge that was just requested. */
export function newMerge(task: Task, wanted: Wanted, at: number): Merge {
  const { target, parent, strategy, to, by, only, givesBack, leaves } = wanted;
  return {
    ...{ id: task.id, project: task.project, task: task.id, at },
    ...{ target, strategy, to, by, entry: task.entry, state: "lined-up", reason: "", files: [] },
    ...{ commit: "", before: "", after: "", endedAt: undefined },
    ...(parent === undefined ? {} : { parent }),
    ...(only === undefined ? {} : { only }),
    ...(givesBack === undefined ? {} : { givesBack }),
    ...(leaves === undefined ? {} : { leaves }),
  };
}

/**
 * Whether a request continues a recorded merge: one that a crash interrupted, or one that has landed and is requested again,
 * by a person for the same commit or by a workflow that could not record the landing.
 */
export function isSameMerge(known: Merge, now: Merge, commit: string | undefined): boolean {
  const isSamePlace = known.parent === now.parent && (now.parent !== undefined || known.target === now.target);
  if (!isSamePlace || (known.entry ?? now.entry) !== now.entry) return false;
  if (known.endedAt === undefined) return now.only === undefined || now.only === commit;
  if (known.state !== "merged") return false;
  return (known.only ?? commit) === commit || (now.to === "" && known.reason === "");
}

/** The undo of the task's earlier merge, kept until its work is merged again. */
export function undoOf(merge: Merge | undefined): Pick<Merge, "undo"> {
  return merge?.undo === undefined ? {} : { undo: merge.undo };
}

/** `isPlanned`: the planned commit is in the branch. */
export function landedAs(merge: Merge, { commit, before, after, pushed, untested }: Place, isPlanned: boolean): Merge {
  // If the daemon was killed after publishing, the branch has the commit already. Then the recorded plan counts.
  const place = before === after && isPlanned ? {} : { before, after };
  const { undo: _, onRemote: __, ...rest } = merge;
  const how = { ...(pushed === undefined ? {} : { pushed }), ...(untested === undefined ? {} : { untested }) };
  return { ...rest, state: "merged", reason: "", files: [], commit, ...place, ...how };
}

type Place = Pick<Merge, "commit" | "before" | "after" | "pushed" | "untested">;
