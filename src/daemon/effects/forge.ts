import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { ParamValue, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { personsWordAt } from "../deadlines.ts";
import { type MergePorts, mergePullRequest } from "../forge/merge-pull-request.ts";
import { type OpenPorts, openPullRequest } from "../forge/pull-request.ts";
import { type PushPorts, pushableWork, pushedRef, pushWork } from "../forge/push-task.ts";
import { placeOf, remoteTip, type Where } from "../landing-place.ts";
import { type Perform, type Performers, pausedFault } from "../perform.ts";
import { eventsOf, isShared, projectOf } from "../project.ts";
import type { Protection } from "../protection.ts";
import { unreviewedTrouble, unreviewedWork } from "../reviewed.ts";
import { taskCommit } from "../task-work.ts";
import { isOwnBranch } from "../workspaces/own-branches.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { postComment } from "./comment.ts";

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
  /** Whether a person has paused a project. */
  stopsWork(project: string, wordAt: number | undefined): boolean;
  /** Merges with the project's own merge queue. */
  readonly mergeHere: Perform;
  where(): Where;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The effects that need a remote or a forge. */
export function forgeEffects(ports: ForgeEffectPorts): Performers {
  return {
    push_branch: pushBranch(ports),
    create_pr: createPr(ports),
    merge_pr: mergePr(ports),
    post_comment: async ({ params }, { task, key }) => {
      const workflow = await ports.workflowOf(task);
      await postComment(ports, workflow, task, { text: filledParam(workflow, task, params.message), key });
    },
    delete_remote_branch: deleteRemoteBranch(ports),
  };
}

/**
 * Merges the task's pull request. Ends with `unapproved` or `unmergeable` where it cannot be merged, with `unreviewed` where it has
 * commits that nobody has judged, and with `protected` where a person must see it first. Without a forge the project's own merge
 * queue merges the work.
 */
function mergePr(ports: ForgeEffectPorts): Perform {
  return async (effect, context) => {
    const { task } = context;
    const project = await projectOf(ports.store, task.project);
    if ((await ports.forgeOf(project)).kind === "none") {
      await mustBeMergeable(ports, project, task);
      // Files that tests have left are not part of the work, which was committed before.
      await ports.mergeHere({ ...effect, params: { uncommitted: "leave" } }, context);
      return noteMergedHere(ports, task);
    }
    await mustBeMergeable(ports, project, task);
    const isWord = await isPersonsWord(ports, task);
    // Asking the forge takes a while, in which anything may have changed.
    const check = () => mustBeMergeable(ports, project, task);
    const result = await mergePullRequest(ports, project, task, { isPersonsWord: isWord, check });
    if (result.kind === "merged") return mustBeFixed(await sameStay(ports, task));
    if (result.kind === "none") {
      throw new Fault("pr.missing", "The task has no pull request on a forge that could merge it.", {
        hint: `Open one: signalbox task create-pr ${task.id}`,
      });
    }
    if (result.kind === "left-out") throw new Fault("merge.later", result.reason, { hint: result.fix });
    // An undecided forge is asked again later.
    throw new Fault(result.word, result.reason, { retry: result.isUndecided ? "later" : "never" });
  };
}

/**
 * Throws where the task must not be merged as it is now: it has left the stay that asked for the merge, its project is paused, a
 * finding is to be fixed, or its commit was not judged, tested or confirmed. Returns the commit, if there is one.
 */
async function mustBeMergeable(ports: ForgeEffectPorts, project: Project, asked: Task): Promise<string | undefined> {
  const own = await ports.workspacesOf(project);
  const commit = await taskCommit(own, project, asked);
  if (commit !== undefined) await ports.protection.mustBeConfirmed(asked, commit);
  if (commit !== undefined) await mustBeReviewed(ports, own, project, asked, commit);
  // Last, because git has taken its time.
  const task = await sameStay(ports, asked);
  mustBeFixed(task);
  mustBeTested(await ports.workflowOf(task), task, commit);
  if (ports.stopsWork(project.name, await personsWordAt(ports.store, task.id))) throw pausedFault(project.name);
  return commit;
}

/** The task as it is now. Throws where it has left the stay that asked for the merge. */
async function sameStay({ store }: ForgeEffectPorts, { id, entry, status }: Task): Promise<Task> {
  const now = (await store.getTask(id))?.task;
  if (now?.entry === entry && now.phase !== "over") return now;
  const where = now === undefined ? "it was deleted" : `it is in ${now.status}`;
  throw new Fault("merge.refused", `The task has left ${status}: ${where}. Nothing more is merged.`);
}

/** Throws where the tests of this stay were of another commit. */
function mustBeTested({ states }: Workflow, { id, status, tested }: Task, commit: string | undefined): void {
  const isTestedHere = states[status]?.do.some(({ name }) => name === "run_tests") === true;
  if (!isTestedHere || tested === undefined || commit === undefined || tested.commit === commit) return;
  const [ran, now] = [tested.commit.slice(0, 10), commit.slice(0, 10)];
  throw new Fault("unmergeable", `The tests ran on ${ran}, but the branch is at ${now}.`, {
    hint: `To test and merge the newest commit: signalbox task continue ${id}`,
  });
}

/** Throws where a person has approved a finding, perhaps after the last review, that no review has called fixed. */
function mustBeFixed({ id, ledger }: Task): void {
  const left = (ledger?.findings ?? []).filter(({ state }) => state === "approved").map((finding) => finding.id);
  if (left.length === 0) return;
  const are = left.length === 1 ? "is" : "are";
  throw new Fault(
    "unreviewed",
    `You approved ${left.join(", ")}, and no review says that ${left.length === 1 ? "it" : "they"} ${are} fixed.`,
    {
      hint: `To merge without a fix, dismiss findings that are not defects: signalbox task findings ${id} dismiss ${left.join(" ")} -m "Why"`,
    },
  );
}

/** Throws where the work has moved since it was judged. */
async function mustBeReviewed(
  { store, where, workflowOf }: ForgeEffectPorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  commit: string,
): Promise<void> {
  const place = await placeOf({ store, where: where() }, own, project, task);
  const remote = await remoteTip(own, project, place.branch);
  const unreviewed = await unreviewedWork(own, place, task, commit, remote);
  if (unreviewed === undefined) return;
  const { reason, fix } = unreviewedTrouble(await workflowOf(task), task, unreviewed);
  throw new Fault("unreviewed", reason, { hint: fix });
}

/**
 * Whether the state waits for a person, who has ended the wait or has continued the held task since. Where the wait was skipped,
 * somebody who only attached or said something has not asked for the merge.
 */
async function isPersonsWord({ workflowOf, store }: ForgeEffectPorts, task: Task): Promise<boolean> {
  const state = (await workflowOf(task)).states[task.status];
  if (state?.wait.kind !== "human") return false;
  if (!task.wait.skipped) return true;
  if (!task.attended) return false;
  let hasContinued = false;
  for await (const { event } of eventsOf(store, task.id)) {
    if (event.type === "task.moved") hasContinued = false;
    else if (event.type === "task.continued" && event.by === "human") hasContinued = true;
  }
  return hasContinued;
}

/** Without a forge, the record of the pull request says what was asked for. */
async function noteMergedHere({ store, clock }: ForgeEffectPorts, { id }: Task): Promise<void> {
  const record = await store.pullRequests.get(id);
  const merge = await store.merges.get(id);
  if (record === undefined || merge?.state !== "merged") return;
  await store.pullRequests.put({ ...record, state: "merged", mergedCommit: merge.after, seenAt: clock.now() });
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
