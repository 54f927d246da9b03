import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { isObjectId } from "../../check-names.ts";
import { type Head, readSmall } from "../read-git-folder.ts";

const mostRefs = 20_000;

/**
 * Every commit that a clone has a ref for, found by reading: git would obey its configuration. Undefined where there are
 * too many, or where they cannot be read.
 */
export async function allTips(gitFolder: string, head: Head | undefined): Promise<readonly string[] | undefined> {
  const tips = new Set(head?.commit === undefined ? [] : [head.commit]);
  const packed = (await readSmall(join(gitFolder, "packed-refs"), 16 * 1024 * 1024)) ?? "";
  for (const line of packed.split("\n")) add(tips, line.split(" ")[0]);
  const isWhole = await addLoose(tips, join(gitFolder, "refs"));
  return isWhole && tips.size <= mostRefs ? [...tips] : undefined;
}

async function addLoose(tips: Set<string>, folder: string): Promise<boolean> {
  const entries = await opendir(folder).catch(() => undefined);
  // Without refs git finds no repository there, so nobody has committed since they went.
  if (entries === undefined) return true;
  for await (const entry of entries) {
    if (tips.size > mostRefs) return false;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!(await addLoose(tips, path))) return false;
    } else add(tips, (await readSmall(path))?.trim());
  }
  return true;
}

function add(tips: Set<string>, id: string | undefined): void {
  if (id !== undefined && isObjectId(id)) tips.add(id);
}
