import { branchRef } from "../../check-names.ts";
import { branchUse } from "../branch-use.ts";
import { installIndex } from "../check-out.ts";
import { addExclude, removeExclude } from "../exclude-block.ts";
import type { Mechanics } from "../mechanics.ts";
import { readRef } from "../read-git-folder.ts";
import type { Workshop } from "../workshop.ts";
import { headText, writeHead } from "../write-head.ts";
import { findEntry } from "./find-entry.ts";
import { findWorktree } from "./find-worktree.ts";
import { makeBranch } from "./make-branch.ts";
import { reconnectWorktree } from "./reconnect-worktree.ts";
import { settleWorktree } from "./settle-worktree.ts";
import { worktreeFiles } from "./worktree-files.ts";

/** A workspace that is a linked worktree of the user's repository: same refs, same configuration, files of its own. */
export function worktreeMechanics(shop: Workshop): Mechanics {
  const { git, options } = shop;
  const hide = () => shop.turns.take("exclude", async () => addExclude((await shop.user()).commonFolder));
  return {
    kind: "worktree",
    find: async (folder, record) => findWorktree(await shop.user(), folder, record),
    async filesOf(folder, folders) {
      const { commonFolder } = await shop.user();
      return worktreeFiles(folder, folders?.gitFolder ?? commonFolder, commonFolder);
    },
    useOf: async (branch, _, folders) => branchUse(await shop.user(), branch, folders?.gitFolder),
    tipOf: async (branch) => readRef((await shop.user()).commonFolder, branchRef(branch)),
    async isSaved({ head }) {
      // A branch of the user's repository stays.
      if (head?.commit === undefined || head.branch !== undefined) return true;
      const { commonFolder } = await shop.user();
      for (const gitDir of [commonFolder, options.control]) {
        const { stdout } = await git(
          { folder: gitDir, gitDir, configuration: gitDir === commonFolder ? "user" : "ours" },
          ["for-each-ref", "--count=1", `--contains=${head.commit}`],
          // What does not know the commit has no ref for it.
          { accepts: [0, 128, 129] },
        );
        if (stdout.length > 0) return true;
      }
      return false;
    },
    begin: (order) => makeBranch(shop, order.branch, order.commit),
    settle: (order) => settleWorktree(shop, order),
    async seat(seating) {
      const { folder, folders, index } = seating;
      if (folders === undefined) return;
      await writeHead(folders.gitFolder, headText(seating), [folder]);
      await installIndex(index, folders.gitFolder, [folder]);
      await hide();
    },
    refsOf: async (folder, { gitFolder, commonFolder }) => worktreeFiles(folder, gitFolder, commonFolder),
    reconnect: async (folder, record) => reconnectWorktree(await shop.user(), folder, record),
    async forget(folder, record, heap) {
      const entry = await findEntry((await shop.user()).commonFolder, folder, record?.entry);
      if (entry !== undefined) await heap.takeFrom(entry.path, `.git-of-worktree-${entry.name}`);
    },
    hideTaskFiles: hide,
    showTaskFiles: async () => shop.turns.take("exclude", async () => removeExclude((await shop.user()).commonFolder)),
  };
}
