import { boolean, integer, list, nullable, oneOf, record, type TypeOf, text } from "./wire.ts";

export const workspaceWire = record({
  project: text,
  path: text,
  kind: oneOf("worktree", "clone"),
  /** The task that has it; null where it is free. */
  task: nullable(record({ id: text, number: integer(0), summary: text })),
  /** What is checked out; null where that is no branch, or cannot be read. */
  branch: nullable(text),
  state: oneOf("clean", "dirty", "broken", "missing"),
  /** What is wrong with it, as a sentence; empty where nothing is. */
  reason: text,
  /** In bytes. Of a very large one, what was counted. */
  size: integer(0),
  isCut: boolean,
});
export type WorkspaceView = TypeOf<typeof workspaceWire>;

export const cleanedWire = record({
  what: oneOf("release", "adopt", "remove", "delete", "keep"),
  project: text,
  /** A folder, or "the branch NAME". */
  path: text,
  /** A sentence. */
  reason: text,
  /** In bytes; 0 where nobody counted. */
  freed: integer(0),
});
export type CleanedView = TypeOf<typeof cleanedWire>;

export const salvagedWire = record({
  /** Short: `<task>/<time>`. */
  ref: text,
  project: text,
  task: text,
  at: text,
  /** What was changed or new, and how large that is in bytes. */
  files: integer(0),
  size: integer(0),
  /** The first line of the commit that was checked out. */
  on: text,
  /** Repositories that were inside, such as submodules, with commits or files that nobody else has. */
  repositories: list(text),
  commit: text,
  /** Why it cannot be read; empty where it can. */
  problem: text,
});
export type SalvagedView = TypeOf<typeof salvagedWire>;
