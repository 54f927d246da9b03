import { useSyncExternalStore } from "react";

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

const nothing: ReviewDraft = { comments: [], remark: "" };
const nameOf = (task: string) => `signalbox.draft.review ${task}`;
const known = new Map<string, ReviewDraft>();
const listeners = new Set<() => void>();

/** The draft of a task's review. It is kept in this browser until it was sent, and is the same in all its tabs. */
export function useReviewDraft(task: string): readonly [ReviewDraft, (next: ReviewDraft) => void] {
  const draft = useSyncExternalStore(listen, () => draftOf(task));
  return [draft, (next) => keepDraft(task, next)];
}

export function draftOf(task: string): ReviewDraft {
  const found = known.get(task) ?? readDraft(task);
  known.set(task, found);
  return found;
}

export function keepDraft(task: string, next: ReviewDraft): void {
  known.set(task, next);
  try {
    if (next.comments.length === 0 && next.remark === "") localStorage.removeItem(nameOf(task));
    else localStorage.setItem(nameOf(task), JSON.stringify(next));
  } catch {
    // It stays on the screen.
  }
  for (const each of listeners) each();
}

function listen(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("storage", forget);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", forget);
  };
}

/** Another tab has changed a draft. */
function forget(): void {
  known.clear();
  for (const each of listeners) each();
}

function readDraft(task: string): ReviewDraft {
  try {
    const kept = JSON.parse(localStorage.getItem(nameOf(task)) ?? "null") as Partial<ReviewDraft> | null;
    if (kept === null || !Array.isArray(kept.comments)) return nothing;
    return { comments: kept.comments, remark: typeof kept.remark === "string" ? kept.remark : "" };
  } catch {
    return nothing;
  }
}
