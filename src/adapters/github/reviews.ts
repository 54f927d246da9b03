import { createHash } from "node:crypto";
import { Fault } from "../../fault.ts";
import { jsonAt, numberAt, textAt } from "../../json.ts";
import type {
  Checks,
  CommentBatch,
  FailedCheck,
  ForgeComment,
  ForgeRepository,
  PullRequestStatus,
  Review,
} from "../../ports/forge.ts";
import { cutText } from "../../text.ts";
import { type GithubClient, pathOf } from "./client.ts";
import { requiredNumber } from "./required.ts";

// What people and checks say about a pull request on GitHub: comments, check results and reviews.

/**
 * The comments that are new or changed since a position, and the next position. A position lists all comments so far,
 * with a fingerprint of each text. A time would not be enough: reviews have no time of change, times are whole seconds,
 * and comments are not listed in the order of writing.
 */
export async function commentsSince(
  client: GithubClient,
  repository: ForgeRepository,
  number: number,
  position: string,
): Promise<CommentBatch> {
  const told = readPosition(position);
  const list = (...rest: readonly (string | number)[]) => client.getAll(pathOf(repository, ...rest));
  const reviews = await list("pulls", number, "reviews");
  const lines = await list("pulls", number, "comments");
  const general = await list("issues", number, "comments");
  const isOwn = await ownAmong(client, [...reviews, ...lines, ...general]);
  const written = [
    ...reviews.flatMap((json) => readReviewText(json, isOwn)),
    ...lines.map((json) => readLineComment(json, isOwn)),
    ...general.map((json) => readGeneralComment(json, isOwn)),
  ];
  // Deletions between two requests shift the rest to other pages, so some may appear twice.
  const comments = [...new Map(written.map((each) => [each.id, each])).values()]
    .filter(({ id, text }) => told.get(id) !== fingerprint(text))
    .sort((a, b) => a.writtenAt - b.writtenAt);
  return { comments, position: comments.length === 0 ? position : writePosition(told, comments) };
}

function readPosition(position: string): ReadonlyMap<string, string> {
  if (position === "") return new Map();
  const parts = position.split(" ").map((part) => /^([a-z]+\d+)=([\w-]+)$/.exec(part));
  return new Map(
    parts.map((part) => {
      const [, id, text] = part ?? [];
      if (id !== undefined && text !== undefined) return [id, text];
      throw new Fault("forge.bad-position", "This is not a position in the comments of a pull request.");
    }),
  );
}

function writePosition(told: ReadonlyMap<string, string>, comments: readonly ForgeComment[]): string {
  const all = new Map([...told, ...comments.map(({ id, text }) => [id, fingerprint(text)] as const)]);
  return [...all].map(([id, text]) => `${id}=${text}`).join(" ");
}

function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

/** GitHub's limit is 65,536 characters; the rest is for the marker. */
export const maxText = 65_000;

/** Whether the author has write access: on a public repository any user can comment and approve. */
function isInsider(json: unknown): boolean {
  return ["OWNER", "MEMBER", "COLLABORATOR"].includes(textAt(json, "author_association"));
}

