import { dirname, join } from "node:path";
import { entryAt } from "../entry-at.ts";

export const leadsElsewhere = "Something in its .git leads to another place.";

/** What we or git write to while a task has the clone. */
const written = [
  "HEAD",
  "index",
  "packed-refs",
  "info/exclude",
  "objects/info",
  "objects/pack",
  "refs/heads",
  "logs/refs",
];

/**
 * Whether somebody has made a clone's repository write elsewhere: by links, or by saying that it shares what it has with
 * another one. Whoever works in the clone may be kept from that place; we are not.
 */
export async function leadsAway(gitFolder: string): Promise<boolean> {
  const shared = entryAt(join(gitFolder, "commondir"));
  const links = await Promise.all(written.map((path) => hasLink(gitFolder, path)));
  return links.includes(true) || (await shared) !== undefined;
}

/** Whether anything on the way to a path inside of a folder, or at its end, is a link. */
export async function hasLink(folder: string, path: string): Promise<boolean> {
  if (path === ".") return false;
  if ((await entryAt(join(folder, path)))?.isSymbolicLink()) return true;
  return hasLink(folder, dirname(path));
}
