import { Fault } from "../../../fault.ts";
import type {
  ForgeRepository,
  MergeOptions,
  MergeResult,
  PullRequest,
  PullRequestStatus,
} from "../../../ports/forge.ts";
import type { GithubClient } from "./client.ts";
import { getPull } from "./get-pull.ts";
import { textAt } from "./json-at.ts";
import { pathOf } from "./path-of.ts";
import { readPullRequest } from "./read-pull-request.ts";
import { completeStatus } from "./status-of.ts";

/** Looks first, so that the reason is ours to tell; then GitHub has the last word. */
export async function mergePullRequest(
  client: GithubClient,
  repository: ForgeRepository,
  number: number,
  { method, expectedHead }: MergeOptions,
): Promise<MergeResult> {
  const pull = await getPull(client, repository, number);
  const pullRequest = readPullRequest(pull);
  if (pullRequest.state === "merged") return { kind: "merged", commit: pullRequest.mergedCommit ?? "" };
  const obstacle =
    obstacleIn(pullRequest, expectedHead) ?? obstacleAround(await completeStatus(client, repository, pull));
  if (obstacle !== undefined) return obstacle;
  const asked = { sha: expectedHead, merge_method: method };
  const answer = await client.send("PUT", pathOf(repository, "pulls", number, "merge"), asked, [405, 409]);
  if (answer.status === 405 || answer.status === 409) return refusal(answer.said, method);
  return { kind: "merged", commit: textAt(answer.json, "sha") };
}

function obstacleIn(
  { number, state, headCommit, isDraft }: PullRequest,
  expectedHead: string,
): MergeResult | undefined {
  if (state === "closed") return { kind: "unmergeable", reason: `Pull request ${number} is closed.` };
  if (headCommit !== expectedHead)
    return { kind: "moved", reason: `Pull request ${number} is at ${headCommit} now, not at ${expectedHead}.` };
  return isDraft ? { kind: "unmergeable", reason: `Pull request ${number} is a draft.` } : undefined;
}

/** What people and machines have against it. */
function obstacleAround(status: PullRequestStatus): MergeResult | undefined {
  const { pullRequest, review, reviews, mergeable, checks } = status;
  const { number, base, headCommit } = pullRequest;
  if (review === "changes-requested") {
    const who = reviews.filter(({ word }) => word === "changes-requested").map(({ author }) => author);
    return { kind: "unapproved", reason: `${who.join(" and ")} asked for changes in pull request ${number}.` };
  }
  if (review === "required") return { kind: "unapproved", reason: unapproved(status) };
  // Where GitHub has not worked it out yet, it does so when it merges.
  if (mergeable === "no")
    return { kind: "unmergeable", reason: `Pull request ${number} has conflicts with "${base}".` };
  if (checks.state === "failing")
    return { kind: "checks-failing", reason: `Checks failed: ${checks.failed.map(({ name }) => name).join(", ")}.` };
  if (checks.state === "unfinished")
    return { kind: "checks-pending", reason: `The checks of ${headCommit} are not done.` };
  return undefined;
}

function unapproved({ pullRequest: { number, base }, reviews }: PullRequestStatus): string {
  const stale = reviews.filter(({ isStale }) => isStale).map(({ author }) => author);
  const why = stale.length === 0 ? "" : ` ${stale.join(" and ")} approved an older commit.`;
  return `Pull request ${number} needs more approvals before "${base}" takes it.${why}`;
}

/** GitHub gives its reasons in words alone. */
function refusal(said: string, method: string): MergeResult {
  const reason = `GitHub refused to merge: ${said}`;
  if (/are not allowed on this repository/i.test(said))
    throw new Fault("forge.invalid", reason, { hint: `Choose another way to merge than "${method}".` });
  if (/head branch was modified/i.test(said)) return { kind: "moved", reason };
  if (/approv|code owner|changes? (were )?requested/i.test(said)) return { kind: "unapproved", reason };
  if (/status checks?\b/i.test(said))
    return { kind: /fail|error|cancel/i.test(said) ? "checks-failing" : "checks-pending", reason };
  return { kind: "unmergeable", reason };
}
