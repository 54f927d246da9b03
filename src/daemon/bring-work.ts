import type { TaskEvent } from "../engine/decision.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { type ControlRepository, type MergeOrder, taskRef } from "../ports/control-repository.ts";
import type { PullRequest } from "../ports/forge.ts";
import type { Merge } from "../ports/records.ts";
import type { Project, StoredTask } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import type { Core } from "./core.ts";
import { newRecord } from "./forge/pull-request.ts";
import { findTips } from "./landing-place.ts";
import { landingsOf, restoreMessage, restoreWork, takenBack } from "./merging/stack.ts";
import { missingTrouble } from "./moved-target.ts";
import { parentOf, remoteName } from "./project.ts";
import { userBranches } from "./workspaces/own-branches.ts";

/** The base and the branch of the ended task that a new one continues. Those of a part belong to its parent. */
export function takenOver(ended: StoredTask | undefined): { readonly base?: string; readonly branch?: string } {
  if (ended === undefined || parentOf(ended.task) !== "") return {};
  const { base, branch } = ended.task;
  return { base, branch };
}

/** The event that creates a task, with the ended task that it continues. */
export function continuing(event: TaskEvent, { id }: Task): TaskEvent {
  return event.type === "task.created" ? { ...event, data: { ...event.data, continues: id } } : event;
}

