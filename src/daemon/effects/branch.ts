import { basename } from "node:path";
import { nameInAnswer, prefixForLabels, slug } from "../../engine/branch-name.ts";
import { buildPrompt, fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import type { AskModel } from "../agents/ask-model.ts";
import { placeAt, placeNameOf } from "../landing-place.ts";
import type { Perform } from "../perform.ts";
import { allTasks, parentOf, projectOf, remoteName, remoteOf, targetOf, uuid8Of } from "../project.ts";
import { type FreeName, type MakeBranch, type RenamePorts, renameBranch } from "../workspaces/branch.ts";
import { isOwnBranch, noteOwnBranch, otherTaskWith } from "../workspaces/own-branches.ts";
import { identityOf, type ProjectWorkspaces, type WorkspacesOf } from "../workspaces/project-workspaces.ts";

interface CreateBranchPorts extends RenamePorts {
  workflowOf(task: Task): Promise<Workflow>;
}

/**
 * Renames the task's branch to the name in the workflow. With `from` the branch starts there, unless it has commits
 * already. Without a workspace the name is only stored in the task, until it gets one.
 */
export function createBranch(ports: CreateBranchPorts): Perform {
  return async ({ params }, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const parent = task.parent === "" ? undefined : (await ports.store.getTask(task.parent))?.task;
    const workflow = await ports.workflowOf(task);
    const outside = {
      base: (await placeNameOf(ports.store, project, task)).target,
      default_branch: project.defaultBranch,
      slug: slug(task.summary),
      uuid8: uuid8Of(task),
      agent_number: slotOf(task),
      ...(parent === undefined ? {} : { "parent.branch": parent.branch }),
    };
    const filled = (param: unknown) => {
      const built = fillText(workflow, task, typeof param === "string" ? param : "", outside);
      if (!built.ok) throw new Fault("branch.unfilled", `The branch name cannot be built. ${built.problem}`);
      return built.text.trim();
    };
    const [name, from] = [filled(params.name), filled(params.from)];
    if (name === "") return;
    const make = from === "" || task.workspace === "" ? undefined : beginAt(ports, project, task, parent, from);
    const free = parentOf(task) === "" ? undefined : freeSlot(ports.store, project, task);
    await renameBranch(ports, project, task, name, make, free);
  };
}

/** A part has the number of its slot. The folders of the pool are numbered; any other task has the number of its folder. */
function slotOf({ workspace, number, part }: Task): string {
  if (part?.slot !== undefined) return String(part.slot);
  const name = basename(workspace);
  return /^\d+$/.test(name) ? name : String(number);
}

/** Recreates the branch at the tip of another one, if it has no commits of its own. */
function beginAt(
  { store }: CreateBranchPorts,
  project: Project,
  task: Task,
  parent: Task | undefined,
  from: string,
): MakeBranch {
  return async (workspaces, name) => {
    const { control, kind } = workspaces;
    const folder = task.workspace;
    const into = parent?.branch === from ? { target: from, parent: parent.id } : { target: from };
    const start = await placeAt({ store, where: "here" }, workspaces, project, into).start();
    if (start === undefined) throw noStart(project, from);
    const current = await kind.currentBranch(folder);
    const { commit } = await control.collect({ folder, branch: current ?? task.branch, task: task.id });
    if (commit === start || !(await control.isAncestor(commit, start))) return kind.renameBranch(folder, name);
    if (into.parent !== undefined) {
      await control.giveCommit({ repository: project.path, commit: start });
      await kind.forwardBranch(folder, start);
      return kind.renameBranch(folder, name);
    }
    await kind.prepare({ folder, branch: name, base: start, baseBranch: from, existing: false, salvaged: false });
    await noteOwnBranch(control, { id: task.id, branch: name }, start);
    if (current !== undefined && (await isOwnBranch(control, { id: task.id, branch: current })))
      await kind.deleteBranch(current, commit);
  };
}

function noStart({ path }: Project, from: string): Fault {
  return new Fault("workspace.no-base", `${path} has no branch "${from}" for the task to start from.`, {
    hint: "List the branches: git branch --all",
  });
}

/**
 * Frees the name of a slot's branch, which the part before has left: deletes that branch if the part's own ref keeps its
 * commits. A branch with commits of the user's stays, and one that the user has fetched from a clone.
 */
function freeSlot(store: Store, { workspaces }: Project, task: Task): FreeName {
  return async ({ control, kind }, name, tip) => {
    const siblings = (await allTasks(store, { parent: task.parent })).filter(
      (each) => each.task.branch === name && each.task.id !== task.id,
    );
    const open = siblings.find(({ isOpen }) => isOpen)?.task;
    if (open !== undefined)
      throw new Fault("branch.in-use", `${open.project}#${open.number} has not left the branch "${name}" yet.`, {
        retry: "later",
        hint: `See what it waits for: signalbox task explain ${open.id}`,
      });
    for (const { task: former } of siblings) {
      if (tip === undefined || workspaces === "clone" || !(await isOwnBranch(control, former))) continue;
      const kept = await control.commitAt(taskRef(former.id));
      if (kept === undefined || !(await control.isAncestor(tip, kept))) continue;
      await kind.deleteBranch(name, tip);
      return;
    }
  };
}

interface DeleteBranchPorts {
  readonly store: Store;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
}

/**
 * Deletes the task's branch in the user's repository once its work is elsewhere. Does nothing if the branch is gone or
 * was not made for the task.
 */
export function deleteBranch({ store, log, workspacesOf }: DeleteBranchPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(store, task.project);
    const { branch } = task;
    if (branch === "") return;
    const workspaces = await workspacesOf(project);
    const targets = await targetsOf(store, project, task);
    const order = { from: project.path, name: "user", only: [branch, ...targets] };
    const { branches } = await workspaces.control.syncFrom(order);
    const tip = branches[branch];
    if (tip === undefined) return;
    if (targets.includes(branch)) throw left(branch, "work goes into it");
    if (!(await isOwnBranch(workspaces.control, task)))
      return log.info("The branch stays, because it was not made for the task", { task: task.id, branch });
    if (task.workspace !== "") throw left(branch, "the task still works on it", "Release the workspace first.");
    const other = await otherTaskWith(store, task, branch);
    if (other !== undefined) throw left(branch, `${other.project}#${other.number} works on it too`);
    if (!(await isElsewhere(workspaces, task, tip, branches, targets))) {
      throw left(branch, `its commits are not in ${targets.join(" or ")}, nor kept`, `See them: git log ${branch}`);
    }
    const done = await workspaces.kind.deleteBranch(branch, tip);
    if (done.kind === "checked-out") throw left(branch, `it is checked out in ${done.folder}`);
    log.info("The branch of a task was deleted", { task: task.id, branch, commit: tip });
  };
}

