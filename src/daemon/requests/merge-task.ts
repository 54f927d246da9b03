import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { MergeView } from "../../api/tasks.ts";
import { decide } from "../../engine/decide.ts";
import type { Reason } from "../../engine/decision.ts";
import { explain } from "../../engine/explain.ts";
import { endState, isPersonsTurn, isWorkedIn, mergingState, startOf } from "../../engine/persons-turn.ts";
import { describeProtected } from "../../engine/protected-lines.ts";
import type { Actor, Facts, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { State, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import { actorFor, findTask, mustBeUnfinished, unmergedWork } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { placeAt, placeNameOf } from "../landing-place.ts";
import { mergedIn } from "../merge-approval.ts";
import { isOnForge as isMergedOnForge } from "../merge-outlook.ts";
import { mergedModules, unpushedModules, warnOfModules } from "../merging/conflicts.ts";
import type { Wanted } from "../merging/merging.ts";
import { mergeOnForge, previewMerge, previewUndo, undoMerge } from "../merging/other-merges.ts";
import { mustHave } from "../project.ts";
import { type Protected, protectedWord, seeIt, warnOfProtected } from "../protection.ts";
import { judgeUnreviewed, noteSeen } from "../reviewed.ts";
import { isOtherBranch, taskCommit } from "../task-work.ts";
import { viewOf } from "../views.ts";
import { unreadableWorkspace } from "../workspaces/unsaved-workspaces.ts";
import { ask } from "./move-task.ts";

type About = Asked<{ readonly project?: string }, unknown>;

/** Merges the task's work, checks that the target contains it, and only then moves the task to its done state. */
export function mergeTask(core: Core): Handler<Routes["mergeTask"]> {
  return async (asked) => {
    const { strategy = "merge", dryRun = false, giveBack = true, unreviewed = false } = asked.body;
    const found = await findTask(core, asked);
    if (!found.isOpen && (await unmergedWork(core, found.task)) !== undefined) await mustBeUnfinished(core, found);
    const { workflow, facts } = await core.look(found.task);
    const isWord = unreviewed && !dryRun && asked.caller.kind === "human";
    if (isWord) await judgeUnreviewed(core, found.task, facts.head);
    const stored = isWord ? await findTask(core, asked) : found;
    const { task } = stored;
    const project = await mustHave(core, task.project);
    const through = mergingState(workflow, task.status);
    const merging = dryRun ? mergedIn(workflow, task, facts) : undefined;
    // The task is held in the state that merges: a person who merges it confirms what it was held for.
    const isHeld = task.held?.word === protectedWord;
    if (isHeld && !dryRun) return mergeHeld(core, asked, stored, project);
    if (through !== undefined && !dryRun) return letItMerge(core, asked, stored, project, through, facts);
    const to = doneState(workflow, task.status);
    const actor =
      isHeld || merging !== undefined
        ? await actorFor(core, stored, asked, (actor) => ({ kind: "continue", actor }))
        : await (through === undefined
            ? mayMove(core, asked, stored, workflow, onceMerged(facts), to, dryRun)
            : mayMove(core, asked, stored, workflow, facts, through, dryRun));
    const into = await placeNameOf(core.store, project, task);
    const wanted = { ...into, strategy, to, by: actor.role, givesBack: giveBack, ...leavesIn(merging) };
    if (dryRun) {
      const { workspacesOf, landingOf } = gitOf(core);
      const own = await workspacesOf(project);
      const landing = await landingOf(project, own);
      // A dry run does not fetch, unless the target exists on the remote only.
      const ports = { ...landing, where: landing.where === "remote" ? "remote" : "here" } as const;
      const known = await core.store.merges.get(task.id);
      const { merge, commits, changed } = await previewMerge(
        ...([core.store, own, project, task, wanted, ports, known, workflow] as const),
      );
      const isMerged = ["merged", "waits"].includes(merge.state);
      const untested = isMerged ? await whyUntested(core, project, merge) : null;
      const isOnForge =
        merging === undefined
          ? asked.body.local !== true && (await hasPullRequest(core, task))
          : await isMergedOnForge(core, task, merging);
      const place = placeAt({ store: core.store, where: landing.where }, own, project, into);
      const pushed = isMerged && !isOnForge ? await place.expectedPush(landing.where, merge.before) : undefined;
      const warnings = [...(await warnOfProtected(core, task)), ...(await warnOfModules(core, task))];
      const empty = merge.before === merge.after && (await isUnchanged(core, task));
      await noteSeen(core, asked.caller, task, merge.commit);
      const view = await mergeView(core, { ...merge, ...(pushed === undefined ? {} : { pushed }) });
      return { ...view, commits, changed: [...changed], empty, dryRun, untested, warnings };
    }
    return mergeAndMove(core, project, task, wanted, asked.body.local);
  };
}

/** Whether the workflow's own merge ignores uncommitted changes, which tests often leave. */
function leavesIn(merging: State | undefined): Pick<Wanted, "leaves"> {
  const leaves = merging?.do.some(({ name, params }) => name === "merge_pr" || params.uncommitted === "leave");
  return leaves === true ? { leaves } : {};
}

/** Whether the task is merged by its forge, which pushes nothing. */
async function hasPullRequest({ store }: Core, { id }: Task): Promise<boolean> {
  const found = await store.pullRequests.get(id);
  return found?.state === "open" && found.url !== "";
}

/** Starts the workflow's merge again. */
async function mergeHeld(core: Core, asked: About, stored: StoredTask, project: Project): Promise<MergeView> {
  await mustBeShown(core, stored.task);
  const { task } = await ask(core, asked, stored, (actor) => ({ kind: "continue", actor }));
  const reason = `The task's workflow merges it, in "${stored.task.status}".`;
  return {
    ...{ state: "waits", reason, files: [], target: (await placeNameOf(core.store, project, stored.task)).target },
    ...{ commit: "", before: "", after: "", givenBack: null, pushed: null, ...unrehearsed, task },
  };
}

/**
 * A person may merge changes to what decides about work if the task was marked with them before. Otherwise it is marked now,
 * and the refusal shows the changes.
 */
async function mustBeShown(core: Core, task: Task): Promise<Protected | undefined> {
  const { protection, workspacesOf } = gitOf(core);
  const project = await mustHave(core, task.project);
  const commit = await taskCommit(await workspacesOf(project), project, task).catch((error) => {
    // The merge itself reports that.
    if (!isOtherBranch(error)) throw error;
  });
  if (commit === undefined) return undefined;
  const found = await protection.of(task, commit);
  if (found.content === "" || (await protection.isMarked(task.id, found))) return found;
  await protection.mark(task, commit);
  throw new Fault(protectedWord, describeProtected(found.lines), { hint: seeIt(task) });
}

/** For a workflow that merges by itself: moves the task to the state that merges. */
async function letItMerge(
  core: Core,
  asked: About,
  stored: StoredTask,
  project: Project,
  to: string,
  { numbers, unreadable }: Facts,
): Promise<MergeView> {
  const { workspace } = stored.task;
  const found = workspace === "" ? undefined : await (await gitOf(core).workspacesOf(project)).kind.inspect(workspace);
  if (found?.kind === "broken") throw unreadableWorkspace(stored.task, found.reason);
  if (unreadable?.otherBranch !== undefined)
    throw new Fault("merge.other-branch", unreadable.reason, { hint: unreadable.fix });
  // A workflow may ignore uncommitted files, which tests often leave. A person may not know that they exist.
  if (numbers.dirty === 1)
    throw new Fault("merge.uncommitted", `${workspace} has uncommitted changes, which would not be merged.`, {
      hint: "Commit them there, or remove them.",
    });
  await mustBeShown(core, stored.task);
  const { task } = await ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }));
  return {
    ...{
      state: "waits",
      reason: `The task's workflow merges it, in "${to}".`,
      files: [],
      target: (await placeNameOf(core.store, project, stored.task)).target,
    },
    ...{ commit: "", before: "", after: "", givenBack: null, pushed: null, ...unrehearsed, task },
    warnings: await warnOfModules(core, stored.task),
  };
}