/** An invisible line by which Signalbox recognises its own comments. */
function markerOf(key: string): string {
  // The key must not end the marker.
  const safe = key.replace(/[^\w.:#/@-]/gu, (character) => encodeURIComponent(character)).replaceAll("--", "-%2D");
  return `<!-- signalbox:${safe} -->`;
}

/** Whether a comment was written by the account that the token belongs to. */
type IsOwn = (comment: unknown) => boolean;

/**
 * Anybody can write a marker into a comment: only the author tells whether a marked comment is ours. GitHub names no account for
 * the token of an app: then the comments of any app count, which people must have installed in the repository.
 */
async function ownAmong(client: GithubClient, comments: readonly unknown[]): Promise<IsOwn> {
  if (!comments.some((each) => isMarked(textAt(each, "body")))) return () => false;
  const account = await client.get("user", { absent: [403, 404] });
  const login = textAt(account, "login").toLowerCase();
  if (login === "") return (comment) => textAt(comment, "user", "type") === "Bot";
  return (comment) => textAt(comment, "user", "login").toLowerCase() === login;
}

/** Whether a text ends with this marker. At any other position it may be a quotation. */
function hasMarker(text: string, marker: string): boolean {
  return text.trimEnd().endsWith(`\n${marker}`);
}

/** Whether a text ends with any marker. */
function isMarked(text: string): boolean {
  return /\n<!-- signalbox:\S+ -->\s*$/.test(text);
}

// Enough to see the error.
const maxSummary = 2_000;

/** The combined result of check runs and commit statuses, GitHub's two kinds of checks. */
export function readChecks(runs: readonly unknown[], statuses: readonly unknown[]): Checks {
  const checks = [...runs.map(readRun), ...statuses.map(readStatus)];
  const failed = checks.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failed.length > 0) return { state: "failing", failed };
  if (checks.some(({ isDone }) => !isDone)) return { state: "unfinished", failed };
  return { state: checks.length > 0 ? "passing" : "none", failed };
}

interface Check {
  readonly isDone: boolean;
  readonly failure?: FailedCheck;
}

function readRun(json: unknown): Check {
  if (textAt(json, "status") !== "completed") return { isDone: false };
  const conclusion = textAt(json, "conclusion");
  if (["success", "neutral", "skipped"].includes(conclusion)) return { isDone: true };
  const said = [textAt(json, "output", "title"), textAt(json, "output", "summary")];
  const url = textAt(json, "html_url") || textAt(json, "details_url");
  return failure(textAt(json, "name"), url, said, conclusion);
}

function readStatus(json: unknown): Check {
  const state = textAt(json, "state");
  if (state !== "failure" && state !== "error") return { isDone: state === "success" };
  const said = [textAt(json, "description")];
  return failure(textAt(json, "context"), textAt(json, "target_url"), said, state);
}

function failure(name: string, url: string, said: readonly string[], word: string): Check {
  const summary = said.filter((part) => part.trim() !== "").join("\n") || word;
  return { isDone: true, failure: { name, url, summary: cutText(summary, maxSummary) } };
}

/** A comment on a line. If the line is no longer in the diff, it has its original number. */
function readLineComment(json: unknown, isOwn: IsOwn): ForgeComment {
  const answers = numberAt(json, "in_reply_to_id");
  return {
    ...common(json, "line", "created_at", isOwn),
    path: textAt(json, "path") || undefined,
    line: numberAt(json, "line") ?? numberAt(json, "original_line"),
    replyTo: answers === undefined ? undefined : `line${answers}`,
  };
}

function readGeneralComment(json: unknown, isOwn: IsOwn): ForgeComment {
  return { ...common(json, "general", "created_at", isOwn), path: undefined, line: undefined, replyTo: undefined };
}

/** The text of a review, if it has one. Pending reviews are not published yet. */
function readReviewText(json: unknown, isOwn: IsOwn): readonly ForgeComment[] {
  if (jsonAt(json, "state") === "PENDING" || textAt(json, "body").trim() === "") return [];
  return [{ ...common(json, "review", "submitted_at", isOwn), path: undefined, line: undefined, replyTo: undefined }];
}

function common(json: unknown, kind: ForgeComment["kind"], time: string, isOwn: IsOwn) {
  const text = textAt(json, "body");
  return {
    id: `${kind}${requiredNumber(json, "id")}`,
    kind,
    author: textAt(json, "user", "login"),
    isInsider: isInsider(json),
    isOurs: isMarked(text) && isOwn(json),
    text,
    url: textAt(json, "html_url"),
    writtenAt: Date.parse(textAt(json, time)) || 0,
  };
}

const words: Readonly<Record<string, Review["word"]>> = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes-requested",
};

/**
 * The current verdict of each reviewer with write access. Comments do not change a verdict, pending reviews do not
 * count, and a dismissed review leaves its author without a verdict.
 */
export function readReviews(listed: readonly unknown[], headCommit: string): readonly Review[] {
  const last = new Map<string, unknown>();
  for (const each of listed) {
    const [author, state] = [textAt(each, "user", "login"), textAt(each, "state")];
    const isWord = Object.hasOwn(words, state) || state === "DISMISSED";
    if (isWord && author !== "" && isInsider(each)) last.set(author, each);
  }
  return [...last].flatMap(([author, each]) => {
    const word = words[textAt(each, "state")];
    if (word === undefined) return [];
    const commit = textAt(each, "commit_id");
    return [{ author, word, commit, isStale: commit !== headCommit, url: textAt(each, "html_url") }];
  });
}

/** The combined result of the reviews, if the base requires `demanded` approvals. */
export function weighReviews(reviews: readonly Review[], demanded: number): PullRequestStatus["review"] {
  if (reviews.some(({ word }) => word === "changes-requested")) return "changes-requested";
  const approvals = reviews.filter(({ isStale }) => !isStale).length;
  if (approvals >= Math.max(1, demanded)) return "approved";
  return demanded > 0 ? "required" : "none";
}

export async function writeComment(
  client: GithubClient,
  repository: ForgeRepository,
  { number, text, key }: { readonly number: number; readonly text: string; readonly key: string },
): Promise<{ readonly url: string }> {
  const path = pathOf(repository, "issues", number, "comments");
  const marker = markerOf(key);
  const marked = (await client.getAll(path)).filter((each) => hasMarker(textAt(each, "body"), marker));
  const isOwn = await ownAmong(client, marked);
  const before = marked.find(isOwn);
  if (before !== undefined) return { url: textAt(before, "html_url") };
  const { json } = await client.send("POST", path, { body: `${cutText(text, maxText)}\n\n${marker}` }, []);
  return { url: textAt(json, "html_url") };
}
