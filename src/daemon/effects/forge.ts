import { type Finding, isUnsettled } from "../../engine/findings.ts";
import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { ParamValue, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Store } from "../../ports/store.ts";
import { type MergePorts, mergePullRequest, type OpenPorts, openPullRequest } from "../forge/pull-request.ts";
import { type ForgeOf, type PushPorts, pushableWork, pushedRef, pushWork } from "../forge/push-task.ts";
import type { Perform, Performers } from "../perform.ts";
import { isShared, projectOf } from "../project.ts";
import type { Protection } from "../protection.ts";
import { isOwnBranch } from "../workspaces/own-branches.ts";

/** Opens the task's pull request, or updates it. Without a forge it is only recorded. */
export function createPr(ports: OpenPorts): Perform {
  return async ({ params }, { task }) => {
    const workflow = await ports.workflowOf(task);
    await openPullRequest(ports, await projectOf(ports.store, task.project), task, {
      title: filledParam(workflow, task, params.title),
      body: filledParam(workflow, task, params.body),
    });
  };
}

/**
 * Deletes the task's branch on the remote. Its commits are in the control repository, so nothing is lost. A branch
 * stays if others have pushed to it, if it was not made for the task, or if its pull request is open, because deleting
 * it would close that.
 */
function deleteRemoteBranch(ports: PushPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const { kind, forge, remote } = await ports.forgeOf(project);
    const record = await ports.store.pullRequests.get(task.id);
    const branch = record !== undefined && record.url !== "" ? record.head : task.branch;
    if (remote === undefined || branch === "" || isShared(project, task, branch)) return;
    const { control } = await ports.workspacesOf(project);
    if (!(await isOwnBranch(control, { id: task.id, branch }))) return;
    const commit = (await control.commitAt(pushedRef(task.id))) ?? (await control.commitAt(taskRef(task.id)));
    // Work that was never collected cannot have been pushed.
    if (commit === undefined) return;
    if (kind === "none") return control.deleteRemoteBranch({ remote, branch, expected: commit });
    if (record !== undefined && record.url !== "" && (await forge.getPullRequest(record.number)).state === "open") {
      throw new Fault("branch.in-use", `The branch "${branch}" stays: pull request ${record.number} is still open.`);
    }
    const deletion = await forge.deleteBranch(branch, commit);
    if (deletion.kind === "moved") throw new Fault("branch.moved", `The branch stays. ${deletion.reason}`);
  };
}

/** A text parameter of an action, with its variables filled in; empty where the workflow gives none. */
function filledParam(workflow: Workflow, task: Task, param: ParamValue | undefined): string {
  const filled = fillText(workflow, task, typeof param === "string" ? param : "", {});
  if (!filled.ok) throw new Fault("action.unfilled", `The text of the action is not complete. ${filled.problem}`);
  return filled.text.trim();
}

/** What the effects on remotes and forges need. */
export interface ForgeEffectPorts extends OpenPorts, MergePorts {
  readonly protection: Pick<Protection, "mustBeConfirmed">;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The effects that need a remote or a forge. */
export function forgeEffects(ports: ForgeEffectPorts): Performers {
  return {
    push_branch: pushBranch(ports),
    create_pr: createPr(ports),
    merge_pr: mergePr(ports),
    post_comment: postComment(ports),
    delete_remote_branch: deleteRemoteBranch(ports),
  };
}

/**
 * Merges the task's pull request. Ends with `unapproved` or `unmergeable` where it cannot be merged, and with `protected` where
 * a person must see it first.
 */
function mergePr(ports: ForgeEffectPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const { control } = await ports.workspacesOf(project);
    const pushed = await control.commitAt(pushedRef(task.id));
    const commit = pushed ?? (await control.commitAt(taskRef(task.id)));
    if (commit !== undefined) await ports.protection.mustBeConfirmed(task, commit);
    const result = await mergePullRequest(ports, project, task, pushed);
    if (result.kind === "merged") return;
    if (result.kind === "none") {
      throw new Fault("pr.missing", "The task has no pull request on a forge that could merge it.", {
        hint: `Open one: signalbox task create-pr ${task.id}`,
      });
    }
    // An undecided forge is asked again later.
    throw new Fault(result.word, result.reason, { retry: result.isUndecided ? "later" : "never" });
  };
}

interface PostCommentPorts {
  readonly store: Store;
  readonly forgeOf: ForgeOf;
  workflowOf(task: Task): Promise<Workflow>;
}

/**
 * Comments on the task's pull request, once: the comment's key is the effect's. Without a text from the workflow it
 * lists the findings.
 */
function postComment({ store, forgeOf, workflowOf }: PostCommentPorts): Perform {
  return async ({ params }, { task, key }) => {
    const record = await store.pullRequests.get(task.id);
    if (record === undefined) {
      throw new Fault("pr.missing", "The task has no pull request to comment on.", {
        hint: `Open one: signalbox task create-pr ${task.id}`,
      });
    }
    const given = filledParam(await workflowOf(task), task, params.message);
    const text = given || writeFindings(task.ledger?.findings ?? []);
    const { forge } = await forgeOf(await projectOf(store, task.project));
    await forge.comment(record.number, text, key);
  };
}

/** All findings in one comment. */
function writeFindings(findings: readonly Finding[]): string {
  const open = findings.filter(({ state }) => isUnsettled(state));
  if (open.length === 0) return "The review found nothing.";
  return ["The review found:", "", ...open.map(writeFinding)].join("\n");
}

function writeFinding({ id, title, evidence, file, line, severity }: Finding): string {
  const more = evidence === "" ? "" : `\n\n  ${evidence.replaceAll("\n", "\n  ")}\n`;
  return `- ${id} **${severity}** ${title} (\`${file}${line > 0 ? `:${line}` : ""}\`)${more}`;
}

/** Pushes the task's work to the remote. Where the project has none, makes the branch in the user's repository. */
function pushBranch(ports: PushPorts & { readonly inTurn: Turns }): Perform {
  return async (_, { task }) => {
    const project = await projectOf(ports.store, task.project);
    await ports.inTurn(`forge ${task.id}`, async () =>
      pushWork(ports, project, task, await pushableWork(ports, project, task)),
    );
  };
}