const unrehearsed = { commits: 0, changed: [], empty: false, dryRun: false, untested: null, warnings: [] };

/** Merges on the forge if the task has a pull request and `local` is not set; otherwise in the user's repository. */
async function mergeAndMove(
  core: Core,
  project: Project,
  task: Task,
  wanted: Wanted,
  local = false,
): Promise<MergeView> {
  const git = gitOf(core);
  const shown = await mustBeShown(core, task);
  if (shown !== undefined) await git.protection.confirm(task.id, shown);
  // Read before the merge, which releases the workspace.
  const modules = await unpushedModules(core, task);
  const onForge = local ? undefined : await mergeOnForge(core, git, project, task, wanted);
  const warnings = async ({ state }: Merge) =>
    state === "merged" ? mergedModules(modules) : await warnOfModules(core, task);
  if (onForge !== undefined)
    return { ...(await mergeView(core, onForge)), ...unrehearsed, warnings: await warnings(onForge) };
  // Also read before the merge, which deletes the branch.
  const isEmpty = await isUnchanged(core, task);
  // Only the commit whose changes the person could see.
  const merge = await git.merging.ask(task, { ...wanted, only: wanted.only ?? shown?.commit ?? "" });
  const empty = isEmpty && merge.state === "merged" && merge.before === merge.after;
  const untested = merge.state === "merged" ? await whyUntested(core, project, merge) : null;
  return { ...(await mergeView(core, merge)), ...unrehearsed, empty, untested, warnings: await warnings(merge) };
}

