import type { GithubState, ScriptedComment, ScriptedIssue, ScriptedPull, ScriptedReview } from "./state.ts";

/** A pull request as GitHub's lists have it. */
export function describePull(state: GithubState, pull: ScriptedPull) {
  return {
    number: pull.number,
    html_url: urlOf(state, pull.number),
    state: pull.state,
    title: pull.title,
    body: pull.body,
    draft: pull.draft,
    head: {
      ref: pull.head,
      sha: state.branches.get(pull.head) ?? `last-of-${pull.head}`,
      repo: { id: pull.isFromFork ? 2 : 1 },
    },
    base: { ref: pull.base, sha: state.branches.get(pull.base) ?? "", repo: { id: 1 } },
    merged_at: pull.mergeCommit === undefined ? null : timeOf(pull.number),
    // GitHub keeps a merge that it tried here, while the pull request is open.
    merge_commit_sha: pull.mergeCommit ?? "a-merge-that-was-tried",
  };
}

export function describeIssue(state: GithubState, issue: ScriptedIssue) {
  return {
    number: issue.number,
    html_url: urlOf(state, issue.number).replace("/pull/", "/issues/"),
    state: issue.state,
    title: issue.title,
    body: issue.body,
    labels: issue.labels.map((name) => ({ name })),
    assignee: null,
    created_at: timeOf(issue.number),
  };
}

export function describeReview(state: GithubState, review: ScriptedReview) {
  return {
    id: review.id,
    user: { login: review.author },
    author_association: review.association,
    state: review.state,
    commit_id: review.commit,
    body: review.body,
    html_url: `${urlOf(state, review.pull)}#review-${review.id}`,
    submitted_at: timeOf(review.id),
  };
}

export function describeComment(state: GithubState, comment: ScriptedComment) {
  const { author, association, pull, ...rest } = comment;
  return {
    ...rest,
    user: { login: author },
    author_association: association,
    html_url: `${urlOf(state, pull)}#comment-${comment.id}`,
    created_at: timeOf(comment.id),
  };
}

/** What has a larger number is younger. */
function timeOf(number: number): string {
  return new Date(Date.UTC(2026, 6, 1) + number * 1_000).toISOString().replace(".000", "");
}

function urlOf({ owner, name }: GithubState, number: number): string {
  return `https://github.com/${owner}/${name}/pull/${number}`;
}
