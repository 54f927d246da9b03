import type { FailedCheck, ForgeComment, PullRequestStatus, Review } from "../../ports/forge.ts";

/** What was told before, so that nothing is told twice. */
export interface ToldFeedback {
  readonly reviews: string;
  readonly checks: string;
}

export interface Feedback {
  /** One text for each thing that is new. */
  readonly items: readonly string[];
  readonly told: ToldFeedback;
}

const longestText = 4_000;

/**
 * What people and machines say about a pull request that was not told yet. Of comments only those count that are written
 * by somebody who may write to the repository. All of it is quoted: it is data.
 */
export function renderFeedback(
  { pullRequest, reviews, checks }: PullRequestStatus,
  comments: readonly ForgeComment[],
  before: ToldFeedback,
): Feedback {
  const known = new Set(before.reviews.split("\n"));
  const fresh = reviews.filter((review) => !known.has(reviewKey(review)));
  // The same failure on another commit is news.
  const failed = checks.failed.map(({ name }) => `${pullRequest.headCommit} ${oneLine(name)}`);
  const old = new Set(before.checks.split("\n"));
  const broken = checks.failed.filter((_, index) => !old.has(failed[index] ?? ""));
  return {
    items: [
      ...fresh.map(writeReview),
      ...comments.filter(({ isInsider, isOurs, text }) => isInsider && !isOurs && text.trim() !== "").map(writeComment),
      ...broken.map(writeCheck),
    ],
    told: { reviews: reviews.map(reviewKey).join("\n"), checks: failed.join("\n") },
  };
}

function reviewKey({ author, word, commit }: Review): string {
  return `${author} ${word} ${commit}`;
}

function writeReview({ author, word, commit, url }: Review): string {
  const did = word === "approved" ? "approved" : "asked for changes to";
  return `- ${oneLine(author)} ${did} ${commit.slice(0, 12)} (${url})`;
}

function writeComment({ author, path, line, url, text }: ForgeComment): string {
  const place = path === undefined ? "" : ` on ${oneLine(path)}${line === undefined ? "" : `:${line}`}`;
  return `- ${oneLine(author)}${place} (${url}):\n\n${quoted(text)}`;
}

function writeCheck({ name, url, summary }: FailedCheck): string {
  const head = `- The check "${oneLine(name)}" failed${url === "" ? "" : ` (${url})`}`;
  return summary.trim() === "" ? head : `${head}:\n\n${quoted(summary)}`;
}

function quoted(text: string): string {
  const whole = text.trim();
  const shown = whole.length <= longestText ? whole : `${whole.slice(0, longestText).toWellFormed()}…`;
  return shown
    .split(/\r\n?|\n/)
    .map((line) => `  > ${line}`.trimEnd())
    .join("\n");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
