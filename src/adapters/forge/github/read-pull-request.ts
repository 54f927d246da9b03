import type { PullRequest } from "../../../ports/forge.ts";
import { jsonAt } from "../../json-at.ts";
import { numberAt, textAt, textOrEmptyAt } from "./json-at.ts";

/** A pull request as GitHub describes it, in our words. */
export function readPullRequest(json: unknown): PullRequest {
  const isMerged = jsonAt(json, "merged_at") !== undefined;
  const closedOrOpen = textAt(json, "state") === "open" ? "open" : "closed";
  return {
    number: numberAt(json, "number"),
    url: textAt(json, "html_url"),
    state: isMerged ? "merged" : closedOrOpen,
    head: textAt(json, "head", "ref"),
    headCommit: textAt(json, "head", "sha"),
    base: textAt(json, "base", "ref"),
    title: textOrEmptyAt(json, "title"),
    isDraft: jsonAt(json, "draft") === true,
    // Of one that is open, this is a merge that GitHub only tried.
    mergedCommit: isMerged ? textOrEmptyAt(json, "merge_commit_sha") : undefined,
  };
}

/** Whether its head is a branch of the same repository, and not one of a fork that has the same name. */
export function isFromHere(json: unknown): boolean {
  const here = jsonAt(json, "base", "repo", "id");
  return here !== undefined && jsonAt(json, "head", "repo", "id") === here;
}
