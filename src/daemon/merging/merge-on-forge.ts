import type { Task } from "../../engine/task.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Core, Repositories } from "../core.ts";
import { mergePullRequest } from "../forge/merge-pull-request.ts";
import { findTips } from "./find-tips.ts";
import { lineOf, newMerge, type Wanted } from "./merging.ts";
import { noteMerge } from "./note-merge.ts";
import { publishCommit } from "./publish-commit.ts";

/**
 * Merges a task's pull request, where it has one on a forge; what was merged there already is only moved on. Undefined where
 * it has none: then its work is merged here.
 */
export async function mergeOnForge(
  { forge, store, clock, log }: Core,
  repositories: Repositories,
  project: Project,
  task: Task,
  wanted: Wanted,
): Promise<Merge | undefined> {
  const result = forge === undefined ? undefined : await mergePullRequest(forge, project, task, wanted.only);
  if (result === undefined || result.kind === "none") return undefined;
  const merge = newMerge(task, wanted, clock.now());
  if (result.kind === "refused") {
    const reason = `${result.reason} To merge it here all the same: signalbox task merge ${task.id} --local`;
    const ended: Merge = { ...merge, state: "refused", reason, endedAt: clock.now() };
    await noteMerge({ store, clock }, ended, "merge.failed", { word: "refused", reason, files: [] });
    return ended;
  }
  const { commit } = result;
  const landed: Merge = { ...merge, state: "merged", commit, before: commit, after: commit };
  await noteMerge({ store, clock }, landed, "merge.landed", { commit, before: "", after: commit });
  await followRemote(repositories, project, wanted.target).catch((error) =>
    log.warn("The user's branch could not follow the remote's", { project: project.name, error }),
  );
  return repositories.merging.finish(landed);
}

/** The user's own branch comes along where nothing is in the way; the work is safe on the remote if not. */
async function followRemote(repositories: Repositories, project: Project, target: string): Promise<void> {
  await repositories.inTurn(lineOf(project.name, target), async () => {
    const own = await repositories.workspacesOf(project);
    const tips = await findTips(own, project, target, "both");
    if (tips.apart || tips.base === tips.user) return;
    const landing = await repositories.landingOf(project, own);
    await publishCommit(landing, own, project, target, tips, tips.base);
  });
}
