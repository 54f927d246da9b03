import { Fault } from "../../fault.ts";
import { type ControlRepository, type MergeOrder, taskRef } from "../../ports/control-repository.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { findTips } from "../merging/find-tips.ts";
import { restoreMessage, restoreWork, takenBack } from "../merging/restore-work.ts";
import { remoteName } from "../remote-of.ts";
import { userBranches } from "../workspaces/user-branches.ts";

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
 * Lets a new task continue the work of one that is over: a branch that is gone, or never was outside of its workspace, comes
 * back. Where the work has arrived, the new task begins there; where it was taken back since, a first commit brings it back.
 * Gives what the person should know.
 */
export async function bringBack(
  core: Core,
  project: Project,
  { task: ended }: StoredTask,
  branch: string,
  base: string,
): Promise<readonly string[]> {
  if (core.repositories === undefined) return [];
  const { workspacesOf, where } = core.repositories;
  const own = await workspacesOf(project);
  const { control } = own;
  const merge = await core.store.merges.get(ended.id);
  const branches = await userBranches(control, project);
  const commit = (await control.commitAt(taskRef(ended.id))) ?? branches[ended.branch] ?? merge?.commit;
  if (commit === undefined || commit === "" || branches[base] === undefined) return [];
  const target = where() === "remote" ? (await findTips(own, project, base, where())).base : branches[base];
  if (!(await control.isAncestor(commit, target))) {
    if (branches[branch] === undefined) await bringBranch(core, project, branch, commit);
    return [];
  }
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(ended, base), author, date: core.clock.now() };
  const lost = await takenBack(control, merge, commit, target, how);
  const restored = lost && (await restoreWork(control, lost, target, how));
  if (restored === undefined) return [];
  await bringBranch(core, project, branch, await onTopOf(control, restored, branches[branch], branch, how));
  const name = `${ended.project}#${ended.number}`;
  return [`The work of ${name} was taken back in "${base}". The first commit of the new task brings it back.`];
}

/** The branch may have gone on since its work was merged. */
async function onTopOf(
  control: ControlRepository,
  onto: string,
  tip: string | undefined,
  branch: string,
  how: Pick<MergeOrder, "author" | "date">,
): Promise<string> {
  if (tip === undefined || (await control.isAncestor(tip, onto))) return onto;
  const message = `Merge ${branch} with its work that was taken back\n`;
  const merged = await control.merge({ ...how, onto, branch: tip, strategy: "merge", message });
  if (merged.kind === "merged" || merged.kind === "fast-forward") return merged.commit;
  if (merged.kind === "up-to-date") return onto;
  const files = merged.files.map(({ path }) => path.text).join(", ");
  throw new Fault(
    "task.invalid",
    `"${branch}" has commits that conflict with its work that was taken back: ${files}.`,
    {
      hint: `Give the new task a branch of its own, with --branch, and then merge "${branch}" there.`,
    },
  );
}
