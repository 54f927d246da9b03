import { Fault } from "../../../fault.ts";
import type { Salvage } from "../../../ports/control-repository.ts";
import { dirty, foreign, unsaved } from "./faults.ts";
import { isDirty, lookAt } from "./look-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { readHead, readRef } from "./read-git-folder.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** First the folder, then what git knows of it: killed in between, the rest is done the next time. */
export async function remove(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  salvage: Salvage | undefined,
): Promise<void> {
  const folder = await wholePath(path);
  await shop.turns.take(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (found.kind === "foreign") throw foreign(folder, found.reason);
    if (found.kind === "ours" && found.isLocked) throw locked(folder);
    const { folders } = found;
    const head = folders && (await readHead(folders));
    if (salvage !== undefined) await checkSalvage(shop, salvage);
    const isHalfMade = record === undefined ? found.kind === "ours" && found.isHalfMade : record.phase === "making";
    const commit = head?.commit ?? record?.commit;
    if (found.kind === "ours" && salvage?.saved === undefined && !isHalfMade && commit !== undefined) {
      const isTrusted = found.flaw === undefined;
      const look = await lookAt(shop, mechanics, { folder, folders, isTrusted, record, commit });
      // Salvaging has seen what git does not know; whatever it passed over is in the trash for long enough.
      const others = salvage === undefined ? look.others : [];
      if (isDirty({ ...look, others, operation: undefined })) throw dirty(folder, look);
    }
    if (!(await mechanics.isSaved({ folders, head, commit: undefined }))) throw unsaved(folder);
    const heap = shop.heap(folder, (salvage?.refused.length ?? 0) > 0);
    await heap.take(folder, "workspace");
    await mechanics.forget(folder, record, heap);
    await shop.records.forget(folder);
  });
}

async function checkSalvage({ options }: Workshop, { saved }: Salvage): Promise<void> {
  if (saved === undefined || (await readRef(options.control, saved.ref)) === saved.commit) return;
  throw new Fault("workspace.unsaved", `${saved.ref} is not at ${saved.commit} any more, so nothing was removed.`, {
    hint: "Salvage the workspace again.",
  });
}

function locked(folder: string): Fault {
  return new Fault("workspace.locked", `Somebody has locked the worktree ${folder}.`, {
    hint: `Unlock it: git worktree unlock "${folder}"`,
  });
}
