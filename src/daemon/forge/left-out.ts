import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { PullRequest } from "../../ports/forge.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName, targetOf } from "../project.ts";
import { taskCommit } from "../task-work.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";
import type { ForgeOf } from "./push-task.ts";

// A forge merges on anybody's word, at any time. Only work that is in the target counts as merged.

/** Work of a task that is not in the branch that it goes into, although its pull request was merged. */
export interface LeftOut {
  /** A sentence. */
  readonly reason: string;
  /** How the rest is merged: commands, one in each line. */
  readonly fix: string;
}

export type LeftOutOf = (project: Project, task: Task, pull: MergedPull) => Promise<LeftOut | undefined>;

/** The same, with the remote that the project has now. */
export function createLeftOut(ports: { readonly workspacesOf: WorkspacesOf; readonly forgeOf: ForgeOf }): LeftOutOf {
  return async (project, task, pull) => leftOut(ports, (await ports.forgeOf(project)).remote, project, task, pull);
}

/** A merged pull request, as the forge describes it. */
export type MergedPull = Pick<PullRequest, "number" | "base" | "headCommit" | "mergedCommit">;

/**
 * Compares what a forge has merged with the task's work. Undefined where nothing is missing: the merged head contains the task's
 * commit, the target contains it, or merging it would change nothing, as after a squash.
 */
export async function leftOut(
  { workspacesOf }: { readonly workspacesOf: WorkspacesOf },
  remote: string | undefined,
  project: Project,
  task: Task,
  { number, base, headCommit, mergedCommit = "" }: MergedPull,
): Promise<LeftOut | undefined> {
  const own = await workspacesOf(project);
  const { control } = own;
  const target = targetOf(project, task);
  const commit = await taskCommit(own, project, task);
  if (base === target && (commit === undefined || commit === headCommit)) return undefined;
  const tip = remote && (await control.syncFrom({ from: remote, name: remoteName })).branches[target];
  if (commit !== undefined) {
    if (base === target && (await contains(control, headCommit, commit))) return undefined;
    if (tip !== undefined && ((await contains(control, tip, commit)) || (await changesNothing(own, tip, commit))))
      return undefined;
  }
  const as = mergedCommit === "" ? "" : ` as ${mergedCommit.slice(0, 10)}`;
  return {
    reason: `Pull request ${number} was merged into "${base}"${as}. ${await missing(control, base, target, headCommit, commit)}`,
    fix: `Open a pull request of the rest: signalbox task create-pr ${task.id}\nOnce it is there: signalbox task continue ${task.id}`,
  };
}

async function missing(
  control: ControlRepository,
  base: string,
  target: string,
  head: string,
  commit: string | undefined,
): Promise<string> {
  if (base !== target || commit === undefined) return `The task's work goes into "${target}", and is not there.`;
  const count = await control.countCommits(head, commit).catch(orNone);
  if (count === undefined || count === 0)
    return `It was at ${head.slice(0, 10)}; the task is at ${commit.slice(0, 10)}.`;
  const later = count === 1 ? "1 commit of the task is" : `${count} commits of the task are`;
  return `${later} not in "${target}".`;
}

async function contains(control: ControlRepository, tip: string, commit: string): Promise<boolean> {
  return (await control.isAncestor(commit, tip).catch(orNone)) ?? false;
}

/** Whether the target has the same changes in commits of its own. */
async function changesNothing({ control }: ProjectWorkspaces, onto: string, branch: string): Promise<boolean> {
  const author = { name: "Signalbox", email: "signalbox@localhost" };
  const [result] =
    (await control
      .mergeAll({ onto, author, entries: [{ branch, strategy: "merge", message: "", date: 0 }] })
      .catch(orNone)) ?? [];
  if (result?.kind === "up-to-date") return true;
  return result?.kind === "merged" && (await control.changedFiles(onto, result.commit)).length === 0;
}

/** Git may not have a commit that only the forge has. */
function orNone(error: unknown): undefined {
  if (error instanceof Fault && error.retry !== "later") return undefined;
  throw error;
}
