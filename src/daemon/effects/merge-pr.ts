import { Fault } from "../../fault.ts";
import { type MergePorts, mergePullRequest } from "../forge/merge-pull-request.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";

/** Merges the task's pull request. Ends with `unapproved` or `unmergeable` where that is not to be. */
export function mergePr(ports: MergePorts): Perform {
  return async (_, { task }) => {
    const result = await mergePullRequest(ports, await projectOf(ports.store, task.project), task);
    if (result.kind === "merged") return;
    if (result.kind === "none") {
      throw new Fault("pr.missing", "The task has no pull request on a forge that could merge it.", {
        hint: `Open one: signalbox task create-pr ${task.id}`,
      });
    }
    // What the forge is still working out is asked for again in a moment.
    throw new Fault(result.word, result.reason, { retry: result.isUndecided ? "later" : "never" });
  };
}