/** Whether the task's branch has no commit of its own: its agent may have committed nothing, or to another branch. */
export async function isUnchanged({ git }: Core, { workspace, branch }: Task): Promise<boolean> {
  return workspace !== "" && (await git?.isAtItsStart(workspace, branch)) === true;
}

/** Why no test has run on the commits that the merge added or would add, in combination with the target. */
async function whyUntested(core: Core, project: Project, merge: Merge): Promise<MergeView["untested"]> {
  if (merge.before === merge.after) return null;
  if (merge.untested) return "no-command";
  try {
    const { testMerges, command } = await gitOf(core).testsOf(project);
    if (testMerges === command.length > 0) return null;
    if (!testMerges) return "off";
    // A merge that has landed was tested with its own files, which may be others than those of the user's checkout.
    return merge.endedAt === undefined ? "no-command" : null;
  } catch (error) {
    // An unreadable configuration is reported elsewhere; the merge itself is valid.
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Merges the commit that a person has approved, and moves the task to the state that the merge permits. */
export async function mergeApproved(
  core: Core,
  asked: About,
  stored: StoredTask,
  to: string,
  commit: string,
): Promise<MergeView> {
  const { task } = stored;
  const { workflow, facts } = await core.look(task);
  const actor = await mayMove(core, asked, stored, workflow, onceMerged(facts), to);
  const project = await mustHave(core, task.project);
  const data = { commit, status: task.status };
  await core.store.addEvents(task.id, [{ type: "task.approved", by: actor.role, data, set: {} }], core.clock.now());
  const wanted: Wanted = {
    ...(await placeNameOf(core.store, project, task)),
    strategy: "merge",
    to,
    by: actor.role,
    only: commit,
    givesBack: true,
  };
  return mergeAndMove(core, project, task, wanted);
}

export function undoTaskMerge(core: Core): Handler<Routes["undoMerge"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const project = await mustHave(core, task.project);
    if (asked.body.dryRun === true) {
      const { merge, commits, changed } = await previewUndo(gitOf(core), project, task);
      const rehearsed = { ...unrehearsed, commits, changed: [...changed], dryRun: true };
      return { ...(await mergeView(core, merge)), ...rehearsed, warnings: await closedTicket(core, project, task) };
    }
    const merge = await undoMerge(gitOf(core), project, task, "human");
    if (merge.onRemote === true) gitOf(core).merging.follow(task.id);
    return { ...(await mergeView(core, merge)), ...unrehearsed, warnings: await closedTicket(core, project, task) };
  };
}

/** Undoing a merge does not change the ticket that the merge has closed. */
async function closedTicket(core: Core, project: Project, { ticket = "" }: Task): Promise<string[]> {
  if (ticket === "") return [];
  try {
    const found = (await core.ticketsOf(project).list()).tickets.find(({ id }) => id === ticket);
    if (found?.status !== "closed") return [];
    return [`Its ticket ${ticket} stays closed. To work on it again: signalbox ticket reopen ${ticket}`];
  } catch (error) {
    // Tickets that cannot be read are reported by the commands about tickets; the merge is undone nevertheless.
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** A person's brake: takes their merge out of the queue, and stops its tests. What is published by then stays merged. */
export function cancelMerge(core: Core): Handler<Routes["cancelMerge"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { merging } = gitOf(core);
    const known = await core.store.merges.get(task.id);
    if (known?.endedAt === undefined && known?.to === "") throw workflowsMerge(task);
    const release = core.commands.stop(merging.testedAs(task.id) ?? task.id);
    try {
      const merge = await merging.cancel(task.id);
      if (merge === undefined) throw nothingToStop(task, known);
      return { ...(await mergeView(core, merge)), ...unrehearsed };
    } finally {
      release();
    }
  };
}

function workflowsMerge({ id, project, number, status }: Task): Fault {
  return new Fault("merge.workflows", `The workflow of ${project}#${number} merges it, in "${status}".`, {
    hint: `Cancel the task: signalbox task cancel ${id}\nOr let no workflow of the project merge for now: signalbox pause --project ${project}`,
  });
}

function nothingToStop({ id, project, number }: Task, merge: Merge | undefined): Fault {
  const hint =
    merge?.state === "merged"
      ? `It was merged into "${merge.target}". To undo that: signalbox task merge ${id} --undo`
      : `See where it is: signalbox task explain ${id}`;
  return new Fault("merge.nothing", `No merge of ${project}#${number} is in progress.`, { hint });
}

/** A caller that may not move the task to `to` may not merge it either, and is refused before anything is merged. */
async function mayMove(
  core: Core,
  asked: About,
  stored: StoredTask,
  workflow: Workflow,
  facts: Facts,
  to: string,
  isDry = false,
): Promise<Actor> {
  const request = (actor: Actor): Request => ({ kind: "move", to, actor });
  const actor = await actorFor(core, stored, asked, request);
  const decision = decide(workflow, stored.task, request(actor), facts);
  if (decision.kind !== "rejected") return actor;
  // A dry run only asks what a merge would do: that it would be refused is no event of the task.
  if (!isDry) await core.refusals.note(stored.task, request(actor), decision.reasons);
  throw new Refusal(
    notReady(workflow, stored.task, facts) ?? workflowMerges(workflow, stored.task, facts) ?? decision.reasons,
  );
}

/** Why a task whose agents are still at work, or that has not started, cannot be merged; undefined in other states. */
export function notReady(workflow: Workflow, task: Task, facts: Facts): readonly Reason[] | undefined {
  const state = workflow.states[task.status];
  const isAtWork = isWorkedIn(state) && task.held === undefined;
  const isToStart = startOf(workflow, task) !== undefined;
  if (state === undefined || isPersonsTurn(state) || (!isAtWork && !isToStart)) return undefined;
  const { id, project, number } = task;
  const wait = `Wait for it: signalbox task wait ${id}`;
  const look = isAtWork ? `See what its agent is doing: signalbox task peek ${id}` : "";
  const text = `${project}#${number} is not ready to be merged. ${explain(workflow, task, facts).where}`;
  return [{ code: "not-waiting", text, fix: [wait, look].filter(Boolean).join("\n") }];
}

/** Why a person does not merge where the workflow does so on their word. */
function workflowMerges(workflow: Workflow, task: Task, facts: Facts): readonly Reason[] | undefined {
  const merging = mergedIn(workflow, task, facts);
  if (merging === undefined) return undefined;
  const { id, held } = task;
  const text = `The workflow merges the task itself, in "${merging.name}".`;
  const fix = `See what it would merge: signalbox task merge ${id} --dry-run\nLet it merge: signalbox task ${held === undefined ? "approve" : "continue"} ${id}`;
  return [{ code: "not-waiting", text, fix }];
}

/** The facts as they will be after the merge. */
export function onceMerged(facts: Facts): Facts {
  const { document, artifacts, head, taskFileTracked, poolFull, numbers } = facts;
  return { document, artifacts, head, taskFileTracked, poolFull, numbers: { ...numbers, commits: 0, merged: 1 } };
}

/** The terminal state with the outcome done. */
export function doneState(workflow: Workflow, status: string): string {
  const end = endState(workflow, status, "done");
  if (end !== undefined) return end;
  throw new Refusal([
    {
      code: "no-such-state",
      text: `The workflow "${workflow.name}" has no terminal state with the outcome done.`,
      fix: `It has ${Object.keys(workflow.states).join(", ")}.`,
    },
  ]);
}

async function mergeView(core: Core, merge: Merge): Promise<Omit<MergeView, keyof typeof unrehearsed>> {
  const { state, reason, files, target, commit, before, after, givenBack = null, pushed } = merge;
  const stored = await core.store.getTask(merge.task);
  if (stored === undefined) throw new Fault("task.missing", "The task is gone.");
  return {
    state,
    reason,
    files: [...files],
    target,
    commit,
    before,
    after,
    givenBack,
    pushed: pushed === undefined ? null : { remote: pushed.remote, commits: pushed.commits ?? null },
    task: await viewOf(core, stored),
  };
}

function gitOf({ repositories }: Core): NonNullable<Core["repositories"]> {
  if (repositories !== undefined) return repositories;
  throw new Fault("git.unavailable", "This daemon works without git.");
}
