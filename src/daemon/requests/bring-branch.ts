import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { remoteName } from "../remote-of.ts";

/** The branch in the user's repository ends at a commit of the control repository's, unless it has more. */
export async function bringBranch(core: Core, project: Project, branch: string, commit: string): Promise<void> {
  if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
  const { control } = await core.repositories.workspacesOf(project);
  const here = (await control.syncFrom({ from: project.path, name: "user" })).branches[branch];
  if (here !== undefined && (await control.isAncestor(commit, here))) return;
  if (here !== undefined && !(await control.isAncestor(here, commit)))
    throw new Fault("task.invalid", `"${branch}" here and the work that is to be gone on with have gone apart.`, {
      hint: `Bring them together first, such as with git pull ${remoteName} ${branch}`,
    });
  const { signal } = core.repositories;
  const result = await control.publish({ repository: project.path, branch, commit, expected: here, signal });
  if (result.kind === "moved")
    throw new Fault("task.invalid", `"${branch}" has moved just now.`, { retry: "later", hint: "Ask again." });
  if (result.kind === "waits") throw new Fault("task.invalid", result.text, { hint: "Then ask again." });
}

/**
 * The work of a task that is over can be gone on with: a branch that is not there any more, or never was outside of its
 * workspace, comes back. Not one whose work has arrived: that is where the new one begins.
 */
export async function bringBack(
  core: Core,
  project: Project,
  ended: string,
  branch: string,
  base: string,
): Promise<void> {
  if (core.repositories === undefined) return;
  const { control } = await core.repositories.workspacesOf(project);
  const commit = await control.commitAt(taskRef(ended));
  if (commit === undefined) return;
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const target = branches[base];
  if (target === undefined || branches[branch] !== undefined) return;
  if (!(await control.isAncestor(commit, target))) await bringBranch(core, project, branch, commit);
}
