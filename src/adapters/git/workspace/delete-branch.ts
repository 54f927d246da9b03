import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { DeletedBranch } from "../../../ports/workspaces.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import { branchUse } from "./branch-use.ts";
import type { Mechanics } from "./mechanics.ts";
import { readHead, readRef, readSmall } from "./read-git-folder.ts";
import type { Workshop } from "./workshop.ts";
import { writeHead } from "./write-head.ts";

export async function deleteBranch(
  shop: Workshop,
  mechanics: Mechanics,
  branch: string,
  commit: string,
): Promise<DeletedBranch> {
  const ref = branchRef(branch);
  checkCommit(commit);
  if (mechanics.kind === "clone") return { kind: "gone" };
  const user = await shop.user();
  const at = await readRef(user.commonFolder, ref);
  if (at === undefined) return { kind: "gone" };
  if (at !== commit) throw moved(branch, at);
  await letGo(shop, mechanics, branch);
  const folder = await branchUse(user, branch, undefined);
  if (folder !== undefined) return { kind: "checked-out", folder };
  const place = { folder: user.folder, gitDir: user.commonFolder, configuration: "user" } as const;
  await shop.git(place, ["update-ref", "--no-deref", "-d", ref, commit], { writes: true });
  return { kind: "deleted" };
}

/**
 * A workspace that was given back still has the branch of its last task. Its files stay as they are. Of one whose folder was
 * deleted git's record goes to the trash, unless somebody has locked it: then it may be on a disk that comes back.
 */
async function letGo(shop: Workshop, mechanics: Mechanics, branch: string): Promise<void> {
  for (const record of await shop.records.all()) {
    await shop.turns.take(record.folder, async () => {
      const found = await mechanics.find(record.folder, record);
      const { folders } = found.kind === "foreign" ? { folders: undefined } : found;
      if (folders === undefined || (found.kind === "ours" && found.isLocked)) return;
      const head = await readHead(folders);
      if (head?.branch !== branch || head.commit === undefined) return;
      if (found.kind === "nothing") {
        if ((await readSmall(join(folders.gitFolder, "locked"))) !== undefined) return;
        return mechanics.forget(record.folder, record, shop.heap(record.folder, false));
      }
      await writeHead(folders.gitFolder, `${head.commit}\n`, [record.folder]);
    });
  }
}

function moved(branch: string, to: string): Fault {
  return new Fault("git.ref-moved", `The branch ${JSON.stringify(branch)} is at ${to} now, so it was not deleted.`, {
    retry: "later",
    hint: `Look what has come: git log -3 ${branch}`,
  });
}
