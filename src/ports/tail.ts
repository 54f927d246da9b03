/** Reads files that grow, a line at a time, and only what was added. */
export interface Tails {
  /** Begins at a byte; what is there before it is not read. A file that is not there yet has nothing in it. */
  open(path: string, from: number): Tail;
  /** Calls whenever something in a folder may have changed. Returns what stops the calls. */
  watch(folder: string, listener: () => void): () => void;
}

export interface Tail {
  /** The lines that were completed since the last read. */
  read(): Promise<readonly string[]>;
  /** The byte behind the last complete line. */
  position(): number;
}
