import { Fault } from "../../fault.ts";
import { jsonAt, numberAt, textAt } from "../../json.ts";
import type {
  BranchDeletion,
  ForgeRepository,
  MergeOptions,
  MergeResult,
  PullRequest,
  PullRequestStatus,
  WantedPullRequest,
} from "../../ports/forge.ts";
import { cutText, oneLine } from "../../text.ts";
import { type GithubClient, pathOf } from "./client.ts";
import { requiredNumber, requiredText } from "./required.ts";
import { maxText, readChecks, readReviews, weighReviews } from "./reviews.ts";

/**
 * Deletes a branch on GitHub if it is at the expected commit. GitHub has no atomic compare-and-delete, so a push between
 * the check and the deletion goes unnoticed.
 */
export async function deleteBranch(
  client: GithubClient,
  repository: ForgeRepository,
  name: string,
  expectedCommit: string,
): Promise<BranchDeletion> {
  const ref = ["heads", ...name.split("/")];
  const found = await client.get(pathOf(repository, "git", "ref", ...ref), { absent: [404] });
  if (found === undefined) {
    // A hidden repository also answers 404, so check that the repository is visible.
    await client.get(pathOf(repository));
    return { kind: "gone" };
  }
  const commit = requiredText(found, "object", "sha");
  if (commit !== expectedCommit)
    return { kind: "moved", reason: `The branch "${name}" is at ${commit} now, not at ${expectedCommit}.` };
  const { status, said } = await client.send("DELETE", pathOf(repository, "git", "refs", ...ref), undefined, [422]);
  if (status !== 422) return { kind: "deleted" };
  if (/does not exist/i.test(said)) return { kind: "gone" };
  throw new Fault("forge.forbidden", `GitHub refused to delete the branch "${name}": ${said}`, {
    hint: "Check that it is neither protected nor the default branch.",
  });
}

/**
 * How many approvals a branch requires, as far as the account can see. GitHub has two kinds of rules: every user may
 * read rule sets, but only administrators branch protection. GitHub reports hidden rules when it refuses a merge.
 */
async function demandedApprovals(client: GithubClient, repository: ForgeRepository, branch: string): Promise<number> {
  const hidden = { absent: [403, 404] };
  const rules = await client.getAll(pathOf(repository, "rules", "branches", branch), hidden);
  const protection = await client.get(
    pathOf(repository, "branches", branch, "protection", "required_pull_request_reviews"),
    hidden,
  );
  const counts = rules
    .filter((rule) => jsonAt(rule, "type") === "pull_request")
    .map((rule) => numberAt(rule, "parameters", "required_approving_review_count"));
  return Math.max(0, ...[...counts, numberAt(protection, "required_approving_review_count")].map((n) => n ?? 0));
}

/** The pull requests of a branch, the newest first. */
export async function findPullRequests(
  client: GithubClient,
  repository: ForgeRepository,
  head: string,
  state: "open" | "all",
): Promise<readonly PullRequest[]> {
  const query = `state=${state}&head=${encodeURIComponent(`${repository.owner}:${head}`)}&sort=created&direction=desc`;
  const listed = await client.getAll(`${pathOf(repository, "pulls")}?${query}`);
  // GitHub ignores a head that it cannot parse, and lists all pull requests.
  return listed
    .filter(isFromHere)
    .map(readPullRequest)
    .filter((each) => each.head === head);
}

/** A pull request with everything that GitHub knows about it. */
export function getPull(client: GithubClient, repository: ForgeRepository, number: number): Promise<unknown> {
  // Not cached while GitHub still computes whether it can be merged.
  const keeps = (json: unknown) => mergeableIn(json) !== "unknown";
  return client.get(pathOf(repository, "pulls", number), { keeps });
}

/** GitHub computes this on request, and answers null until it is done. */
function mergeableIn(json: unknown): PullRequestStatus["mergeable"] {
  const found = jsonAt(json, "mergeable");
  return typeof found === "boolean" ? (found ? "yes" : "no") : "unknown";
}

/** Checks first, to give a precise reason; then GitHub decides. */
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
  return { kind: "merged", commit: requiredText(answer.json, "sha") };
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

/** Obstacles from reviews and checks. */
function obstacleAround(status: PullRequestStatus): MergeResult | undefined {
  const { pullRequest, review, reviews, mergeable, checks } = status;
  const { number, base, headCommit } = pullRequest;
  if (review === "changes-requested") {
    const who = reviews.filter(({ word }) => word === "changes-requested").map(({ author }) => author);
    return { kind: "unapproved", reason: `${who.join(" and ")} requested changes in pull request ${number}.` };
  }
  if (review === "required") return { kind: "unapproved", reason: unapproved(status) };
  // If GitHub has not computed this yet, it does so when it merges.
  if (mergeable === "no")
    return { kind: "unmergeable", reason: `Pull request ${number} has conflicts with "${base}".` };
  if (checks.state === "failing")
    return { kind: "checks-failing", reason: `Checks failed: ${checks.failed.map(({ name }) => name).join(", ")}.` };
  if (checks.state === "unfinished")
    return { kind: "checks-pending", reason: `The checks of ${headCommit} are still running.` };
  return undefined;
}

