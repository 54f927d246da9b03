import { useSyncExternalStore } from "react";
import { unsentText } from "../data/drafts.ts";

/** What a person says about one line of a change. */
export interface LineComment {
  readonly path: string;
  /** old: the line was removed; `line` is its number before the change. */
  readonly side: "old" | "new";
  readonly line: number;
  /** The line as it was shown, and the commit that it was shown at. */
  readonly code: string;
  readonly commit: string;
  readonly text: string;
}

/** Comments that wait to be sent together, and what is said besides. */
export interface ReviewDraft {
  readonly comments: readonly LineComment[];
  readonly remark: string;
}

export type Place = Pick<LineComment, "path" | "side" | "line">;

export function isAt(one: Place, other: Place): boolean {
  return one.path === other.path && one.side === other.side && one.line === other.line;
}

/** The draft with this comment instead of an earlier one on the same line. One without words is none. */
export function withComment(draft: ReviewDraft, comment: LineComment): ReviewDraft {
  const at = draft.comments.findIndex((each) => isAt(each, comment));
  const others = draft.comments.filter((each) => !isAt(each, comment));
  if (comment.text === "") return { ...draft, comments: others };
  return { ...draft, comments: at === -1 ? [...others, comment] : draft.comments.with(at, comment) };
}

/** The comments that have words, in the order of files and lines. */
export function saidIn({ comments }: ReviewDraft): readonly LineComment[] {
  return comments
    .filter(({ text }) => text.trim() !== "")
    .sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line || a.side.localeCompare(b.side));
}

const maxQuoted = 200;

/** Everything that the person says, as the one text that is sent. */
export function textOf(draft: ReviewDraft): string {
  const remark = draft.remark.trim();
  const comments = saidIn(draft).map(({ path, side, line, code, commit, text }) => {
    const where = `${path}:${line}${side === "old" ? " (removed line)" : ""}`;
    const at = commit === "" ? "" : ` at ${commit.slice(0, 10)}`;
    return `${where}${at}\n> ${code.trim().slice(0, maxQuoted)}\n${text.trim()}`;
  });
  return [...(remark === "" ? [] : [remark]), ...comments].join("\n\n");
}

/** What is left of a draft once `sent` has been sent: what the person has written meanwhile. */
export function withoutSent(draft: ReviewDraft, sent: ReviewDraft): ReviewDraft {
  const isSent = (one: LineComment) => sent.comments.some((each) => isAt(each, one) && each.text === one.text);
  return { comments: draft.comments.filter((each) => !isSent(each)), remark: unsentText(draft.remark, sent.remark) };
}

const nothing: ReviewDraft = { comments: [], remark: "" };
const nameOf = (task: string) => `signalbox.draft.review ${task}`;
/** Drafts as they were read last, with the text that was kept then. */
const known = new Map<string, { readonly kept: string | null; readonly draft: ReviewDraft }>();
const listeners = new Set<() => void>();

/** The draft of a task's review. It is kept in this browser until it was sent, and is the same in all its tabs. */
export function useReviewDraft(task: string): readonly [ReviewDraft, (next: ReviewDraft) => void] {
  const draft = useSyncExternalStore(listen, () => draftOf(task));
  return [draft, (next) => keepDraft(task, next)];
}

export function draftOf(task: string): ReviewDraft {
  const kept = readKept(task);
  const found = known.get(task);
  // Another tab may have changed it, whether or not this one shows it.
  if (found !== undefined && found.kept === kept) return found.draft;
  const draft = draftIn(kept);
  known.set(task, { kept, draft });
  return draft;
}

export function keepDraft(task: string, next: ReviewDraft): void {
  try {
    if (next.comments.length === 0 && next.remark === "") localStorage.removeItem(nameOf(task));
    else localStorage.setItem(nameOf(task), JSON.stringify(next));
  } catch {
    // It stays on the screen.
  }
  known.set(task, { kept: readKept(task), draft: next });
  tellListeners();
}

/** Calls back when a draft has changed, here or in another tab. Returns what ends it. */
export function listen(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("storage", tellListeners);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", tellListeners);
  };
}

/** A draft has changed, here or in another tab. */
function tellListeners(): void {
  for (const each of listeners) each();
}

/** The text that the browser keeps for the task's draft; null if there is none, or the browser keeps nothing for this page. */
function readKept(task: string): string | null {
  try {
    return localStorage.getItem(nameOf(task));
  } catch {
    return null;
  }
}

function draftIn(kept: string | null): ReviewDraft {
  try {
    const { comments, remark } = (JSON.parse(kept ?? "null") ?? {}) as Partial<ReviewDraft>;
    if (!Array.isArray(comments)) return nothing;
    return { comments, remark: typeof remark === "string" ? remark : "" };
  } catch {
    return nothing;
  }
}
