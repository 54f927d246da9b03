/** What a scripted GitHub knows about its one repository. Tests change it as people and machines would. */
export interface GithubState {
  readonly owner: string;
  name: string;
  /** The commit of each branch. */
  readonly branches: Map<string, string>;
  readonly pulls: ScriptedPull[];
  /** Those that are no pull requests; their numbers are others. */
  readonly issues: ScriptedIssue[];
  readonly reviews: ScriptedReview[];
  /** Comments about lines. */
  readonly lineComments: ScriptedComment[];
  /** Comments in general. */
  readonly comments: ScriptedComment[];
  readonly checkRuns: ScriptedCheckRun[];
  readonly statuses: ScriptedStatus[];
  /** The approvals that a rule set demands; undefined where the plan has none. */
  ruleApprovals: number | undefined;
  /** The approvals that the protection of the branch demands; undefined where we may not see it. */
  protectedApprovals: number | undefined;
  /** Why a merge that we see nothing against is refused all the same. */
  refuseMerge: { readonly status: number; readonly message: string } | undefined;
}

export interface ScriptedPull {
  readonly number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  head: string;
  base: string;
  draft: boolean;
  mergeCommit: string | undefined;
  mergeable: boolean;
  /** It is asked so many times before it knows whether it can be merged. */
  unknownFor: number;
  isFromFork: boolean;
}

export interface ScriptedIssue {
  readonly number: number;
  title: string;
  body: string | null;
  state: "open" | "closed";
  labels: readonly string[];
}

export interface ScriptedReview {
  readonly id: number;
  readonly pull: number;
  author: string;
  association: string;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" | "PENDING";
  commit: string;
  body: string;
}

export interface ScriptedComment {
  readonly id: number;
  readonly pull: number;
  author: string;
  association: string;
  body: string;
  path?: string;
  line?: number | null;
  original_line?: number;
  in_reply_to_id?: number;
}

export interface ScriptedCheckRun {
  readonly commit: string;
  name: string;
  status: string;
  conclusion: string | null;
  output?: { readonly title: string | null; readonly summary: string | null };
}

export interface ScriptedStatus {
  readonly commit: string;
  context: string;
  state: string;
  description: string | null;
}

/** A repository with the branch "main" and nothing else. */
export function createGithubState(): GithubState {
  return {
    owner: "acme",
    name: "coffee",
    branches: new Map([["main", "c0"]]),
    pulls: [],
    issues: [],
    reviews: [],
    lineComments: [],
    comments: [],
    checkRuns: [],
    statuses: [],
    ruleApprovals: undefined,
    protectedApprovals: undefined,
    refuseMerge: undefined,
  };
}
