import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import { createMemo } from "../../../keyed.ts";
import type { Person } from "../../../ports/git.ts";
import type { WorkspaceKind } from "../../../ports/workspaces.ts";
import type { RunGit } from "../runner.ts";
import { deleteBranch, forwardBranch, renameBranch, switchBranch } from "./branches.ts";
import { hasPath, listChanges, readOurs, withIndexAt } from "./changes.ts";
import { cloneMechanics } from "./clone.ts";
import { commitAll, diffUncommitted } from "./commit-all.ts";
import { copyFiles } from "./copy-files.ts";
import { branchAt, currentBranch, deletePipesIn, findWorkingCopy, flawOf, inspect, reconnect } from "./inspect.ts";
import { type Mechanics, notThere } from "./mechanics.ts";
import { mendHead } from "./mend-head.ts";
import { learnBranch, park, prepare, remove } from "./prepare.ts";
import {
  checkTaskFileName,
  documentFileName,
  mainTaskFile,
  ofRepository,
  otherTaskFile,
  readTaskFile,
  writeDocument,
  writeTaskFile,
} from "./task-file.ts";
import { deleteTrash, diskUse } from "./trash.ts";
import { createUserSettings } from "./user-settings.ts";
import { createWorkshop, type Workshop, type WorkspaceOptions, wholePath } from "./workshop.ts";
import { worktreeMechanics } from "./worktree.ts";

/** Workspaces that are linked worktrees of the user's repository. */
export function createWorktrees(options: WorkspaceOptions): WorkspaceKind {
  const shop = createWorkshop(options);
  return withFaults(createKind(shop, worktreeMechanics(shop)));
}

/** Workspaces that are clones. */
export function createClones(options: WorkspaceOptions): WorkspaceKind {
  const shop = createWorkshop(options);
  return withFaults(createKind(shop, cloneMechanics(shop)));
}

function createKind(shop: Workshop, mechanics: Mechanics): WorkspaceKind {
  const { trash } = shop.options;
  const sizes = new Map<string, number>();
  const contained = createMemo<boolean>();
  const isTracked = async (folder: string, name: string, which: "now" | "at first") => {
    const { folders, record, head } = await findWorkingCopy(shop, mechanics, folder);
    const commit = (which === "at first" ? record?.commit : undefined) ?? head.commit;
    if (commit === undefined) return false;
    const { place, env, ownObjects } = await mechanics.filesOf(await wholePath(folder), folders);
    return contained.get(`${commit} ${name}`, async () => {
      const isOwn = record?.phase === "ready" && record.commit === commit;
      const whole = await wholePath(folder);
      const index = isOwn ? shop.records.indexOf(whole) : shop.records.madeFor(whole, commit);
      const content = await readOurs(index, commit.length);
      if (content !== undefined) return hasPath(content, name);
      const args = ["ls-tree", "-z", "--full-tree", commit, "--", name];
      return (await shop.git(place, args, { env: { ...env, ...ownObjects } })).stdout.length > 0;
    });
  };
  return {
    kind: mechanics.kind,
    prepare: (order) => prepare(shop, mechanics, order),
    park: (order) => park(shop, mechanics, order),
    inspect: (folder) => inspect(shop, mechanics, folder),
    flawOf: (folder) => flawOf(shop, mechanics, folder),
    mendHead: (order) => mendHead(shop, mechanics, order),
    reconnect: (folder, from) => reconnect(shop, mechanics, folder, from),
    currentBranch: (folder) => currentBranch(shop, mechanics, folder),
    branchAt: (folder, branch) => branchAt(shop, mechanics, folder, branch),
    renameBranch: (folder, to) => renameBranch(shop, mechanics, folder, to),
    forwardBranch: (folder, commit) => forwardBranch(shop, mechanics, folder, commit),
    learnBranch: (folder, branch, commit) => learnBranch(shop, mechanics, folder, branch, commit),
    switchBranch: (folder, to) => switchBranch(shop, mechanics, folder, to),
    commitAll: (order) => commitAll(shop, mechanics, order),
    diffUncommitted: (folder, most, only) => diffUncommitted(shop, mechanics, folder, most, only),
    async uncommittedPaths(path, keep) {
      const { folder, folders, record, head } = await findWorkingCopy(shop, mechanics, path);
      const { commit } = head;
      if (commit === undefined) throw notThere(folder);
      const files = await mechanics.filesOf(folder, folders);
      const changes = await withIndexAt(shop, files, { folder, record, commit }, (index) =>
        listChanges(shop, files, index, true),
      );
      const kept = new Set(keep);
      return [...changes.changed, ...changes.others]
        .map((name) => name.toString("utf8"))
        .filter((name) => !isTaskFile(name) && !name.split("/").some((part) => kept.has(part)));
    },
    deleteBranch: (branch, commit) => deleteBranch(shop, mechanics, branch, commit),
    remove: (folder, salvage) => remove(shop, mechanics, folder, salvage),
    deletePipes: (folder) => deletePipesIn(shop, mechanics, folder),
    deleteTrash: (order) => shop.inTurn(`trash ${trash}`, () => deleteTrash(trash, sizes, order)),
    async copyFiles(order) {
      const { folder, folders, record, head } = await findWorkingCopy(shop, mechanics, order.folder);
      const commit = record?.commit ?? head.commit;
      if (commit === undefined) throw notThere(folder);
      const files = await mechanics.filesOf(folder, folders);
      return withIndexAt(shop, files, { folder, record, commit }, (index) =>
        copyFiles(shop, files, { ...order, folder, index }),
      );
    },
    // The name depends on the first commit only: a later commit must not change the file that the agent has to write.
    taskFileName: async (folder) =>
      (await isTracked(folder, mainTaskFile, "at first")) ? otherTaskFile : mainTaskFile,
    async placeTaskFile(path, name, text, before) {
      checkTaskFileName(name);
      const { folder, folders } = await findWorkingCopy(shop, mechanics, path);
      if (await isTracked(folder, name, "at first")) throw ofRepository(folder, name);
      await mechanics.hideTaskFiles(folders);
      return writeTaskFile(folder, name, text, before);
    },
    async placeDocument(path, name, text) {
      const { folder, folders } = await findWorkingCopy(shop, mechanics, path);
      const file = documentFileName(name);
      if (await isTracked(folder, file, "at first")) throw ofRepository(folder, file);
      await mechanics.hideTaskFiles(folders);
      return writeDocument(folder, file, text);
    },
    readTaskFile: async (folder, name) => readTaskFile(await wholePath(folder), checkTaskFileName(name)),
    isTaskFileTracked: (folder, name) => isTracked(folder, checkTaskFileName(name), "now"),
    removeExclude: () => mechanics.showTaskFiles(),
    diskUse: async (folder, most) => diskUse(await wholePath(folder), most),
  };
}

