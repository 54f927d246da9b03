import type { PullRequestStatus, Review } from "../../../ports/forge.ts";
import { isInsider } from "./is-insider.ts";
import { textOrEmptyAt } from "./json-at.ts";

const words: Readonly<Record<string, Review["word"]>> = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes-requested",
};

/**
 * The last word of everybody who may write. Remarks change nobody's word, and pending reviews are not said yet; one that
 * was dismissed was the last word and says nothing any more.
 */
export function readReviews(listed: readonly unknown[], headCommit: string): readonly Review[] {
  const last = new Map<string, unknown>();
  for (const each of listed) {
    const [author, state] = [textOrEmptyAt(each, "user", "login"), textOrEmptyAt(each, "state")];
    const isWord = Object.hasOwn(words, state) || state === "DISMISSED";
    if (isWord && author !== "" && isInsider(each)) last.set(author, each);
  }
  return [...last].flatMap(([author, each]) => {
    const word = words[textOrEmptyAt(each, "state")];
    if (word === undefined) return [];
    const commit = textOrEmptyAt(each, "commit_id");
    return [{ author, word, commit, isStale: commit !== headCommit, url: textOrEmptyAt(each, "html_url") }];
  });
}

/** What the reviews come to, where the base demands so many approvals. */
export function weighReviews(reviews: readonly Review[], demanded: number): PullRequestStatus["review"] {
  if (reviews.some(({ word }) => word === "changes-requested")) return "changes-requested";
  const approvals = reviews.filter(({ isStale }) => !isStale).length;
  if (approvals >= Math.max(1, demanded)) return "approved";
  return demanded > 0 ? "required" : "none";
}
