import { prefixForLabels, slug } from "../../engine/branch-name.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { type RenamePorts, renameBranch } from "../workspaces/rename-branch.ts";

/** Names the branch after what the task is about: `fix/weak-coffee`. A name that somebody has chosen stays. */
export function nameBranch(ports: RenamePorts): Perform {
  return async (_, { task }) => {
    // What was made up for the task ends with its id.
    if (!task.branch.endsWith(task.id) || task.summary.trim() === "") return;
    const project = await projectOf(ports.store, task.project);
    await renameBranch(ports, project, task, `${prefixForLabels(task.labels)}/${slug(task.summary)}`);
  };
}
