import { Fault } from "../../../fault.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import { notThere } from "./faults.ts";
import { findWorkingCopy } from "./find-working-copy.ts";
import { currentBranch } from "./inspect.ts";
import type { Mechanics } from "./mechanics.ts";
import { readTree, seat, setOut, switchBranch } from "./switch-branch.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** The branch first, then its files: whoever finds it half-done takes the files to where the branch is. */
export async function forwardBranch(shop: Workshop, mechanics: Mechanics, path: string, commit: string): Promise<void> {
  checkCommit(commit);
  const folder = await wholePath(path);
  const branch = await currentBranch(shop, mechanics, folder);
  if (branch === undefined)
    throw new Fault("workspace.detached", `${folder} has no branch checked out, so there is none to move.`, {
      hint: "Check out the branch there.",
    });
  // One that was begun is ended first.
  await switchBranch(shop, mechanics, folder, branch);
  await shop.turns.take(folder, async () => {
    const copy = await findWorkingCopy(shop, mechanics, folder);
    const { folders, head, record } = copy;
    if (record?.phase !== "ready" || head.branch !== branch || head.commit === undefined) throw notThere(folder);
    if (head.commit === commit) return;
    const files = await mechanics.filesOf(folder, folders);
    const index = shop.records.indexOf(folder);
    const going = { ...copy, record, files, index, tip: commit, to: branch };
    const from = await setOut(shop, mechanics, going);
    const { place, env } = await mechanics.refsOf(folder, folders, [branchRef(branch)]);
    const moved = ["update-ref", "--no-deref", "-m", "brought up to date", branchRef(branch), commit, from];
    await shop.git(place, moved, { env, writes: true });
    await readTree(shop, going, from);
    await seat(shop, mechanics, copy, { to: branch, tip: commit, index });
    await shop.records.write({ ...record, branch, phase: "ready", commit });
  });
}
