import type { Person } from "../../ports/git-names.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { Ready } from "./entry.ts";
import type { Tips } from "./find-tips.ts";

/**
 * A branch that has gone apart from the remote's is the user's to bring together, unless what the remote has is what we
 * pushed there ourselves just before the user's branch moved. Then this is the commit that has both.
 */
export async function bringTogether(
  own: ProjectWorkspaces,
  target: string,
  { user, remote }: Tips,
  entries: readonly Ready[],
  author: Person,
): Promise<string | undefined> {
  const at = remote?.at ?? user;
  const base = await own.control.mergeBase(user, at);
  const [first] = entries;
  const isOurs = base !== undefined && first !== undefined && (await onlyOurs(own, base, at, entries));
  if (!isOurs) return undefined;
  const message = `Merge ${target} of the remote`;
  const order = { onto: user, branch: at, strategy: "merge", message, author, date: first.at } as const;
  const result = await own.control.merge(order);
  return result.kind === "merged" ? result.commit : undefined;
}

/** Whether the remote has nothing new but the work of these entries. */
async function onlyOurs(
  { control }: ProjectWorkspaces,
  base: string,
  at: string,
  entries: readonly Ready[],
): Promise<boolean> {
  const known = await Promise.all(entries.map(({ commit }) => control.isAncestor(commit, at)));
  if (!known.some((is) => is)) return false;
  let merges = 0;
  for (const { commit } of entries.filter((_, index) => known[index]))
    merges += (await control.countCommits(base, commit)) + 1;
  return (await control.countCommits(base, at)) <= merges;
}
