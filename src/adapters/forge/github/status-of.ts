import type { ForgeRepository, PullRequestStatus } from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { demandedApprovals } from "./demanded-approvals.ts";
import { getPull, mergeableIn } from "./get-pull.ts";
import { pathOf } from "./path-of.ts";
import { readChecks } from "./read-checks.ts";
import { readPullRequest } from "./read-pull-request.ts";
import { readReviews, weighReviews } from "./read-reviews.ts";

export async function statusOf(
  client: GithubClient,
  repository: ForgeRepository,
  number: number,
): Promise<PullRequestStatus> {
  return completeStatus(client, repository, await getPull(client, repository, number));
}

/** Adds what is to be asked about a pull request, one after the other: GitHub does not like many requests at once. */
export async function completeStatus(
  client: GithubClient,
  repository: ForgeRepository,
  pull: unknown,
): Promise<PullRequestStatus> {
  const pullRequest = readPullRequest(pull);
  const { number, headCommit, base } = pullRequest;
  const commit = (...rest: readonly string[]) => pathOf(repository, "commits", headCommit, ...rest);
  const reviews = readReviews(await client.getAll(pathOf(repository, "pulls", number, "reviews")), headCommit);
  const runs = await client.getAll(commit("check-runs"), { key: "check_runs" });
  const statuses = await client.getAll(commit("status"), { key: "statuses" });
  return {
    pullRequest,
    review: weighReviews(reviews, await demandedApprovals(client, repository, base)),
    reviews,
    mergeable: mergeableIn(pull),
    checks: readChecks(runs, statuses),
  };
}
