import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { PullRequest } from "../../ports/forge.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { newRecord } from "../forge/asked-pull-requests.ts";
import { remoteName } from "../remote-of.ts";

/** Finds the pull request that a new task is to go on with, and its commits. */
export async function findPullRequest(
  core: Core,
  project: Project,
  { pullRequest: number = 0 }: { readonly pullRequest?: number },
): Promise<PullRequest> {
  if (core.forge === undefined) throw new Fault("forge.unavailable", "This daemon works without a forge.");
  const { forge, remote } = await core.forge.forgeOf(project);
  const found = await forge.getPullRequest(number);
  if (found.state !== "open")
    throw new Fault("task.invalid", `Pull request ${number} is ${found.state}, so there is nothing to go on with.`, {
      hint: "Create a task without --pr.",
    });
  const other = await core.store.findTask(found.head, project.name);
  if (other?.isOpen === true && other.task.branch === found.head) {
    const { number, id } = other.task;
    throw new Fault("task.invalid", `${project.name}#${number} is at work on the branch "${found.head}" already.`, {
      hint: `See where it is: signalbox task explain ${id}`,
    });
  }
  if (remote !== undefined && found.url !== "") await checkBranch(core, project, found, remote);
  return found;
}

/** The name alone says nothing: a fork may have a branch that is called the same. */
async function checkBranch(core: Core, project: Project, found: PullRequest, remote: string): Promise<void> {
  if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
  const { control } = await core.repositories.workspacesOf(project);
  const { number, head, headCommit } = found;
  const { branches } = await control.syncFrom({ from: remote, name: remoteName });
  if (branches[head] === headCommit) return;
  throw new Fault("task.invalid", `The branch of pull request ${number} is not in this repository.`, {
    hint: `It may be of a fork. Fetch it (git fetch ${remoteName} pull/${number}/head:NAME), then: signalbox task create NAME`,
  });
}

/** What the task is told about the pull request where nobody says more. */
export function aboutPullRequest({ number, url, title }: PullRequest): string {
  return [`This goes on with pull request ${number}: ${title}`.trim(), url].filter((each) => each !== "").join("\n");
}

export function branchesOf({ head, base }: PullRequest): { readonly branch: string; readonly base: string } {
  return { branch: head, base };
}

/** From here on the pull request is looked at for the task. */
export async function adoptPullRequest(core: Core, { id, project }: Task, found: PullRequest): Promise<void> {
  const at = core.clock.now();
  const { number, url, head, base, title, mergedCommit: _, ...rest } = found;
  // Without a forge it belongs to the task that asked for it.
  if (url === "") return;
  const own = { id, project, task: id, at, number, url, head, base, title, body: "", mergedCommit: "", seenAt: at };
  await core.store.pullRequests.put({ ...newRecord, ...rest, ...own });
  const data = { number, url, head, base };
  await core.store.addEvents(id, [{ type: "pr.opened", by: "human", data, set: {} }], at);
  core.forge?.opened();
}
