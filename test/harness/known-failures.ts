import type { Pinned } from "./pinned.ts";

/** What does not work, and is not ours to repair. The table shows it, and nothing fails because of it. */
export interface KnownFailure {
  readonly program: Pinned;
  /** In which it was seen; another one is tried as if nothing were known. */
  readonly version: string;
  /** The name of a row. */
  readonly behaviour: string;
  readonly why: string;
  /** A command line that shows it without us. */
  readonly reproduction: string;
}

export const knownFailures: readonly KnownFailure[] = [];
