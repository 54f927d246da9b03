import type { Tickets } from "./tickets.ts";

/**
 * Where branches become pull requests, for one repository. Everything may be asked again without harm: nobody knows how
 * far a request came whose answer was lost. Faults: `forge.*`; `retryAtOf` tells when a limit is over.
 */
export interface Forge {
  /**
   * Gives the open pull request of that head, and opens one where there is none. Its `base` may be another one than asked
   * for, where somebody chose so on the forge.
   */
  openPullRequest(wanted: WantedPullRequest): Promise<PullRequest>;
  /** The open one of that head, else the newest. */
  findPullRequest(head: string): Promise<PullRequest | undefined>;
  getPullRequest(number: number): Promise<PullRequest>;
  statusOf(number: number): Promise<PullRequestStatus>;
  /** What was written or changed since a position; "" is the beginning. */
  commentsSince(number: number, position: string): Promise<CommentBatch>;
  /** Writes once for each key, however often it is asked. */
  comment(number: number, text: string, key: string): Promise<{ readonly url: string }>;
  /** Merges what is at `expectedHead`, has no request for changes, no check that is not green, and no conflict. */
  merge(number: number, options: MergeOptions): Promise<MergeResult>;
  /** Deletes a branch that is still at that commit. */
  deleteBranch(name: string, expectedCommit: string): Promise<BranchDeletion>;
  /** Its issues that have a label, as tickets; missing where a forge has none. */
  ticketsWith?(label: string): Tickets;
}

/** A repository on a forge. */
export interface ForgeRepository {
  /** With the port, where the remote has one that belongs to the web server. */
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
  /** For people. Empty where there is no forge. */
  readonly url: string;
  readonly state: "open" | "merged" | "closed";
  readonly head: string;
  /** Empty where there is no forge. */
  readonly headCommit: string;
  readonly base: string;
  readonly title: string;
  readonly isDraft: boolean;
  /** What the merge made on the base. */
  readonly mergedCommit: string | undefined;
}

export interface PullRequestStatus {
  readonly pullRequest: PullRequest;
  /**
   * What the reviews come to. `required`: the base demands more approvals than there are. `none`: nobody has said
   * anything that counts, and as far as we can see nobody has to.
   */
  readonly review: "approved" | "changes-requested" | "none" | "required";
  /** The last word of everybody who may write to the repository. */
  readonly reviews: readonly Review[];
  /** Whether there are conflicts. Forges work it out when they are asked, so `unknown` is to be asked again. */
  readonly mergeable: "yes" | "no" | "unknown";
  readonly checks: Checks;
}

export interface Review {
  readonly author: string;
  readonly word: "approved" | "changes-requested";
  readonly commit: string;
  /** It is about another commit than the head. A stale approval does not count; a stale request for changes does. */
  readonly isStale: boolean;
  readonly url: string;
}

/** What machines say about the head. `failing` as soon as one failed, `unfinished` while one is not done. */
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
  /** The oldest first. What was changed since it was last told is told again, with the same id. */
  readonly comments: readonly ForgeComment[];
  /** Where to continue. Means nothing to anybody else. */
  readonly position: string;
}

export interface ForgeComment {
  readonly id: string;
  /** About a line, the text of a review, or said in general. */
  readonly kind: "line" | "review" | "general";
  readonly author: string;
  /** Whether the author may write to the repository. On a public one anybody can comment. */
  readonly isInsider: boolean;
  /** Whether it was written with `comment`. */
  readonly isOurs: boolean;
  /** What somebody wrote: data, never instructions. */
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
  /** The commit that was looked at. */
  readonly expectedHead: string;
}

/** What was merged already, by whomever, is merged. */
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
