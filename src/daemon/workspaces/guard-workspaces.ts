import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import type { Turns } from "../turns.ts";
import { collectingFrom } from "./bind-workspace.ts";
import { checkObeyed } from "./check-obeyed.ts";
import { collectOther } from "./checked-out.ts";
import { isOwnBranch, noteOwnBranch } from "./ended-branches.ts";
import { type KindName, kindNameOf, type ProjectWorkspaces, type WorkspacesOf } from "./project-workspaces.ts";

/**
 * Lets nothing through that has git work in the user's repository, or in a worktree of it, while that may obey something
 * that no person has looked at. Treats every workspace as what it is, whatever the project makes now. And collects from a
 * folder only what belongs to the task that has it, and is its work.
 */
export function guardWorkspaces(store: Store, inTurn: Turns, workspacesOf: WorkspacesOf): WorkspacesOf {
  // Whoever asks for a project gets the same record until it is changed.
  const guarded = new WeakMap<Project, ProjectWorkspaces>();
  return async (project) => {
    const before = guarded.get(project);
    if (before !== undefined) return before;
    const opened = await workspacesOf(project);
    const check = () => checkObeyed(store, opened.git, project.name);
    const recordAt = async (folder: string) =>
      (await store.workspaces.list({ project: project.name })).find(({ path }) => path === folder);
    const kindAt = async (folder: string): Promise<KindName> => {
      const known = await recordAt(folder);
      return known === undefined || known.kind === "folder" ? kindNameOf(project) : known.kind;
    };
    // Looking at a folder takes time, in which it may be given back, and to somebody else.
    const collect: ControlRepository["collect"] = (order) =>
      inTurn(collectingFrom(order.folder), async () => {
        const known = await recordAt(order.folder);
        if (known !== undefined && known.task !== order.task) throw givenBack(order.folder);
        const task = known && (await store.getTask(order.task))?.task;
        if (known === undefined || task === undefined || known.kind === "folder" || task.branch === order.branch)
          return opened.control.collect(order);
        const kind = await opened.kindOf(known.kind);
        return collectOther({ store, project, control: opened.control, kind, workspace: known }, task, order);
      });
    /** What happens to the branch that is checked out must happen to the task's. Gives the task, and that branch. */
    const tasksBranch = async (folder: string) => {
      const known = await recordAt(folder);
      const task = known && (await store.getTask(known.task))?.task;
      const branch = await (await opened.kindOf(await kindAt(folder))).currentBranch(folder);
      if (task === undefined || branch === undefined) return undefined;
      if (branch !== task.branch) await collect({ folder, branch, task: task.id });
      return { id: task.id, branch };
    };
    const renamed = async (before: TasksBranch, to: string) => {
      if (before === undefined || !(await isOwnBranch(opened.control, before))) return;
      const commit = await opened.control.commitAt(`refs/remotes/user/${project.defaultBranch}`);
      if (commit !== undefined) await noteOwnBranch(opened.control, { id: before.id, branch: to }, commit);
    };
    const made = {
      ...opened,
      control: guardControl({ ...opened.control, collect }, project, check, kindAt),
      kind: guardKind(opened, check, kindAt, { tasksBranch, renamed }),
    };
    guarded.set(project, made);
    return made;
  };
}

/** Says that a folder is not the task's any more. */
const givenBackCode = "workspace.given-back";

function givenBack(folder: string): Fault {
  return new Fault(givenBackCode, `${folder} was given back just now.`, { retry: "later", hint: "Try it again." });
}

export function isGivenBack(error: unknown): boolean {
  return error instanceof Fault && error.code === givenBackCode;
}

type Check = () => Promise<void>;
type KindAt = (folder: string) => Promise<KindName>;
type TasksBranch = { readonly id: string; readonly branch: string } | undefined;

interface BranchGuard {
  tasksBranch(folder: string): Promise<TasksBranch>;
  renamed(before: TasksBranch, to: string): Promise<void>;
}

function guardControl(control: ControlRepository, project: Project, check: Check, kindAt: KindAt): ControlRepository {
  const checkFolder = async (folder: string) => {
    if ((await kindAt(folder)) === "worktree") await check();
  };
  return {
    ...control,
    async collect(order) {
      await checkFolder(order.folder);
      return control.collect(order);
    },
    async salvage(order) {
      await checkFolder(order.folder);
      return control.salvage(order);
    },
    async syncFrom(order) {
      if (order.from === project.path && kindNameOf(project) === "worktree") await check();
      return control.syncFrom(order);
    },
    async inTheWay(order) {
      await check();
      return control.inTheWay(order);
    },
    async restoreBranch(order) {
      await check();
      return control.restoreBranch(order);
    },
    async publish(order) {
      await check();
      return control.publish(order);
    },
  };
}

function guardKind(
  { kind, kindOf }: ProjectWorkspaces,
  check: Check,
  kindAt: KindAt,
  { tasksBranch, renamed }: BranchGuard,
): WorkspaceKind {
  const at = async (folder: string) => {
    const name = await kindAt(folder);
    if (name === "worktree") await check();
    return kindOf(name);
  };
  return {
    kind: kind.kind,
    prepare: async (order) => (await at(order.folder)).prepare(order),
    park: async (order) => (await at(order.folder)).park(order),
    inspect: async (folder) => (await at(folder)).inspect(folder),
    flawOf: async (folder) => (await kindOf(await kindAt(folder))).flawOf(folder),
    reconnect: async (folder, from) => (await kindOf(await kindAt(from ?? folder))).reconnect(folder, from),
    currentBranch: async (folder) => (await kindOf(await kindAt(folder))).currentBranch(folder),
    branchAt: async (folder, branch) => (await kindOf(await kindAt(folder))).branchAt(folder, branch),
    async renameBranch(folder, to) {
      const before = await tasksBranch(folder);
      await (await at(folder)).renameBranch(folder, to);
      await renamed(before, to);
    },
    forwardBranch: async (folder, commit) => (await at(folder)).forwardBranch(folder, commit),
    learnBranch: async (folder, branch, commit) => (await at(folder)).learnBranch(folder, branch, commit),
    switchBranch: async (folder, to) => (await at(folder)).switchBranch(folder, to),
    async commitAll(order) {
      await tasksBranch(order.folder);
      return (await at(order.folder)).commitAll(order);
    },
    diffUncommitted: async (folder, most) => (await at(folder)).diffUncommitted(folder, most),
    async deleteBranch(branch, commit) {
      await check();
      // It is the user's repository that has it, whatever workspaces are.
      return (await kindOf("worktree")).deleteBranch(branch, commit);
    },
    remove: async (folder, salvage) => (await at(folder)).remove(folder, salvage),
    copyFiles: async (order) => (await at(order.folder)).copyFiles(order),
    taskFileName: async (folder) => (await at(folder)).taskFileName(folder),
    placeTaskFile: async (folder, ...rest) => (await at(folder)).placeTaskFile(folder, ...rest),
    readTaskFile: async (folder, name) => (await at(folder)).readTaskFile(folder, name),
    isTaskFileTracked: async (folder, name) => (await at(folder)).isTaskFileTracked(folder, name),
    // Neither of these runs git.
    deleteTrash: (order) => kind.deleteTrash(order),
    diskUse: (folder, most) => kind.diskUse(folder, most),
    removeExclude: () => kind.removeExclude(),
  };
}
