import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import { isShared, type PushPorts, pushedRef } from "../forge/push-task.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { isOwnBranch } from "../workspaces/ended-branches.ts";

/**
 * Deletes the task's branch on the remote. What it was at is in the control repository, so nothing is lost; a branch that
 * others have pushed to stays, and so does one that was not made for the task, or whose pull request is open: it would be
 * closed with it.
 */
export function deleteRemoteBranch(ports: PushPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const { kind, forge, remote } = await ports.forgeOf(project);
    const record = await ports.store.pullRequests.get(task.id);
    const branch = record !== undefined && record.url !== "" ? record.head : task.branch;
    if (remote === undefined || branch === "" || isShared(project, task, branch)) return;
    const { control } = await ports.workspacesOf(project);
    if (!(await isOwnBranch(control, { id: task.id, branch }))) return;
    const commit = (await control.commitAt(pushedRef(task.id))) ?? (await control.commitAt(taskRef(task.id)));
    // What never was anywhere cannot be on the remote either.
    if (commit === undefined) return;
    if (kind === "none") return control.deleteRemoteBranch({ remote, branch, expected: commit });
    if (record !== undefined && record.url !== "" && (await forge.getPullRequest(record.number)).state === "open") {
      throw new Fault("branch.in-use", `The branch "${branch}" stays: pull request ${record.number} is still open.`);
    }
    const deletion = await forge.deleteBranch(branch, commit);
    if (deletion.kind === "moved") throw new Fault("branch.moved", `The branch stays. ${deletion.reason}`);
  };
}
