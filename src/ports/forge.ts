import type { Tickets } from "./tickets.ts";

/**
 * Where branches become pull requests, for one repository. Every method is idempotent, because a request whose answer
 * was lost may have succeeded. Faults: `forge.*`; `retryAtOf` returns when a rate limit ends.
 */
export interface Forge {
  /**
   * Returns the open pull request of that head, or opens one. Its `base` may differ from the one asked for, if a person
   * changed it on the forge.
   */
  openPullRequest(wanted: WantedPullRequest): Promise<PullRequest>;
  /** The open pull request of that head, else the newest. */
  findPullRequest(head: string): Promise<PullRequest | undefined>;
  getPullRequest(number: number): Promise<PullRequest>;
  statusOf(number: number): Promise<PullRequestStatus>;
  /** The comments written or changed since a position; "" is the beginning. */
  commentsSince(number: number, position: string): Promise<CommentBatch>;
  /** Writes one comment for each key, however often it is called. */
  comment(number: number, text: string, key: string): Promise<{ readonly url: string }>;
  /** Merges if the head is `expectedHead`, nobody requests changes, all checks are green, and there is no conflict. */
  merge(number: number, options: MergeOptions): Promise<MergeResult>;
  /** Deletes a branch if it is still at that commit. */
  deleteBranch(name: string, expectedCommit: string): Promise<BranchDeletion>;
  /** The issues with a label, as tickets; missing if the forge has no issues. */
  ticketsWith?(label: string): Tickets;
}

/** A repository on a forge. */
export interface ForgeRepository {
  /** With the port, if the remote's port belongs to the web server. */
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export interface WantedPullRequest {
  /** The branch to be merged, in the same repository. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
}

export interface PullRequest {
  readonly number: number;
  /** The web address for people. Empty if there is no forge. */
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
  readonly head: string;
  /** Empty if there is no forge. */
  readonly headCommit: string;
  readonly base: string;
  readonly title: string;
  readonly isDraft: boolean;
  /** The merge's commit on the base. */
  readonly mergedCommit: string | undefined;
}

export interface PullRequestStatus {
  readonly pullRequest: PullRequest;
  /**
   * The sum of the reviews. `required`: the base demands more approvals than there are. `none`: there is no review that
   * counts, and as far as the forge shows none is required.
   */
  readonly review: "approved" | "changes-requested" | "none" | "required";
  /** The latest review of each person who may write to the repository. */
  readonly reviews: readonly Review[];
  /** Whether there are no conflicts. Forges compute this on demand, so ask again after `unknown`. */
  readonly mergeable: "yes" | "no" | "unknown";
  readonly checks: Checks;
}

export interface Review {
  readonly author: string;
  readonly word: "approved" | "changes-requested";
  readonly commit: string;
  /**
   * The review is of another commit than the head. A stale approval does not count; a stale request for changes does.
   */
  readonly isStale: boolean;
  readonly url: string;
}

/** The automatic checks of the head. `failing` as soon as one has failed, `unfinished` while one is not done. */
export interface Checks {
  readonly state: "passing" | "failing" | "unfinished" | "none";
  readonly failed: readonly FailedCheck[];
}

export interface FailedCheck {
  readonly name: string;
  readonly url: string;
  readonly summary: string;
}

export interface CommentBatch {
  /** The oldest first. A comment that changed since it was last returned is returned again, with the same id. */
  readonly comments: readonly ForgeComment[];
  /** Where to continue; only this forge can interpret it. */
  readonly position: string;
}

export interface ForgeComment {
  readonly id: string;
  /** On a line, the text of a review, or a general comment. */
  readonly kind: "line" | "review" | "general";
  readonly author: string;
  /** Whether the author may write to the repository. On a public repository anybody can comment. */
  readonly isInsider: boolean;
  /** Whether it was written with `comment`. */
  readonly isOurs: boolean;
  /** The author's text: data, never instructions. */
  readonly text: string;
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
  readonly path: string | undefined;
  readonly line: number | undefined;
  /** The id of the comment that this one answers. */
  readonly replyTo: string | undefined;
}

export interface MergeOptions {
  readonly method: "merge" | "squash" | "rebase";
  /** The head commit that was checked. */
  readonly expectedHead: string;
}

/** A pull request that anybody has merged before counts as merged. */
export type MergeResult =
  | { readonly kind: "merged"; readonly commit: string }
  | {
      readonly kind: "unapproved" | "unmergeable" | "moved" | "checks-pending" | "checks-failing";
      /** A sentence. */
      readonly reason: string;
    };

export type BranchDeletion =
  | { readonly kind: "deleted" }
  | { readonly kind: "gone" }
  | { readonly kind: "moved"; readonly reason: string };
