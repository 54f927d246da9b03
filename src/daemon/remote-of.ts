import { resolve } from "node:path";
import type { Git } from "../ports/git.ts";
import type { Project } from "../ports/store.ts";

/** The remote that counts, by its name. */
export const remoteName = "origin";

/** The address of a project's remote; undefined where it has none. */
export async function remoteOf(
  git: Pick<Git, "remoteUrl">,
  { path }: Project,
  way: "push" | "fetch" = "push",
): Promise<string | undefined> {
  const address = await git.remoteUrl(path, remoteName, way);
  // A path that does not begin at the root begins at the repository's folder. Before the colon of any other is a host.
  return address === undefined || /^(\/|[^/]*:)/.test(address) ? address : resolve(path, address);
}
