import type { ForgeRepository, PullRequest } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { pathOf } from "./path-of.ts";
import { isFromHere, readPullRequest } from "./read-pull-request.ts";

/** The pull requests of a branch, the newest first. */
export async function findPullRequests(
  client: GithubClient,
  repository: ForgeRepository,
  head: string,
  state: "open" | "all",
): Promise<readonly PullRequest[]> {
  const query = `state=${state}&head=${encodeURIComponent(`${repository.owner}:${head}`)}&sort=created&direction=desc`;
  const listed = await client.getAll(`${pathOf(repository, "pulls")}?${query}`);
  // A head that GitHub cannot make sense of is passed over, and all pull requests are listed.
  return listed
    .filter(isFromHere)
    .map(readPullRequest)
    .filter((each) => each.head === head);
}
