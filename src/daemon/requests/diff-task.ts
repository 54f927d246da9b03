import type { Routes } from "../../api/routes.ts";
import type { DiffPart } from "../../api/work-routes.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { type ChangedLines, type Diff, taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import { baseOf } from "../base-of.ts";
import type { Core } from "../core.ts";
import { lastSeen, type Where } from "../merging/find-tips.ts";
import { isOtherBranch } from "../workspaces/checked-out.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { findTask } from "./find-task.ts";
import { mustHave } from "./projects.ts";

const most = 8 * 1024 * 1024;

/** What a task has changed against where it began, and what is not committed yet in its workspace. */
export function diffTask(core: Core): Handler<Routes["diffTask"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const project = await mustHave(core, task.project);
    const own = await core.repositories.workspacesOf(project);
    const bytes = asked.query.text === "false" ? 0 : most;
    const target = await baseOf(core.store, project, task);
    const found = task.workspace === "" ? undefined : await own.kind.inspect(task.workspace);
    const merge = await core.store.merges.get(task.id);
    const commit = await headOf(own, project, task, found?.kind === "there" ? found.branch : undefined, merge);
    const where = core.repositories.where();
    const base = commit === "" ? "" : await beginOf(own, project, commit, target, merge, where);
    const isUncommitted = found?.kind === "there" && found.dirty && asked.query.committed !== "true";
    return {
      target,
      base,
      commit,
      committed: base === "" ? nothing : await between(own, base, commit, bytes),
      uncommitted: isUncommitted ? await uncommitted(own, task.workspace, bytes) : null,
      workspace: task.workspace,
    };
  };
}

const nothing: DiffPart = { files: [], text: "", isCut: false };

/** The task's newest commit: in its workspace, else what was collected, else where its branch is, else what was merged. */
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

/** Where the task's work parted from the branch that it goes into. What is in there already is looked for before it came in. */
async function beginOf(
  { control }: ProjectWorkspaces,
  project: Project,
  commit: string,
  target: string,
  merge: Merge | undefined,
  where: Where,
): Promise<string> {
  await control.syncFrom({ from: project.path, name: "user" });
  const seen = (await lastSeen(control, target, where)) ?? (await lastSeen(control, project.defaultBranch, where));
  const isOurs = merge?.state === "merged" && merge.before !== merge.after && merge.commit === commit;
  const tip = isOurs ? merge.before : seen;
  if (tip === undefined) return "";
  const isIn = await control.isAncestor(commit, tip);
  const before = isIn ? ((await control.beforeMergeOf(commit, tip)) ?? tip) : tip;
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