/** Finds the pull request that a new task continues, and fetches its commits. */
export async function findPullRequest(
  core: Core,
  project: Project,
  { pullRequest: number = 0 }: { readonly pullRequest?: number },
): Promise<PullRequest> {
  if (core.forge === undefined) throw new Fault("forge.unavailable", "This daemon works without a forge.");
  const { forge, remote } = await core.forge.forgeOf(project);
  const found = await forge.getPullRequest(number);
  if (found.state !== "open")
    throw new Fault("task.invalid", `Pull request ${number} is ${found.state}, so there is nothing to continue.`, {
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

/** The name proves nothing: a fork may have a branch with the same name. */
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

/** The task's context for a pull request where the caller gives none. */
export function aboutPullRequest({ number, url, title }: PullRequest): string {
  return [`This continues pull request ${number}: ${title}`.trim(), url].filter((each) => each !== "").join("\n");
}

export function branchesOf({ head, base }: PullRequest): { readonly branch: string; readonly base: string } {
  return { branch: head, base };
}

/** From now on the pull request is watched for the task. */
export async function adoptPullRequest(core: Core, { id, project }: Task, found: PullRequest): Promise<void> {
  const at = core.clock.now();
  const { number, url, head, base, title, mergedCommit: _, ...rest } = found;
  // Without a forge it belongs to the task that opened it.
  if (url === "") return;
  const own = { id, project, task: id, at, number, url, head, base, title, body: "", mergedCommit: "", seenAt: at };
  await core.store.pullRequests.put({ ...newRecord, ...rest, ...own });
  const data = { number, url, head, base };
  await core.store.addEvents(id, [{ type: "pr.opened", by: "human", data, set: {} }], at);
  core.forge?.opened();
}

/**
 * Moves the branch in the user's repository to a commit of the control repository, unless the branch has more. `hint`: what
 * to do if the two have diverged.
 */
export async function bringBranch(
  core: Core,
  project: Project,
  branch: string,
  commit: string,
  { hint = `Reconcile them first, for example with: git pull ${remoteName} ${branch}` } = {},
): Promise<"created" | "forwarded" | "there"> {
  if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
  const { control } = await core.repositories.workspacesOf(project);
  const here = (await control.syncFrom({ from: project.path, name: "user" })).branches[branch];
  if (here !== undefined && (await control.isAncestor(commit, here))) return "there";
  if (here !== undefined && !(await control.isAncestor(here, commit)))
    throw new Fault("task.invalid", `Your "${branch}" and the task's saved work have diverged.`, { hint });
  const { signal } = core.repositories;
  const result = await control.publish({ repository: project.path, branch, commit, expected: here, signal });
  if (result.kind === "moved")
    throw new Fault("task.invalid", `"${branch}" has just moved.`, { retry: "later", hint: "Ask again." });
  if (result.kind === "waits") throw new Fault("task.invalid", result.text, { hint: "Then ask again." });
  return here === undefined ? "created" : "forwarded";
}

/**
 * Lets a new task continue the work of a task that is over: restores a branch that is gone, or never left its
 * workspace. If the work was merged, the new task starts there; if the merge was reverted since, a first commit
 * restores it. Returns what the person should know.
 */
async function bringBack(
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
  const isThere = await control.isAncestor(commit, target);
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(ended, base), author, date: core.clock.now() };
  // The task may have committed after its merge, but its branch must not contain the revert.
  const merged = isThere ? commit : await lastMerge(core, control, merge, commit);
  const lost = merged === undefined ? [] : await takenBack({ control, store: core.store }, merge, merged, target, how);
  const restored = await restoreWork(control, lost, target, how);
  if (restored === undefined) {
    if (!isThere && branches[branch] === undefined) await bringBranch(core, project, branch, commit);
    return [];
  }
  const tip = branches[branch] ?? (isThere ? undefined : commit);
  await bringBranch(core, project, branch, await onTopOf(control, restored, tip, branch, how));
  const name = `${ended.project}#${ended.number}`;
  return [`The merge of ${name} into "${base}" was undone. The first commit of the new task restores its work.`];
}

/** Inside the branch's mutex: the branch of a merged task may be about to be deleted. */
export async function continueBranch(
  core: Core,
  project: Project,
  from: StoredTask,
  branch: string,
  target: string,
): Promise<readonly string[]> {
  const bring = () => bringBack(core, project, from, branch, target);
  return core.repositories === undefined ? [] : core.repositories.inTurn(`branches ${project.name}`, bring);
}

/** The last merge of a task whose branch has moved on since; undefined where the branch contains the revert. */
async function lastMerge(
  { store }: Core,
  control: ControlRepository,
  merge: Merge | undefined,
  commit: string,
): Promise<string | undefined> {
  if (merge === undefined) return undefined;
  const isSeen = merge.undo !== undefined && (await control.isAncestor(merge.undo.after, commit));
  return isSeen ? undefined : (await landingsOf(store, merge)).at(-1)?.after;
}

/** The branch may have moved on since its work was merged. */
async function onTopOf(
  control: ControlRepository,
  onto: string,
  tip: string | undefined,
  branch: string,
  how: Pick<MergeOrder, "author" | "date">,
): Promise<string> {
  if (tip === undefined || (await control.isAncestor(tip, onto))) return onto;
  const message = `Merge ${branch} with its reverted work\n`;
  const merged = await control.merge({ ...how, onto, branch: tip, strategy: "merge", message });
  if (merged.kind === "merged" || merged.kind === "fast-forward") return merged.commit;
  if (merged.kind === "up-to-date") return onto;
  const files = merged.files.map(({ path }) => path.text).join(", ");
  throw new Fault(
    "task.invalid",
    `"${branch}" has newer commits that conflict with its earlier work, whose merge was undone: ${files}.`,
    {
      hint: `Give the new task a branch of its own, with --branch, and then merge "${branch}" there.`,
    },
  );
}

/**
 * Refuses a task for a repository that has no commit or not the branch that the work would start from. A project with tasks
 * was checked for commits before, and they do not disappear, so git is asked only once for most projects.
 */
export async function mustHaveStart(core: Core, project: Project, workflow: Workflow, target: string): Promise<void> {
  if (core.repositories === undefined || !worksInWorkspace(workflow)) return;
  const own = await core.repositories.workspacesOf(project);
  const git = `git -C ${shellWord(project.path)}`;
  const isKnown = (await core.store.listTasks({ project: project.name }, { limit: 1 })).length > 0;
  if (!isKnown && Object.keys(await userBranches(own.control, project)).length === 0) {
    const looked = await own.git.lookAtBranch(project.path, target);
    if (looked !== undefined && looked.checkedOut === undefined)
      throw new Fault("task.invalid", `${project.path} has no branch, and a task's work begins at one.`, {
        hint: `Make one of the commit that is checked out: ${git} switch -c ${shellWord(target)}`,
      });
    throw new Fault("task.invalid", `${project.path} has no commit yet, and a task's work begins at one.`, {
      hint: `Make a first one: ${git} commit --allow-empty -m start`,
    });
  }
  const missing = await missingTrouble(own, project, target, core.store);
  if (missing !== undefined) throw new Fault("task.invalid", missing.reason, { hint: missing.fix });
}

function worksInWorkspace({ states, ways }: Workflow): boolean {
  const works = Object.values(states);
  if (works.some(({ wait }) => wait.kind === "agent" || wait.kind === "panel")) return true;
  return [...ways.flatMap(({ hooks }) => hooks), ...works.flatMap((state) => state.do)].some(
    ({ name }) => name === "acquire_workspace",
  );
}
