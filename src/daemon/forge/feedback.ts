import { withSection } from "../../documents/task-document.ts";
import type { Turns } from "../../keyed.ts";
import type { FailedCheck, ForgeComment, PullRequestStatus, Review } from "../../ports/forge.ts";
import type { PullRequestRecord } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { cutText, oneLine } from "../../text.ts";
import { documentChanged } from "../look.ts";
import { parsedDocument, storedAs } from "../task-documents.ts";

const section = "Feedback";

/** A batch in one section must stay readable. */
const maxItems = 50;

/**
 * Adds the feedback on a pull request to the task's document, where its agents see it, and to its history. Items that
 * are there already are not added again: after a crash the same feedback may be reported once more.
 */
export async function addFeedback(
  { store, clock, inTurn }: { readonly store: Store; readonly clock: Clock; readonly inTurn: Turns },
  { task, number, url, headCommit }: PullRequestRecord,
  items: readonly string[],
): Promise<boolean> {
  return inTurn(task, async () => {
    const stored = await store.getDocument(task);
    const before = parsedDocument(stored);
    const body = before.byHeading.get(section)?.body ?? "";
    const missing = items.filter((item) => !body.includes(item));
    if (missing.length === 0) return false;
    const left = missing.length - maxItems;
    const added = [...missing.slice(0, maxItems), ...(left > 0 ? [`- … and ${left} more: ${url}`] : [])];
    const after = withSection(before, section, [body, ...added].filter((each) => each !== "").join("\n\n"));
    const fingerprint = after.byHeading.get(section)?.fingerprint ?? "";
    // Written as the engine, not as a person: a comment on a forge must not count as a person's evidence at a gate.
    const author = { role: "engine", run: "", commit: headCommit, fingerprint };
    const document = storedAs(after, { ...stored.authors, [section]: author });
    const events = [
      documentChanged({ role: "engine" }, [section]),
      { type: "pr.feedback", by: "engine", data: { number, url, text: added.join("\n\n") }, set: {} } as const,
    ];
    await store.saveDocument(task, document, events, clock.now());
    return true;
  });
}

/** The feedback that was reported before, so that nothing is reported twice. */
interface ToldFeedback {
  readonly reviews: string;
  readonly checks: string;
}

interface Feedback {
  /** One text for each new item. */
  readonly items: readonly string[];
  readonly told: ToldFeedback;
}

const maxText = 4_000;

/**
 * The feedback of people and machines on a pull request that was not reported yet. Comments count only if their author
 * may write to the repository. Everything is quoted, because it is data.
 */
export function renderFeedback(
  { pullRequest, reviews, checks }: PullRequestStatus,
  comments: readonly ForgeComment[],
  before: ToldFeedback,
): Feedback {
  const known = new Set(before.reviews.split("\n"));
  const fresh = reviews.filter((review) => !known.has(reviewKey(review)));
  // The same failure on another commit is reported again.
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
  const shown = cutText(whole, maxText);
  return shown
    .split(/\r\n?|\n/)
    .map((line) => `  > ${line}`.trimEnd())
    .join("\n");
}
