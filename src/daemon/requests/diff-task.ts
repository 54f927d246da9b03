import type { Routes } from "../../api/routes.ts";
import type { DiffPart } from "../../api/work.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { type ChangedLines, type Diff, taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import { cutText } from "../../text.ts";
import { findTask } from "../authorise.ts";
import { bringBranch } from "../bring-work.ts";
import type { Core } from "../core.ts";
import { readFilePatch } from "../file-patch.ts";
import type { Handler } from "../handlers.ts";
import { type LandingPlace, placeOf } from "../landing-place.ts";
import { landingsOf } from "../merging/stack.ts";
import { isShared, mustHave } from "../project.ts";
import { lastSeenCommit, noteSeen } from "../reviewed.ts";
import { isOtherBranch } from "../task-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

const maxBytes = 8 * 1024 * 1024;
/** More files than a person looks at one by one. */
const maxListed = 10_000;

/** The task's changes since its base commit, and the uncommitted changes in its workspace. */
export function diffTask(core: Core): Handler<Routes["diffTask"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const project = await mustHave(core, task.project);
    const own = await core.repositories.workspacesOf(project);
    const { text, files, path: only } = asked.query;
    const bytes = text === "false" || files === "true" || only !== undefined ? 0 : maxBytes;
    const place = await placeOf({ store: core.store, where: core.repositories.where() }, own, project, task);
    const found = task.workspace === "" ? undefined : await own.kind.inspect(task.workspace);
    const merge = await core.store.merges.get(task.id);
    const commit = await headOf(own, project, task, found?.kind === "there" ? found.branch : undefined, merge);
    const landings = merge?.state === "merged" && merge.commit === commit ? await landingsOf(core.store, merge) : [];
    const begin = async () =>
      (await namedBegin(core, asked, task, own, commit)) ?? beginOf(own, project, commit, place, landings[0]?.before);
    const base = commit === "" ? "" : await begin();
    const { path, part = "committed", next } = asked.query;
    const isDirty = found?.kind === "there" && found.dirty;
    const folder = isDirty ? task.workspace : "";
    const about = {
      target: place.branch,
      base,
      commit,
      protectedChanges: base === "" ? [] : [...(await core.repositories.protection.of(task, commit)).lines],
      workspace: task.workspace,
    };
    if (path !== undefined) {
      const file = await readFilePatch(own, {
        folder,
        base,
        commit,
        path,
        part,
        ...(next === undefined ? {} : { next }),
      });
      return { ...about, committed: nothing, uncommitted: null, file };
    }
    const isListed = asked.query.files === "true";
    const committed = base === "" ? nothing : await between(own, base, commit, bytes, isListed);
    // Only a whole diff since the task began, or since its review, shows the person all that an approval is about. Of a diff
    // that is too long, the person sees the text with git; then the complete list of its files counts.
    const isTooLong = async () => base !== "" && (await own.control.diff(base, commit, maxBytes)).isCut;
    const isShown = bytes > 0 ? !committed.isCut : !isListed && task.judged?.commit !== commit && (await isTooLong());
    if (isShown && asked.query.from === undefined) await noteSeen(core, asked.caller, task, commit);
    const isUncommitted = isDirty && asked.query.committed !== "true";
    return { ...about, committed, uncommitted: isUncommitted ? await uncommitted(own, folder, bytes, isListed) : null };
  };
}

/** The commit that the caller wants the diff to begin at; undefined where the caller names none. */
async function namedBegin(
  core: Core,
  { query, caller }: Parameters<Handler<Routes["diffTask"]>>[0],
  task: Task,
  { control }: ProjectWorkspaces,
  commit: string,
): Promise<string | undefined> {
  if (query.sinceReview === "true") return reviewedCommit(task);
  const { from } = query;
  if (from === undefined) return undefined;
  if (from === "seen") {
    const seen = caller.kind === "human" ? await lastSeenCommit(core, task) : undefined;
    if (seen !== undefined) return seen;
    throw new Fault("task.unseen", "No commit of this task was marked as seen, or shown to you.", {
      hint: `See all of it: signalbox task diff ${task.id}`,
    });
  }
  // The control repository has the work of other tasks too, which is none of a run's business.
  const isOwn = caller.kind === "human" || (await control.isAncestor(from, commit).catch(() => false));
  const shared = isOwn ? await control.mergeBase(from, commit).catch(() => undefined) : undefined;
  if (shared !== undefined) return from;
  throw new Fault(
    "diff.missing",
    `"${cutText(from, 64)}" is not the full id of a commit that the task's work can be compared with.`,
    {
      hint: "Name a commit of the task's history, or leave it out.",
    },
  );
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

async function between(
  { control }: ProjectWorkspaces,
  from: string,
  to: string,
  bytes: number,
  isListed: boolean,
): Promise<DiffPart> {
  const lines = await control.changedLines(from, to);
  return partOf(lines, bytes === 0 ? none : await control.diff(from, to, bytes), isListed);
}

async function uncommitted(
  { kind }: ProjectWorkspaces,
  folder: string,
  bytes: number,
  isListed: boolean,
): Promise<DiffPart> {
  const found = await kind.diffUncommitted(folder, bytes || 1);
  return partOf(found.lines, bytes === 0 ? none : found, isListed);
}

const none: Diff = { bytes: new Uint8Array(), isCut: false };

function partOf(lines: readonly ChangedLines[], { bytes, isCut }: Diff, isListed: boolean): DiffPart {
  const files = lines.slice(0, isListed ? maxListed : lines.length).map(({ path, from, change, added, deleted }) => ({
    path: path.text,
    from: from?.text ?? null,
    added: added ?? null,
    deleted: deleted ?? null,
    ...(isListed ? { status: change, binary: added === undefined } : {}),
  }));
  return { files, text: Buffer.from(bytes).toString("utf8"), isCut: isCut || files.length < lines.length };
}
