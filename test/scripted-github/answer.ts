/** What GitHub answers to a request about its repository. */
export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  /** A list, which is then cut into pages; under a key where the answer is more than the list. */
  readonly list?: readonly unknown[];
  readonly key?: string;
}

export interface Asked {
  readonly method: string;
  /** Below the repository: `pulls/7/reviews`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export function answer(state: GithubState, asked: Asked): Reply {
  for (const [form, reply] of routes) {
    const found = form.exec(`${asked.method} ${asked.path}`);
    if (found !== null) return reply(state, found.slice(1).map(decodeURIComponent), asked);
  }
  return refuse(404, "Not Found");
}

type Route = (state: GithubState, parts: readonly string[], asked: Asked) => Reply;

const routes: readonly (readonly [RegExp, Route])[] = [
  [/^GET $/, ({ name }) => ({ status: 200, json: { name } })],
  [/^GET pulls$/, listPulls],
  [/^POST pulls$/, openPull],
  [/^GET pulls\/(\d+)$/, getPull],
  [/^GET pulls\/(\d+)\/reviews$/, (state, [n]) => list(of(state.reviews, n).map((r) => describeReview(state, r)))],
  [
    /^GET pulls\/(\d+)\/comments$/,
    (state, [n]) => list(of(state.lineComments, n).map((c) => describeComment(state, c))),
  ],
  [/^GET issues$/, listIssues],
  [/^GET issues\/(\d+)$/, (state, [n]) => oneIssue(state, n)],
  [/^PATCH issues\/(\d+)$/, changeIssue],
  [/^POST issues\/(\d+)\/labels$/, addLabels],
  [/^DELETE issues\/(\d+)\/labels\/([^/]+)$/, removeLabel],
  [/^GET issues\/(\d+)\/comments$/, (state, [n]) => list(of(state.comments, n).map((c) => describeComment(state, c)))],
  [/^POST issues\/(\d+)\/comments$/, addComment],
  [/^PUT pulls\/(\d+)\/merge$/, merge],
  [/^GET commits\/([^/]+)\/check-runs$/, ({ checkRuns }, [c]) => list(ofCommit(checkRuns, c), "check_runs")],
  [/^GET commits\/([^/]+)\/status$/, ({ statuses }, [c]) => list(ofCommit(statuses, c), "statuses")],
  [/^GET rules\/branches\/[^/]+$/, rules],
  [/^GET branches\/[^/]+\/protection\/required_pull_request_reviews$/, protection],
  [/^GET git\/ref\/heads\/(.+)$/, getRef],
  [/^DELETE git\/refs\/heads\/(.+)$/, deleteRef],
];

function listPulls(state: GithubState, _: readonly string[], { query }: Asked): Reply {
  const wanted = query.get("state") ?? "open";
  const [, head] = /^[^:]+:(.+)$/.exec(query.get("head") ?? "") ?? [];
  const found = state.pulls
    .filter((pull) => (wanted === "all" || pull.state === wanted) && (head === undefined || pull.head === head))
    .toReversed();
  return list(found.map((pull) => describePull(state, pull)));
}

function openPull(state: GithubState, _: readonly string[], { body }: Asked): Reply {
  const [head, base] = [String(body.head), String(body.base)];
  const isThere = state.pulls.some((pull) => pull.head === head && pull.base === base && pull.state === "open");
  if (!state.branches.has(head)) return invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  if (isThere) return invalid({ code: "custom", message: `A pull request already exists for ${state.owner}:${head}.` });
  if (state.branches.get(head) === state.branches.get(base))
    return invalid({ code: "custom", message: `No commits between ${base} and ${head}` });
  const pull: ScriptedPull = {
    ...{ number: state.pulls.length + 1, head, base, draft: body.draft === true, state: "open" as const },
    ...{ title: String(body.title), body: String(body.body), mergeCommit: undefined },
    ...{ mergeable: true, unknownFor: 0, isFromFork: false },
  };
  state.pulls.push(pull);
  return { status: 201, json: describePull(state, pull) };
}

function getPull(state: GithubState, [number]: readonly string[]): Reply {
  const pull = pullOf(state, number);
  if (pull === undefined) return refuse(404, "Not Found");
  const isKnown = pull.unknownFor === 0;
  if (!isKnown) pull.unknownFor -= 1;
  return { status: 200, json: { ...describePull(state, pull), mergeable: isKnown ? pull.mergeable : null } };
}

/** GitHub lists pull requests among its issues. */
function listIssues(state: GithubState, _: readonly string[], { query }: Asked): Reply {
  const wanted = query.get("state") ?? "open";
  const label = query.get("labels")?.toLowerCase();
  const found = state.issues
    .filter((issue) => wanted === "all" || issue.state === wanted)
    .filter(({ labels }) => label === undefined || labels.some((each) => each.toLowerCase() === label))
    .toReversed();
  const pulls =
    label === undefined
      ? []
      : state.pulls.map((pull) => ({ ...describePull(state, pull), labels: [], pull_request: {} }));
  return list([...pulls, ...found.map((issue) => describeIssue(state, issue))]);
}

function oneIssue(state: GithubState, number: string | undefined): Reply {
  const issue = issueOf(state, number);
  return issue === undefined ? refuse(404, "Not Found") : { status: 200, json: describeIssue(state, issue) };
}

function changeIssue(state: GithubState, [number]: readonly string[], { body }: Asked): Reply {
  const issue = issueOf(state, number);
  if (issue === undefined) return refuse(404, "Not Found");
  if (body.state === "open" || body.state === "closed") issue.state = body.state;
  return oneIssue(state, number);
}

function addLabels(state: GithubState, [number]: readonly string[], { body }: Asked): Reply {
  const issue = issueOf(state, number);
  if (issue === undefined || !Array.isArray(body.labels)) return refuse(404, "Not Found");
  issue.labels = [...new Set([...issue.labels, ...body.labels.map(String)])];
  return { status: 200, json: issue.labels.map((name) => ({ name })) };
}

function removeLabel(state: GithubState, [number, label]: readonly string[]): Reply {
  const issue = issueOf(state, number);
  if (issue === undefined || !issue.labels.includes(label ?? "")) return refuse(404, "Label does not exist");
  issue.labels = issue.labels.filter((each) => each !== label);
  return { status: 200, json: issue.labels.map((name) => ({ name })) };
}

function addComment(state: GithubState, [number]: readonly string[], { body }: Asked): Reply {
  if (pullOf(state, number) === undefined && issueOf(state, number) === undefined) return refuse(404, "Not Found");
  const id = 1_000 + state.comments.length;
  const comment = { id, pull: Number(number), author: state.account, association: "OWNER", body: String(body.body) };
  state.comments.push(comment);
  return { status: 201, json: describeComment(state, comment) };
}

function merge(state: GithubState, [number]: readonly string[], { body }: Asked): Reply {
  const pull = pullOf(state, number);
  if (pull === undefined) return refuse(404, "Not Found");
  if (body.sha !== state.branches.get(pull.head))
    return refuse(409, "Head branch was modified. Review and try the merge again.");
  if (state.refuseMerge !== undefined) return refuse(state.refuseMerge.status, state.refuseMerge.message);
  if (pull.state === "closed" || pull.draft || !pull.mergeable) return refuse(405, "Pull Request is not mergeable");
  pull.state = "closed";
  pull.mergedHead = String(body.sha);
  pull.mergeCommit = `${body.merge_method}-of-${body.sha}`;
  state.branches.set(pull.base, pull.mergeCommit);
  return { status: 200, json: { sha: pull.mergeCommit, merged: true, message: "Pull Request successfully merged" } };
}

function rules({ ruleApprovals }: GithubState): Reply {
  if (ruleApprovals === undefined) return refuse(403, "Upgrade to GitHub Pro or make this repository public.");
  const parameters = { required_approving_review_count: ruleApprovals };
  return list([{ type: "deletion" }, { type: "pull_request", parameters }]);
}

function protection({ protectedApprovals }: GithubState): Reply {
  if (protectedApprovals === undefined) return refuse(404, "Not Found");
  return { status: 200, json: { required_approving_review_count: protectedApprovals } };
}

function getRef({ branches }: GithubState, [name = ""]: readonly string[]): Reply {
  const sha = branches.get(name);
  if (sha === undefined) return refuse(404, "Not Found");
  return { status: 200, json: { ref: `refs/heads/${name}`, object: { type: "commit", sha } } };
}

function deleteRef({ branches }: GithubState, [name = ""]: readonly string[]): Reply {
  if (name === "main") return refuse(422, "Cannot delete the default branch");
  return branches.delete(name) ? { status: 204 } : refuse(422, "Reference does not exist");
}

function pullOf({ pulls }: GithubState, number: string | undefined): ScriptedPull | undefined {
  return pulls.find((pull) => pull.number === Number(number));
}

function issueOf({ issues }: GithubState, number: string | undefined): ScriptedIssue | undefined {
  return issues.find((issue) => issue.number === Number(number));
}

function of<T extends { readonly pull: number }>(all: readonly T[], number: string | undefined): readonly T[] {
  return all.filter(({ pull }) => pull === Number(number));
}

function ofCommit(all: readonly { readonly commit: string }[], commit: string | undefined): readonly unknown[] {
  return all.filter((each) => each.commit === commit);
}

function list(all: readonly unknown[], key?: string): Reply {
  return { status: 200, list: all, ...(key === undefined ? {} : { key }) };
}

function invalid(error: unknown): Reply {
  return { status: 422, json: { message: "Validation Failed", errors: [error] } };
}

function refuse(status: number, message: string): Reply {
  return { status, json: { message, documentation_url: "https://docs.github.com/rest" } };
}

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
      sha: pull.mergedHead ?? state.branches.get(pull.head) ?? `last-of-${pull.head}`,
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
    user: { login: author, type: author.endsWith("[bot]") ? "Bot" : "User" },
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

/** What a scripted GitHub knows about its one repository. Tests change it as people and machines would. */
export interface GithubState {
  readonly owner: string;
  name: string;
  /** Whose token it is; that of an app ends with `[bot]`. */
  account: string;
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
  /** The head that was merged: what is pushed to the branch later does not count. */
  mergedHead?: string;
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
    account: "signalbox",
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
