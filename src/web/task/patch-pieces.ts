import type { ChangeData, HunkData } from "react-diff-view";

/** How many lines are drawn at once: few enough for a tenth of a second. */
const linesInPiece = 120;

/** A part of a hunk that is drawn by itself. */
export interface Piece {
  readonly key: string;
  readonly hunk: HunkData;
  /** The heading of its hunk; empty unless it is the hunk's first part. */
  readonly heading: string;
}

/** Cuts hunks into parts, so that the first lines of a long patch are seen before the last ones are drawn. */
export function piecesOf(hunks: readonly HunkData[]): readonly Piece[] {
  return hunks.flatMap((hunk, i) => {
    const count = Math.max(1, Math.ceil(hunk.changes.length / linesInPiece));
    return Array.from({ length: count }, (_, part) => {
      const changes = hunk.changes.slice(part * linesInPiece, (part + 1) * linesInPiece);
      return { key: `${i} ${part}`, hunk: { ...hunk, changes }, heading: part === 0 ? hunk.content : "" };
    });
  });
}

/** Where a comment on the line belongs. */
export function sideOf(change: ChangeData): { readonly side: "old" | "new"; readonly line: number } {
  if (change.type === "delete") return { side: "old", line: change.lineNumber };
  return { side: "new", line: change.type === "insert" ? change.lineNumber : change.newLineNumber };
}

/** Whether two parts show the same: a patch that has got another page is read again as a whole. */
export function isSamePiece(one: Piece, other: Piece): boolean {
  const [a, b] = [one.hunk.changes, other.hunk.changes];
  return (
    one.key === other.key &&
    one.heading === other.heading &&
    a.length === b.length &&
    a.every((change, i) => change.type === b[i]?.type && change.content === b[i]?.content)
  );
}
