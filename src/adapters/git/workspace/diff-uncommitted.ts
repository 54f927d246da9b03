import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Uncommitted } from "../../../ports/workspaces.ts";
import { createControlGit } from "../control/control-git.ts";
import { draftsFolder } from "../control/open-control.ts";
import { counted, patch, readCounted } from "../control/read-files.ts";
import { takeFiles } from "../salvage/take-files.ts";
import { draftOf, leaveOut, writingTo } from "./commit-all.ts";
import { notThere } from "./faults.ts";
import { findWorkingCopy } from "./find-working-copy.ts";
import type { Mechanics } from "./mechanics.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** As everything would be committed, but in a draft with objects of its own, which is thrown away. */
export async function diffUncommitted(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  most: number,
): Promise<Uncommitted> {
  const folder = await wholePath(path);
  const { head, folders } = await findWorkingCopy(shop, mechanics, folder);
  const commit = head.commit;
  if (commit === undefined) throw notThere(folder);
  const drafts = join(shop.options.control, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const gitDir = await mkdtemp(join(drafts, "diff-"));
  try {
    const objects = join(gitDir, "objects");
    await mkdir(objects);
    const plain = createControlGit(shop.git, shop.options.control, shop.options.ignoreFile);
    const control = writingTo(plain, objects, join(folders.commonFolder, "objects"));
    const { draft, settings, entries } = await draftOf(control, { folder, folders, gitDir, head: commit });
    await takeFiles(control, draft, settings, entries, undefined);
    await leaveOut(control, draft, settings, commit);
    const compare = ["diff-index", "--cached"];
    const { stdout } = await control.run(draft, [...compare, ...counted, commit], { settings, isLong: true });
    const text = await control.run(draft, [...compare, ...patch, commit], { settings, most, cuts: true, isLong: true });
    return { bytes: text.stdout, isCut: text.isCut, lines: readCounted(stdout) };
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}
