import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { MergeView } from "../../api/task-wires.ts";
import { decide } from "../../engine/decide.ts";
import { endState } from "../../engine/end-state.ts";
import { mergingState } from "../../engine/merging-state.ts";
import type { Actor, Facts, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import type { Asked, Handler } from "../asked.ts";
import { targetOf } from "../base-of.ts";
import type { Core } from "../core.ts";
import { mergedModules, unpushedModules, warnOfModules } from "../merging/explain-merge.ts";
import { mergeOnForge } from "../merging/merge-on-forge.ts";
import type { Wanted } from "../merging/merging.ts";
import { previewMerge } from "../merging/preview-merge.ts";
import { undoMerge } from "../merging/undo-merge.ts";
import { refusal } from "../submit.ts";
import { viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";
import { ask } from "./move-task.ts";
import { mustHave } from "./projects.ts";
import { actorFor } from "./standing.ts";

type About = Asked<{ readonly project?: string }, unknown>;

/** Merges the task's work, checks that it has arrived, and only then asks for the state in which the task is done. */
export function mergeTask(core: Core): Handler<Routes["mergeTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const { strategy = "merge", dryRun = false, giveBack = true } = asked.body;
    const { workflow, facts } = await core.look(task);
    const project = await mustHave(core, task.project);
    const through = mergingState(workflow, task.status);
    if (through !== undefined && !dryRun) return letItMerge(core, asked, stored, project, through, facts);
    const to = doneState(workflow, task.status);
    const actor = await (through === undefined
      ? mayMove(core, asked, stored, workflow, onceMerged(facts), to)
      : mayMove(core, asked, stored, workflow, facts, through));
    const wanted = { target: targetOf(project, task), strategy, to, by: actor.role, givesBack: giveBack };
    if (dryRun) {
      const { workspacesOf, where } = gitOf(core);
      const own = await workspacesOf(project);
      // Nothing is fetched for a look, unless only the remote can tell.
      const looked = where() === "remote" ? "remote" : "here";
      const known = await core.store.merges.get(task.id);
      const { merge, commits, changed } = await previewMerge(
        ...([own, project, task, wanted, looked, known, core.places.workspaces] as const),
      );
      const untested = ["merged", "waits"].includes(merge.state) && isUntested(core, project, merge);
      const warnings = await warnOfModules(core, task);
      return { ...(await mergeView(core, merge)), commits, changed: [...changed], dryRun, untested, warnings };
    }
    return mergeAndMove(core, project, task, wanted, asked.body.local);
  };
}

/** Where the workflow merges by itself, and a person may only say that it should. */
async function letItMerge(
  core: Core,
  asked: About,
  stored: StoredTask,
  project: Project,
  to: string,
  { numbers, unreadable }: Facts,
): Promise<MergeView> {
  if (unreadable?.otherBranch !== undefined)
    throw new Fault("merge.other-branch", unreadable.reason, { hint: unreadable.fix });
  // A workflow may leave behind what is not committed, because tests have left it. A person may not know that it is there.
  if (numbers.dirty === 1)
    throw new Fault(
      "merge.uncommitted",
      `There are changes in ${stored.task.workspace} that are not committed, and would not be merged.`,
      { hint: "Commit them there, or take them away." },
    );
  const { task } = await ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }));
  return {
    ...{
      state: "waits",
      reason: `Its workflow merges it, in "${to}".`,
      files: [],
      target: targetOf(project, stored.task),
    },
    ...{ commit: "", before: "", after: "", givenBack: null, ...unrehearsed, task },
    warnings: await warnOfModules(core, stored.task),
  };
}

const unrehearsed = { commits: 0, changed: [], dryRun: false, untested: false, warnings: [] };

/** On the forge where the task has a pull request, else, or where `local` is asked for, here. */
async function mergeAndMove(
  core: Core,
  project: Project,
  task: Task,
  wanted: Wanted,
  local = false,
): Promise<MergeView> {
  const git = gitOf(core);
  // Its workspace goes with the merge.
  const modules = await unpushedModules(core, task);
  const onForge = local ? undefined : await mergeOnForge(core, git, project, task, wanted);
  const warnings = async ({ state }: Merge) =>
    state === "merged" ? mergedModules(modules) : await warnOfModules(core, task);
  if (onForge !== undefined)
    return { ...(await mergeView(core, onForge)), ...unrehearsed, warnings: await warnings(onForge) };
  const merge = await git.merging.ask(task, wanted);
  const untested = merge.state === "merged" && isUntested(core, project, merge);
  return { ...(await mergeView(core, merge)), ...unrehearsed, untested, warnings: await warnings(merge) };
}

/** Whether something came in that no test has seen together with the rest. */
function isUntested(core: Core, project: Project, { before, after }: Merge): boolean {
  try {
    return before !== after && gitOf(core).leavesUntested(project);
  } catch (error) {
    // What cannot be read is told elsewhere, and the merge is as it is.
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** Merges what a person has approved, and moves the task to the state that this opens. */
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
    target: targetOf(project, task),
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
    const merge = await undoMerge(gitOf(core), project, task, "human");
    return { ...(await mergeView(core, merge)), ...unrehearsed };
  };
}

/** Whoever may not move the task there may not merge it either, and is told before anything was merged. */
async function mayMove(
  core: Core,
  asked: About,
  stored: StoredTask,
  workflow: Workflow,
  facts: Facts,
  to: string,
): Promise<Actor> {
  const request = (actor: Actor): Request => ({ kind: "move", to, actor });
  const actor = await actorFor(core, stored, asked, request);
  const decision = decide(workflow, stored.task, request(actor), facts);
  if (decision.kind !== "rejected") return actor;
  await core.store.addEvents(stored.task.id, [refusal(request(actor), decision.reasons)], core.clock.now());
  throw new Refusal(decision.reasons);
}

/** As things will be when the work has arrived. */
export function onceMerged(facts: Facts): Facts {
  const { document, artifacts, head, taskFileTracked, poolFull, numbers } = facts;
  return { document, artifacts, head, taskFileTracked, poolFull, numbers: { ...numbers, commits: 0, merged: 1 } };
}

/** The state in which the task is done, in whatever words its workflow says that. */
export function doneState(workflow: Workflow, status: string): string {
  const end = endState(workflow, status, "done");
  if (end !== undefined) return end;
  throw new Refusal([
    {
      code: "no-such-state",
      text: `The workflow "${workflow.name}" has no state in which a task is done.`,
      fix: `It has ${Object.keys(workflow.states).join(", ")}.`,
    },
  ]);
}

async function mergeView(core: Core, merge: Merge): Promise<Omit<MergeView, keyof typeof unrehearsed>> {
  const { state, reason, files, target, commit, before, after, givenBack = null } = merge;
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
    task: await viewOf(core, stored),
  };
}

function gitOf({ repositories }: Core): NonNullable<Core["repositories"]> {
  if (repositories !== undefined) return repositories;
  throw new Fault("git.unavailable", "This daemon works without git.");
}
