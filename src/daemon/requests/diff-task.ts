import type { Routes } from "../../api/routes.ts";
import type { DiffPart } from "../../api/work.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { type ChangedLines, type Diff, taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import { findTask } from "../authorise.ts";
import { bringBranch } from "../bring-work.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { type LandingPlace, placeOf } from "../landing-place.ts";
import { landingsOf } from "../merging/stack.ts";
import { isShared, mustHave } from "../project.ts";
import { noteSeen } from "../reviewed.ts";
import { isOtherBranch } from "../task-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

const maxBytes = 8 * 1024 * 1024;

/** The task's changes since its base commit, and the uncommitted changes in its workspace. */
export function diffTask(core: Core): Handler<Routes["diffTask"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const project = await mustHave(core, task.project);
    const own = await core.repositories.workspacesOf(project);
    const bytes = asked.query.text === "false" ? 0 : maxBytes;
    const place = await placeOf({ store: core.store, where: core.repositories.where() }, own, project, task);
    const found = task.workspace === "" ? undefined : await own.kind.inspect(task.workspace);
    const merge = await core.store.merges.get(task.id);
    const commit = await headOf(own, project, task, found?.kind === "there" ? found.branch : undefined, merge);
    const landings = merge?.state === "merged" && merge.commit === commit ? await landingsOf(core.store, merge) : [];
    const reviewed = asked.query.sinceReview === "true" ? reviewedCommit(task) : undefined;
    const begin = async () => reviewed ?? beginOf(own, project, commit, place, landings[0]?.before);
    const base = commit === "" ? "" : await begin();
    if (bytes > 0) await noteSeen(core, asked.caller, task, commit);
    const isUncommitted = found?.kind === "there" && found.dirty && asked.query.committed !== "true";
    return {
      target: place.branch,
      base,
      commit,
      committed: base === "" ? nothing : await between(own, base, commit, bytes),
      uncommitted: isUncommitted ? await uncommitted(own, task.workspace, bytes) : null,
      protectedChanges: base === "" ? [] : [...(await core.repositories.protection.of(task, commit)).lines],
      workspace: task.workspace,
    };
  };
}

/** The commit that the last verdict is about. */
function reviewedCommit({ id, judged }: Task): string {
  if (judged !== undefined) return judged.commit;
  throw new Fault("task.unjudged", "Nobody has reviewed this task's work yet.", {
    hint: `See all of it: signalbox task diff ${id}`,
  });
}

/** Brings the task's commits into the user's repository: those of a clone are not there before they are merged. */
export function fetchTask(core: Core): Handler<Routes["fetchTask"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const project = await mustHave(core, task.project);
    const own = await core.repositories.workspacesOf(project);
    const branch = asked.body.as ?? task.branch;
    const problem = branchNameProblem(branch);
    if (problem !== undefined) throw new Fault("task.invalid", problem, { hint: "Name another one: --as NAME" });
    if (isShared(project, task, branch))
      throw new Fault("task.invalid", `Work is merged into "${branch}", so it cannot be fetched as that branch.`, {
        hint: `Name another one: --as NAME\nOr merge it: signalbox task merge ${task.id}`,
      });
    const merge = await core.store.merges.get(task.id);
    const found = task.workspace === "" ? undefined : await own.kind.inspect(task.workspace);
    const commit = await headOf(own, project, task, found?.kind === "there" ? found.branch : undefined, merge);
    if (commit === "")
      throw new Fault("task.invalid", `${task.project}#${task.number} has no commit yet.`, {
        hint: `See where it is: signalbox task explain ${task.id}`,
      });
    const how = await bringBranch(core, project, branch, commit, {
      hint: `Fetch it under another name: signalbox task fetch ${task.id} --as NAME`,
    });
    return { branch, commit, repository: project.path, how };
  };
}

const nothing: DiffPart = { files: [], text: "", isCut: false };

/** The task's newest commit: of its workspace, else the collected one, else its branch's, else the merged one. */
async function headOf(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  branch: string | undefined,
  merge: Merge | undefined,
): Promise<string> {
  const { control } = own;
  if (branch !== undefined) {
    const here = await control.collect({ folder: task.workspace, branch, task: task.id }).catch((error) => {
      if (!isOtherBranch(error)) throw error;
    });
    if (here !== undefined) return here.commit;
  }
  const collected = await control.commitAt(taskRef(task.id));
  if (collected !== undefined) return collected;
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  return branches[task.branch] ?? merge?.commit ?? "";
}

/** The merge base of the task's work and its target. If the target contains the work, the base before that merge. */
async function beginOf(
  { control }: ProjectWorkspaces,
  project: Project,
  commit: string,
  place: LandingPlace,
  beforeMerge: string | undefined,
): Promise<string> {
  await control.syncFrom({ from: project.path, name: "user" });
  const seen = (await place.start()) ?? (await control.commitAt(`refs/remotes/user/${project.defaultBranch}`));
  const tip = beforeMerge ?? seen;
  if (tip === undefined) return "";
  const isIn = await control.isAncestor(commit, tip);
  const before = isIn ? ((await control.mergeOf(commit, tip))?.before ?? tip) : tip;
  return (await control.mergeBase(before, commit)) ?? before;
}

async function between({ control }: ProjectWorkspaces, from: string, to: string, bytes: number): Promise<DiffPart> {
  const lines = await control.changedLines(from, to);
  return partOf(lines, bytes === 0 ? none : await control.diff(from, to, bytes));
}

async function uncommitted({ kind }: ProjectWorkspaces, folder: string, bytes: number): Promise<DiffPart> {
  const found = await kind.diffUncommitted(folder, bytes || 1);
  return partOf(found.lines, bytes === 0 ? none : found);
}

const none: Diff = { bytes: new Uint8Array(), isCut: false };

function partOf(lines: readonly ChangedLines[], { bytes, isCut }: Diff): DiffPart {
  const files = lines.map(({ path, from, added = null, deleted = null }) => ({
    path: path.text,
    from: from?.text ?? null,
    added,
    deleted,
  }));
  return { files, text: Buffer.from(bytes).toString("utf8"), isCut };
}
