import type { FileName } from "./git.ts";

/** One page of the patch of one file. */
export interface PatchPage {
  /** How many lines of the patch come before the page. */
  readonly after: number;
  /** At most this many lines. */
  readonly lines: number;
  /** At most this many bytes; a page has at least one line. */
  readonly bytes: number;
  /** A longer line is not read: `PatchPart.hidden` names it. In bytes. */
  readonly longestLine: number;
}

export interface PatchPart {
  /** Whole lines of the patch. A hidden line has only its first character, which says whether it was added or deleted. */
  readonly bytes: Uint8Array;
  /** How many lines `bytes` has. */
  readonly lines: number;
  /** Whether more lines follow. */
  readonly hasMore: boolean;
  /** The lines that were not read, counted from 0 in the whole patch, and their sizes in bytes. */
  readonly hidden: readonly HiddenLine[];
}

export interface HiddenLine {
  readonly line: number;
  readonly bytes: number;
}

/** Which patch to read: of the file that had the name `from` before, if it was renamed. */
export interface PatchOrder {
  readonly path: FileName;
  readonly from: FileName | undefined;
  readonly page: PatchPage;
}

export interface FilePatches {
  /** A page of one file's patch between two commits. Never holds more than a page in memory. */
  diffFile(from: string, to: string, order: PatchOrder): Promise<PatchPart>;
}
