import type { Task } from "../../engine/task.ts";
import type { Config } from "../../home/config-fields.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PullRequest, PullRequestStatus } from "../../ports/forge.ts";
import type { Log } from "../../ports/log.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName } from "../remote-of.ts";
import type { Turns } from "../turns.ts";
import type { ProjectForge } from "./project-forge.ts";
import { type PushPorts, pushedRef } from "./push-task.ts";

export interface MergePorts extends PushPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  mergeMethod(): Config["forgeMerge"];
}

export type PullRequestMerge =
  /** The task has no pull request on a forge. */
  | { readonly kind: "none" }
  | { readonly kind: "merged"; readonly commit: string }
  | {
      readonly kind: "refused";
      readonly word: "unapproved" | "unmergeable";
      /** A sentence. */
      readonly reason: string;
      /** The forge does not know yet; it may in a moment. */
      readonly isUndecided: boolean;
    };

/**
 * Merges the task's pull request on the forge, where somebody has approved it and nothing is in the way. With `only`, it must
 * be at that commit.
 */
export function mergePullRequest(
  ports: MergePorts,
  project: Project,
  task: Task,
  only?: string,
): Promise<PullRequestMerge> {
  return ports.inTurn(`forge ${task.id}`, async () => {
    const place = await ports.forgeOf(project);
    if (place.kind === "none") return { kind: "none" };
    const found = await findOwn(ports, place, task);
    if (found === undefined) return { kind: "none" };
    const result =
      found.state === "open" ? await mergeOpen(ports, place, project, task, found.number, only) : over(found);
    if (result.kind === "merged") await noteMerge(ports, place, project, task, result.commit);
    return result;
  });
}

async function findOwn({ store }: MergePorts, { forge }: ProjectForge, task: Task): Promise<PullRequest | undefined> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined && record.url !== "") return forge.getPullRequest(record.number);
  return forge.findPullRequest(task.branch);
}

function over({ state, number, mergedCommit = "" }: PullRequest): PullRequestMerge {
  return state === "merged"
    ? { kind: "merged", commit: mergedCommit }
    : refused("unmergeable", `Pull request ${number} is closed.`);
}

async function mergeOpen(
  ports: MergePorts,
  { forge }: ProjectForge,
  project: Project,
  task: Task,
  number: number,
  only: string | undefined,
): Promise<PullRequestMerge> {
  const status = await forge.statusOf(number);
  const obstacle = obstacleIn(status);
  if (obstacle !== undefined) return obstacle;
  const { control } = await ports.workspacesOf(project);
  // What others have pushed since was looked at by nobody here.
  const expectedHead = (await control.commitAt(pushedRef(task.id))) ?? status.pullRequest.headCommit;
  if (only !== undefined && only !== expectedHead) {
    const [at, approved] = [expectedHead.slice(0, 10), only.slice(0, 10)];
    const push = `Push it: signalbox task create-pr ${task.id}`;
    return refused(
      "unmergeable",
      `Pull request ${number} is at ${at}, not at ${approved}, which was approved. ${push}`,
    );
  }
  const result = await forge.merge(number, { method: ports.mergeMethod(), expectedHead });
  if (result.kind === "merged") return result;
  return refused(result.kind === "unapproved" ? "unapproved" : "unmergeable", result.reason);
}

/** That nobody objects is no approval. */
function obstacleIn({ pullRequest: { number }, review, mergeable }: PullRequestStatus): PullRequestMerge | undefined {
  if (review === "changes-requested") return refused("unapproved", `Changes are asked for in pull request ${number}.`);
  if (review !== "approved") return refused("unapproved", `Pull request ${number} is not approved.`);
  if (mergeable === "no") return refused("unmergeable", `Pull request ${number} has conflicts.`);
  if (mergeable === "yes") return undefined;
  return refused("unmergeable", `The forge does not know yet whether pull request ${number} can be merged.`, true);
}

function refused(word: "unapproved" | "unmergeable", reason: string, isUndecided = false): PullRequestMerge {
  return { kind: "refused", word, reason, isUndecided };
}

/** The merge has happened whatever becomes of this: the next look at the forge tells the same. */
async function noteMerge(
  { store, clock, log, workspacesOf }: MergePorts,
  { remote }: ProjectForge,
  project: Project,
  task: Task,
  commit: string,
): Promise<void> {
  const record = await store.pullRequests.get(task.id);
  if (record !== undefined)
    await store.pullRequests.put({ ...record, state: "merged", mergedCommit: commit, seenAt: clock.now() });
  if (remote === undefined) return;
  const { control } = await workspacesOf(project);
  await control
    .syncFrom({ from: remote, name: remoteName })
    .catch((error) => log.warn("The control repository could not be synced", { task: task.id, error }));
}
