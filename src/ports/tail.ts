/** Reads files that grow, a line at a time, and only what was added. */
export interface Tails {
  /**
   * Goes on where an earlier tail had come to; from the beginning where nothing is said. Only a plain file is ever read.
   * `isOwn`: nobody but us makes it, so that it is not read either where somebody has put a link in its place.
   */
  open(path: string, position?: TailPosition, isOwn?: boolean): Tail;
  /** Calls whenever something in a folder may have changed. Returns what stops the calls. */
  watch(folder: string, listener: () => void): () => void;
}

/**
 * Reads a file of lines that others write to, from where it was left off: only what was appended is read. The file may be
 * cut off or replaced under it, or not be there yet.
 */
export interface Tail {
  /** What was completed since the last call, at most a megabyte, or some ten thousand lines, at a time. */
  read(): Promise<TailPart>;
}

export interface TailPart {
  readonly lines: readonly TailLine[];
  /** From here another tail would go on, today or tomorrow. */
  readonly position: TailPosition;
  /** There is more to be read at once. */
  readonly hasMore: boolean;
  /** These lines are from a file that has taken the place of the one before, or was written anew: from its beginning. */
  readonly isAnew: boolean;
  /** Why nothing can be read: something else is in the file's place, or we may not. Nothing where it can, or is not there yet. */
  readonly trouble?: string;
}

export interface TailLine {
  /** Without its end. What is not UTF-8 has become U+FFFD. */
  readonly text: string;
  /** It was too long, and its end is missing. */
  readonly isCut: boolean;
}

/** Plain data, to be stored. */
export interface TailPosition {
  /** Bytes, up to the end of the last complete line. */
  readonly offset: number;
  /** What stands directly before, in hexadecimal digits: how a file that was written anew is told from one that grew. */
  readonly before: string;
}
