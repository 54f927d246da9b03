import type { WorkspaceKind } from "../../../ports/workspaces.ts";
import { remembering } from "../remember.ts";
import { cloneMechanics } from "./clone/clone-mechanics.ts";
import { commitAll } from "./commit-all.ts";
import { copyFiles } from "./copy-files.ts";
import { deleteBranch } from "./delete-branch.ts";
import { diffUncommitted } from "./diff-uncommitted.ts";
import { diskUse } from "./disk-use.ts";
import { notThere } from "./faults.ts";
import { findWorkingCopy } from "./find-working-copy.ts";
import { forwardBranch } from "./forward-branch.ts";
import { branchAt, currentBranch, flawOf, inspect } from "./inspect.ts";
import { learnBranch } from "./learn-branch.ts";
import { readOurs, withIndexAt } from "./list-changes.ts";
import type { Mechanics } from "./mechanics.ts";
import { park, prepare } from "./prepare.ts";
import { hasPath } from "./read-index.ts";
import { reconnect } from "./reconnect.ts";
import { remove } from "./remove.ts";
import { renameBranch } from "./rename-branch.ts";
import { switchBranch } from "./switch-branch.ts";
import {
  checkTaskFileName,
  mainTaskFile,
  ofRepository,
  otherTaskFile,
  readTaskFile,
  writeTaskFile,
} from "./task-file.ts";
import { deleteTrash } from "./trash/delete-trash.ts";
import { withFaults } from "./with-faults.ts";
import { createWorkshop, type Workshop, type WorkspaceOptions, wholePath } from "./workshop.ts";
import { worktreeMechanics } from "./worktree/worktree-mechanics.ts";

/** Workspaces that are linked worktrees of the user's repository. */
export function createWorktrees(options: WorkspaceOptions): WorkspaceKind {
  const shop = createWorkshop(options);
  return withFaults(createKind(shop, worktreeMechanics(shop)));
}

/** Workspaces that are repositories of their own. */
export function createClones(options: WorkspaceOptions): WorkspaceKind {
  const shop = createWorkshop(options);
  return withFaults(createKind(shop, cloneMechanics(shop)));
}

function createKind(shop: Workshop, mechanics: Mechanics): WorkspaceKind {
  const { trash } = shop.options;
  const sizes = new Map<string, number>();
  const contained = remembering<boolean>();
  const isTracked = async (folder: string, name: string, which: "now" | "at first") => {
    const { folders, record, head } = await findWorkingCopy(shop, mechanics, folder);
    const commit = (which === "at first" ? record?.commit : undefined) ?? head.commit;
    if (commit === undefined) return false;
    const { place, env, ownObjects } = await mechanics.filesOf(await wholePath(folder), folders);
    return contained(`${commit} ${name}`, async () => {
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
    reconnect: (folder, from) => reconnect(shop, mechanics, folder, from),
    currentBranch: (folder) => currentBranch(shop, mechanics, folder),
    branchAt: (folder, branch) => branchAt(shop, mechanics, folder, branch),
    renameBranch: (folder, to) => renameBranch(shop, mechanics, folder, to),
    forwardBranch: (folder, commit) => forwardBranch(shop, mechanics, folder, commit),
    learnBranch: (folder, branch, commit) => learnBranch(shop, mechanics, folder, branch, commit),
    switchBranch: (folder, to) => switchBranch(shop, mechanics, folder, to),
    commitAll: (order) => commitAll(shop, mechanics, order),
    diffUncommitted: (folder, most) => diffUncommitted(shop, mechanics, folder, most),
    deleteBranch: (branch, commit) => deleteBranch(shop, mechanics, branch, commit),
    remove: (folder, salvage) => remove(shop, mechanics, folder, salvage),
    deleteTrash: (order) => shop.turns.take(`trash ${trash}`, () => deleteTrash(trash, sizes, order)),
    async copyFiles(order) {
      const { folder, folders, record, head } = await findWorkingCopy(shop, mechanics, order.folder);
      const commit = record?.commit ?? head.commit;
      if (commit === undefined) throw notThere(folder);
      const files = await mechanics.filesOf(folder, folders);
      return withIndexAt(shop, files, { folder, record, commit }, (index) =>
        copyFiles(shop, files, { ...order, folder, index }),
      );
    },
    // What an agent commits later must not move the file that it is told to write.
    taskFileName: async (folder) =>
      (await isTracked(folder, mainTaskFile, "at first")) ? otherTaskFile : mainTaskFile,
    async placeTaskFile(path, name, text, before) {
      checkTaskFileName(name);
      const { folder, folders } = await findWorkingCopy(shop, mechanics, path);
      if (await isTracked(folder, name, "at first")) throw ofRepository(folder, name);
      await mechanics.hideTaskFiles(folders);
      return writeTaskFile(folder, name, text, before);
    },
    readTaskFile: async (folder, name) => readTaskFile(await wholePath(folder), checkTaskFileName(name)),
    isTaskFileTracked: (folder, name) => isTracked(folder, checkTaskFileName(name), "now"),
    removeExclude: () => mechanics.showTaskFiles(),
    diskUse: async (folder, most) => diskUse(await wholePath(folder), most),
  };
}
