/** Reads growing files line by line, only the appended part. */
export interface Tails {
  /**
   * Continues from the position of an earlier tail, or begins at the start. Reads only regular files. `isOwn`: only
   * Signalbox creates this file, so a link in its place is not followed.
   */
  open(path: string, position?: TailPosition, isOwn?: boolean): Tail;
  /** Calls the listener whenever something in a folder may have changed. Returns a function that stops it. */
  watch(folder: string, listener: () => void): () => void;
}

/**
 * Reads the appended lines of a file that other programs write to. The file may be truncated or replaced meanwhile, or
 * may not exist yet.
 */
export interface Tail {
  /** The lines completed since the last call, at most a megabyte or some ten thousand lines per call. */
  read(): Promise<TailPart>;
}

export interface TailPart {
  readonly lines: readonly TailLine[];
  /** The position from which another tail can continue, even after a restart. */
  readonly position: TailPosition;
  /** There is more that can be read immediately. */
  readonly hasMore: boolean;
  /** The file was replaced or rewritten, and these lines are from its beginning. */
  readonly isAnew: boolean;
  /**
   * Why the file cannot be read: it is not a regular file, or permission is missing. Undefined if it can, or does not
   * exist.
   */
  readonly trouble?: string;
}

export interface TailLine {
  /** Without its line break. Invalid UTF-8 is replaced by U+FFFD. */
  readonly text: string;
  /** It was too long and is truncated. */
  readonly isCut: boolean;
}

/** Plain data, to be stored. */
export interface TailPosition {
  /** Bytes, up to the end of the last complete line. */
  readonly offset: number;
  /** The bytes directly before the offset, in hexadecimal: they distinguish a rewritten file from one that grew. */
  readonly before: string;
}