/** The branches that the task is merged into. */
async function targetsOf(store: Store, project: Project, task: Task): Promise<readonly string[]> {
  const merges = await store.merges.list({ task: task.id });
  return [...new Set([project.defaultBranch, targetOf(project, task), ...merges.map(({ target }) => target)])];
}

async function isElsewhere(
  { control }: ProjectWorkspaces,
  task: Task,
  tip: string,
  branches: Readonly<Record<string, string>>,
  targets: readonly string[],
): Promise<boolean> {
  const places = [...targets.map((target) => branches[target]), await control.commitAt(taskRef(task.id))];
  for (const commit of places) if (commit !== undefined && (await control.isAncestor(tip, commit))) return true;
  return false;
}

function left(branch: string, why: string, hint = `Delete it yourself once you can: git branch -D ${branch}`): Fault {
  return new Fault("branch.in-use", `The branch ${JSON.stringify(branch)} stays: ${why}.`, { hint });
}

interface HarvestPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
}

/** Commits the uncommitted changes of the agent on the task's branch, if there are any. */
export function harvestUncommitted({ store, clock, log, workspacesOf }: HarvestPorts): Perform {
  return async (_, { task }) => {
    if (task.workspace === "") return;
    const project = await projectOf(store, task.project);
    const { git, kind } = await workspacesOf(project);
    const found = await kind.inspect(task.workspace);
    // Most agents commit their work, and this check costs a quarter of an empty commit.
    if (found.kind === "there" && found.branch !== undefined && !found.dirty && found.operation === undefined) return;
    const commit = await kind.commitAll({
      folder: task.workspace,
      task: task.id,
      message: messageFor(task),
      author: await identityOf(git, project.path),
      date: clock.now(),
    });
    if (commit !== undefined) log.info("Uncommitted work was committed", { task: task.id, commit });
  };
}

function messageFor({ id, project, number, summary }: Task): string {
  const title = summary.trim() === "" ? "Uncommitted work" : summary.trim();
  return `${title}\n\nLeft uncommitted by the agent of task ${project}#${number} (${id}).\n`;
}

interface NamePorts extends RenamePorts {
  readonly askModel: AskModel;
  workflowOf(task: Task): Promise<Workflow>;
}

/** A task never waits longer for a name. */
const nameTimeLimit = 20_000;

/**
 * Names the branch in words of a model's, `fix/weak-coffee`; after the task's summary where no model gives a name that can be
 * used. A name that a person or a workflow has chosen stays.
 */
export function nameBranch(ports: NamePorts): Perform {
  return async ({ params }, { task }) => {
    if (!hasGeneratedName(task) || task.summary.trim() === "") return;
    const model = typeof params.model === "string" ? params.model : "";
    const answer =
      model === ""
        ? undefined
        : await ports.askModel({
            ...{ task, name: "namer", model, timeLimit: nameTimeLimit },
            prompt: namePrompt(await ports.workflowOf(task), task, params.prompt),
          });
    // A person may have named it while the model was asked.
    const now = (await ports.store.getTask(task.id))?.task;
    if (now === undefined || !hasGeneratedName(now)) return;
    const name = nameInAnswer(answer) ?? slug(now.summary);
    const project = await projectOf(ports.store, now.project);
    await renameBranch(ports, project, now, `${prefixForLabels(now.labels)}/${name}`);
  };
}

/** A generated name ends with the task's id. */
function hasGeneratedName({ branch, id }: Task): boolean {
  return branch.endsWith(id);
}

const maxSummaryLength = 500;

function namePrompt(workflow: Workflow, task: Task, key: unknown): string {
  const built = typeof key === "string" ? buildPrompt(workflow, task, key, { slug: slug(task.summary) }) : undefined;
  if (built?.ok === true) return built.text;
  const rule = "Answer with two to four lower-case English words, joined by hyphens, and nothing else.";
  return `Find a short, memorable name for the git branch of this issue:\n\n${oneLine(task.summary, maxSummaryLength)}\n\n${rule}\n`;
}

interface SyncPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
}

/**
 * Fetches the branches of the user's repository and of its remote into the control repository. The user's own do not
 * move.
 */
export function syncRepo({ store, workspacesOf }: SyncPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(store, task.project);
    const { git, control } = await workspacesOf(project);
    await control.syncFrom({ from: project.path, name: "user" });
    const from = await remoteOf(git, project, "fetch");
    if (from !== undefined) await control.syncFrom({ from, name: remoteName });
  };
}
