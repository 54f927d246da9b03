import type { World } from "./world.ts";

/** What agents and people do with git in a workspace. Each gives the commit that it made; undefined where there was nothing to do. */

export function commitAll({ repositories, made, next }: World, path: string, what: string): string | undefined {
  const folder = repositories.folders.get(path);
  if (folder === undefined || !repositories.isDirty(folder)) return undefined;
  const id = repositories.commits.add([repositories.head(folder)], new Map(folder.files), `${what} ${next()}`);
  repositories.setHead(folder, id);
  made.commits.add(id);
  return id;
}

/** Also settles what conflicts. */
export function bringMainIn({ repositories, made, next }: World, path: string): string | undefined {
  const folder = repositories.folders.get(path);
  const main = repositories.branches.get("main");
  if (folder === undefined || main === undefined || repositories.isDirty(folder)) return undefined;
  const head = repositories.head(folder);
  const merged = repositories.commits.merge(head, main);
  if (merged.kind === "up-to-date") return undefined;
  const id = repositories.commits.add([head, main], merged.tree, `merge ${next()}`);
  repositories.setHead(folder, id);
  folder.files = new Map(merged.tree);
  made.commits.add(id);
  return id;
}
