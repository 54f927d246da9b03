/** Time, so that tests and rehearsals can do without it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` once, after this many milliseconds; the result stops it. */
  after(milliseconds: number, run: () => void): () => void;
}
