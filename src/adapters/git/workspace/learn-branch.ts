import { branchRef, checkCommit } from "../check-names.ts";
import { findWorkingCopy } from "./find-working-copy.ts";
import type { Mechanics } from "./mechanics.ts";
import { readRef } from "./read-git-folder.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** A worktree sees the branches of the user's repository anyway. In a clone what an agent has moved itself stays. */
export async function learnBranch(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  branch: string,
  commit: string,
): Promise<void> {
  if (mechanics.kind === "worktree") return;
  const refs = [branchRef(branch), `refs/remotes/origin/${branch}`] as const;
  checkCommit(commit);
  const folder = await wholePath(path);
  await shop.turns.take(folder, async () => {
    const { folders, head } = await findWorkingCopy(shop, mechanics, folder);
    const [own, theirs] = await Promise.all(refs.map((ref) => readRef(folders.commonFolder, ref)));
    const { place, env } = await mechanics.refsOf(folder, folders, refs);
    const move = (ref: string) =>
      shop.git(place, ["update-ref", "--no-deref", "-m", "brought up to date", ref, commit], { env, writes: true });
    await move(refs[1]);
    if (own !== undefined && own === theirs && head.branch !== branch) await move(refs[0]);
  });
}