/** A folder of task files is listed as one name. */
function isTaskFile(name: string): boolean {
  return (
    name === ".signalbox/" ||
    /^(?:\.signalbox\/.*|TASK)\.md(?:\..*\.draft)?$/.test(name) ||
    name === ".signalbox/documents/"
  );
}

interface KindsOptions {
  readonly run: RunGit;
  /** The daemon's environment, in which git finds the user's ignore file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folders of all projects' workspaces, and of their trash. */
  readonly places: { readonly workspaces: string; readonly trash: string };
  identityOf(repository: string): Promise<Person>;
}

/** Opens the workspaces of a project, of either kind. */
export function createKinds({ run, env, places, identityOf }: KindsOptions) {
  return (
    { name, path: repository }: { readonly name: string; readonly path: string },
    { folder: control }: { readonly folder: string },
    kind: WorkspaceKind["kind"],
  ): WorkspaceKind => {
    const trash = join(places.trash, name);
    // A project's name cannot contain a plus.
    const state = join(places.workspaces, kind === "clone" ? `.${name}+clones` : `.${name}`);
    const options = { run, repository, control, state, trash };
    if (kind === "worktree") return createWorktrees(options);
    return createClones({ ...options, settings: createUserSettings({ run, env, identityOf }, repository) });
  };
}

type Method = (...args: never[]) => Promise<unknown>;

/** Turns system errors of all methods into Faults. */
function withFaults<T extends object>(kind: T): T {
  const guarded = Object.entries(kind).map(([name, value]) => [
    name,
    typeof value === "function" ? guard(value) : value,
  ]);
  return Object.fromEntries(guarded);
}

function guard(method: Method): Method {
  return async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      throw toFault(error);
    }
  };
}

/** Errors that may be temporary. */
const passing = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EAGAIN", "EBUSY", "ENOMEM", "ETIMEDOUT", "EIO"];

function toFault(error: unknown): unknown {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof Fault || code === undefined || syscall === undefined) return error;
  return new Fault("workspace.unwritable", `${path ?? "A file"} cannot be used: ${syscall} failed with ${code}.`, {
    retry: passing.includes(code) ? "later" : "never",
    hint: "Check the permissions of the folder, and the free space.",
    cause: error,
  });
}
