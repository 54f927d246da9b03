import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Core, Repositories } from "../core.ts";
import { mergePullRequest } from "../forge/merge-pull-request.ts";
import { findTips } from "./find-tips.ts";
import { lineOf, move, newMerge, type Wanted } from "./merging.ts";
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
  const result = forge === undefined ? undefined : await mergePullRequest(forge, project, task);
  if (result === undefined || result.kind === "none") return undefined;
  const merge = { ...newMerge(task, wanted, clock.now()), endedAt: clock.now() };
  const note = async (ended: Merge, event: Pick<TaskEvent, "type" | "data">) => {
    await store.merges.put(ended);
    const data = { target: wanted.target, ...event.data };
    await store.addEvents(task.id, [{ ...event, data, by: wanted.by, set: {} }], clock.now());
    return ended;
  };
  if (result.kind === "refused") {
    const reason = `${result.reason} To merge it here all the same: signalbox task merge ${task.id} --local`;
    return note(
      { ...merge, state: "refused", reason },
      { type: "merge.failed", data: { word: "refused", reason, files: [] } },
    );
  }
  const { commit } = result;
  await note(
    { ...merge, state: "merged", commit, before: commit, after: commit },
    { type: "merge.landed", data: { commit, before: "", after: commit } },
  );
  await followRemote(repositories, project, wanted.target).catch((error) =>
    log.warn("The user's branch could not follow the remote's", { project: project.name, error }),
  );
  const ended: Merge = { ...merge, state: "merged", commit, before: commit, after: commit };
  const done = { ...ended, reason: await move(repositories, ended) };
  await store.merges.put(done);
  return done;
}

/** The user's own branch comes along where nothing is in the way; the work is safe on the remote if not. */
async function followRemote(repositories: Repositories, project: Project, target: string): Promise<void> {
  await repositories.inTurn(lineOf(project.name, target), async () => {
    const own = await repositories.workspacesOf(project);
    const tips = await findTips(own, project, target, true);
    if (tips.apart || tips.base === tips.user) return;
    const landing = await repositories.landingOf(project, own);
    await publishCommit(landing, own, project, target, tips, tips.base);
  });
}