function unapproved({ pullRequest: { number, base }, reviews }: PullRequestStatus): string {
  const stale = reviews.filter(({ isStale }) => isStale).map(({ author }) => author);
  const why = stale.length === 0 ? "" : ` ${stale.join(" and ")} approved an older commit.`;
  return `Pull request ${number} needs more approvals before it can be merged into "${base}".${why}`;
}

/** GitHub gives its reasons only in words. */
function refusal(said: string, method: string): MergeResult {
  const reason = `GitHub refused to merge: ${said}`;
  if (/are not allowed on this repository/i.test(said))
    throw new Fault("forge.invalid", reason, { hint: `Choose another merge method than "${method}".` });
  if (/head branch was modified/i.test(said)) return { kind: "moved", reason };
  if (/approv|code owner|changes? (were )?requested/i.test(said)) return { kind: "unapproved", reason };
  if (/status checks?\b/i.test(said))
    return { kind: /fail|error|cancel/i.test(said) ? "checks-failing" : "checks-pending", reason };
  return { kind: "unmergeable", reason };
}

// GitHub's limit.
const maxTitle = 256;

export async function openPullRequest(
  client: GithubClient,
  repository: ForgeRepository,
  wanted: WantedPullRequest,
): Promise<PullRequest> {
  const { head, base, title, body, draft } = wanted;
  const findOpen = async () => {
    const open = await findPullRequests(client, repository, head, "open");
    return open.find((each) => each.base === base) ?? open[0];
  };
  const before = await findOpen();
  if (before !== undefined) return before;
  const asked = {
    ...{ head, base, draft },
    title: oneLine(title, maxTitle),
    body: cutText(body, maxText),
  };
  const { status, json, said } = await client.send("POST", pathOf(repository, "pulls"), asked, [422]);
  if (status !== 422) return readPullRequest(json);
  if (!/already exists/i.test(said)) throw refused(wanted, said);
  // It was opened in the meantime.
  return (await findOpen()) ?? hiddenStill(head);
}

function refused({ head, base, draft }: WantedPullRequest, said: string): Fault {
  return new Fault("forge.invalid", `GitHub refused to open a pull request from "${head}" to "${base}": ${said}`, {
    hint: hintFor(said, draft) ?? `Check that "${base}" is on GitHub and that "${head}" is pushed.`,
  });
}

function hintFor(said: string, draft: boolean): string | undefined {
  if (/no commits between/i.test(said)) return "There is nothing to merge. Commit something first.";
  return draft && /draft/i.test(said) ? "This repository does not support drafts. Open it without draft." : undefined;
}

function hiddenStill(head: string): never {
  throw new Fault("forge.unreachable", `GitHub has a pull request for "${head}", but does not list it yet.`, {
    retry: "later",
    hint: "Signalbox retries.",
  });
}

/** Translates GitHub's description of a pull request. */
export function readPullRequest(json: unknown): PullRequest {
  const isMerged = jsonAt(json, "merged_at") !== undefined;
  const closedOrOpen = requiredText(json, "state") === "open" ? "open" : "closed";
  return {
    number: requiredNumber(json, "number"),
    url: requiredText(json, "html_url"),
    state: isMerged ? "merged" : closedOrOpen,
    head: requiredText(json, "head", "ref"),
    headCommit: requiredText(json, "head", "sha"),
    base: requiredText(json, "base", "ref"),
    title: textAt(json, "title"),
    isDraft: jsonAt(json, "draft") === true,
    // For an open pull request this is only a test merge.
    mergedCommit: isMerged ? textAt(json, "merge_commit_sha") : undefined,
  };
}

/** Whether its head is a branch of the same repository, and not a branch of a fork with the same name. */
function isFromHere(json: unknown): boolean {
  const here = jsonAt(json, "base", "repo", "id");
  return here !== undefined && jsonAt(json, "head", "repo", "id") === here;
}

export async function statusOf(
  client: GithubClient,
  repository: ForgeRepository,
  number: number,
): Promise<PullRequestStatus> {
  return completeStatus(client, repository, await getPull(client, repository, number));
}

/** Requests the rest of a pull request's status, one after the other: GitHub discourages concurrent requests. */
async function completeStatus(
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
