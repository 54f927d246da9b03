import { merges } from "../engine/continue.ts";
import { decide } from "../engine/decide.ts";
import { mergesOnWord } from "../engine/persons-turn.ts";
import type { Facts } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { State, Workflow } from "../engine/workflow.ts";
import { taskRef } from "../ports/control-repository.ts";
import type { StoredTask } from "../ports/store.ts";
import type { Core } from "./core.ts";
import { mustHave } from "./project.ts";
import { refuse } from "./questions/answers.ts";
import { unseenWork } from "./reviewed.ts";

// Where a person's word lets the workflow merge, it is the person's approval of a commit.

/** The state in which the workflow merges once a person ends the wait: the task's own, or the next one. Undefined for none. */
export function mergedIn(workflow: Workflow, task: Task, facts: Facts): State | undefined {
  const state = workflow.states[task.status];
  if (state === undefined || !mergesOnWord(workflow, task)) return undefined;
  if (merges(state)) return state;
  const decision = decide(workflow, task, { kind: "continue", actor: { role: "human" } }, facts);
  const next = decision.kind === "moved" ? workflow.states[decision.task.status] : undefined;
  return next !== undefined && merges(next) ? next : undefined;
}

/** The commit that a person's word is about: that of the workspace, or the last one that the daemon has collected. */
export async function approvedCommit(core: Core, { id, project }: Task, { head }: Facts): Promise<string> {
  if (head !== "" || core.repositories === undefined) return head;
  const { control } = await core.repositories.workspacesOf(await mustHave(core, project));
  return (await control.commitAt(taskRef(id))) ?? "";
}

/** Refuses a word that would merge commits since the last verdict which the person was not shown. */
export async function mustBeSeen(
  core: Core,
  stored: StoredTask,
  commit: string,
  verb: "approve" | "continue",
): Promise<void> {
  const unseen = commit === "" ? undefined : await unseenWork(core, stored.task, commit, verb);
  if (unseen !== undefined) await refuse(core, stored, { kind: "continue" }, unseen);
}
