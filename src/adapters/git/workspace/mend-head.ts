import { join } from "node:path";
import type { MendedHead, MendOrder } from "../../../ports/workspaces.ts";
import { entryAt } from "../file-entries.ts";
import { lookForRef, readHead, readSmall } from "../git-folder.ts";
import { branchRef, checkCommit, isObjectId } from "../names.ts";
import { onBranch, writeHead } from "./git-files.ts";
import { operationIn } from "./inspect.ts";
import type { Mechanics } from "./mechanics.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/**
 * Mends a HEAD that is empty, garbled or missing, or that names a branch which does not exist. The index and the files
 * stay as they are. A branch that exists stays where it is.
 */
export async function mendHead(
  shop: Workshop,
  mechanics: Mechanics,
  { folder: path, branch, commit }: MendOrder,
): Promise<MendedHead | undefined> {
  const ref = branchRef(branch);
  const folder = await wholePath(path);
  return shop.inTurn(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (found.kind !== "ours" || found.flaw !== undefined || record?.phase !== "ready") return undefined;
    const { folders } = found;
    if (folders === undefined || entryAt(join(folders.commonFolder, "reftable")) !== undefined) return undefined;
    const head = await readHead(folders);
    if (head?.commit !== undefined || (await operationIn(folders.gitFolder)) !== undefined) return undefined;
    const file = join(folders.commonFolder, ref);
    const isGarbled = entryAt(file)?.isFile() === true && !isObjectId(((await readSmall(file)) ?? "").trim());
    // A garbled file hides an older value in the packed refs.
    const tip = isGarbled ? ({ kind: "unknown" } as const) : await lookForRef(folders.commonFolder, ref);
    // A task whose own branch is gone is restored by a person's order: then the branch may have been deleted on purpose.
    if (tip.kind === "absent" && head?.branch === branch) return undefined;
    const at = tip.kind === "there" ? tip.id : commit;
    if (at === undefined) return undefined;
    // First of all: without a valid HEAD git takes the folder for no repository.
    await writeHead(folders.gitFolder, onBranch(branch), [folder]);
    if (tip.kind !== "there") {
      const { place, env } = await mechanics.refsOf(folder, folders, [ref]);
      if (isGarbled) await shop.heap(folder).takeFrom(file, ".git-broken-branch");
      await shop.git(place, ["update-ref", "--no-deref", "-m", "mended", ref, checkCommit(at)], { env, writes: true });
    }
    return { branch, commit: at };
  });
}
