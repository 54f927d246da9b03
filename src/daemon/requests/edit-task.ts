import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { Reason } from "../../engine/decision.ts";
import { edit } from "../../engine/edit.ts";
import type { Actor } from "../../engine/request.ts";
import type { Task, TaskEdit } from "../../engine/task.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import { checkNeeds } from "../agents/check-needs.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isShared } from "../forge/push-task.ts";
import { projectOf } from "../project-of.ts";
import { refusal } from "../submit.ts";
import { changeBranch } from "../workspaces/change-branch.ts";
import { otherTaskWith } from "../workspaces/other-task-with.ts";
import { findTask } from "./find-task.ts";
import { changeView, idsOf } from "./move-task.ts";
import { actorFor } from "./standing.ts";

export function editTask(core: Core): Handler<Routes["editTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { dependsOn, ...rest } = asked.body;
    const given: TaskEdit =
      dependsOn === undefined ? rest : { ...rest, dependsOn: await idsOf(core, dependsOn, stored.task.project) };
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: given, actor }));
    await checkChosen(core, stored, actor, given);
    const set = given.branch === undefined ? given : await withBranch(core, stored, actor, given, given.branch);
    return changeView(core, await core.submit(stored.task.id, { kind: "edit", set, actor }));
  };
}

/** Another harness must be one that its agents can be started in. */
async function checkChosen(core: Core, { task }: StoredTask, actor: Actor, given: TaskEdit): Promise<void> {
  const { harness = task.harness, reviewHarness = task.reviewHarness } = given;
  const isSame = harness === task.harness && reviewHarness === task.reviewHarness;
  if (isSame || core.agents === undefined) return;
  const workflow = await core.workflows.get(task.workflowHash);
  const reasons = checkNeeds(core.agents.ports.harnesses, workflow, { harness, reviewHarness });
  if (reasons.length === 0) return;
  const event = refusal({ kind: "edit", set: given, actor }, reasons, actor.role);
  await core.store.addEvents(task.id, [event], core.clock.now());
  throw new Refusal(reasons);
}

/** Where the task has a workspace, its branch changes there first. An empty name is that of what is checked out there. */
async function withBranch(
  core: Core,
  { task }: StoredTask,
  actor: Actor,
  given: TaskEdit,
  wanted: string,
): Promise<TaskEdit> {
  const { store, repositories } = core;
  const project = await projectOf(store, task.project);
  const workspaces = task.workspace === "" ? undefined : await repositories?.workspacesOf(project);
  const current = await workspaces?.kind.currentBranch(task.workspace);
  const branch = wanted === "" ? (current ?? "") : wanted;
  const set = { ...given, branch };
  // Whatever the engine refuses, it refuses before anything is touched, and writes it down.
  const decision = edit(await core.workflows.get(task.workflowHash), task, actor, set);
  if (decision.kind === "rejected") return set;
  const reason = isShared(project, task, branch) ? goesInto(branch) : await whoHas(store, task, branch);
  if (reason !== undefined) {
    await store.addEvents(task.id, [refusal({ kind: "edit", set, actor }, [reason], actor.role)], core.clock.now());
    throw new Refusal([reason]);
  }
  if (workspaces !== undefined && branch !== current) {
    await core.inTurn(`branches ${project.name}`, () => changeBranch(workspaces, project, task.workspace, branch));
  }
  return set;
}

function goesInto(branch: string): Reason {
  const text = `${JSON.stringify(branch)} is the branch that work goes into, and a task has one of its own.`;
  return { code: "bad-value", text, fix: "Choose another name." };
}

async function whoHas(store: Store, task: Task, branch: string): Promise<Reason | undefined> {
  const other = await otherTaskWith(store, task, branch);
  if (other === undefined) return undefined;
  const text = `${other.project}#${other.number} (${other.id}) is at work on the branch ${JSON.stringify(branch)}.`;
  return { code: "bad-value", text, fix: "Choose another name, or go on with that task." };
}
