import { route } from "./client.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const workspaceWire = record({
  project: text,
  path: text,
  kind: oneOf("worktree", "clone"),
  /** The task that it is bound to; null if it is free. */
  task: nullable(record({ id: text, number: integer(0), summary: text })),
  /** The checked-out branch; null if HEAD is on no branch, or cannot be read. */
  branch: nullable(text),
  state: oneOf("clean", "dirty", "broken", "missing"),
  /** What is wrong with it, in sentences; empty if nothing is. */
  reason: text,
  /** Whether it was set aside, because its contents could not be saved. No task gets it. */
  isUnsaved: boolean,
  /** In bytes. For a very large workspace, the part that was counted. */
  size: integer(0),
  isCut: boolean,
});
export type WorkspaceView = TypeOf<typeof workspaceWire>;

const cleanedWire = record({
  what: oneOf("release", "adopt", "remove", "delete", "keep"),
  project: text,
  /** A folder, or "the branch NAME". */
  path: text,
  /** A sentence. */
  reason: text,
  /** In bytes; 0 if it was not counted. */
  freed: integer(0),
});
export type CleanedView = TypeOf<typeof cleanedWire>;

const salvagedWire = record({
  /** Short: `<task>/<time>`. */
  ref: text,
  project: text,
  task: text,
  at: text,
  /** The number of changed or new files, and their size in bytes. */
  files: integer(0),
  size: integer(0),
  /** The subject of the commit that was checked out. */
  on: text,
  /** Nested repositories, such as submodules, that had commits or files found nowhere else. */
  repositories: list(text),
  commit: text,
  /** Why it cannot be read; empty if it can. */
  problem: text,
});
export type SalvagedView = TypeOf<typeof salvagedWire>;

const name = shortText(100);

/** The routes about workspaces and salvage. */
export const workspaceRoutes = {
  listWorkspaces: route({
    name: "listWorkspaces",
    method: "GET",
    path: "/v1/workspaces",
    summary: "List the workspaces, their branches and their sizes",
    access: "person",
    query: record({}, { project: name }),
    answer: record({
      workspaces: list(workspaceWire),
      /** In bytes. */
      size: integer(0),
      trash: record({ folders: integer(0), size: integer(0) }),
    }),
  }),
  cleanWorkspaces: route({
    name: "cleanWorkspaces",
    method: "POST",
    path: "/v1/workspaces/gc",
    summary: "Release, remove and delete workspaces and files that are no longer needed, or show which",
    access: "person",
    isNoted: true,
    body: record({}, { project: name, dryRun: boolean }),
    answer: record({ done: list(cleanedWire) }),
  }),
  listSalvage: route({
    name: "listSalvage",
    method: "GET",
    path: "/v1/salvage",
    summary: "List the salvages, the newest first",
    access: "person",
    query: record({}, { project: name }),
    answer: record({
      salvaged: list(salvagedWire),
      /** The projects whose salvages cannot be read, and why. */
      unreadable: list(record({ project: text, problem: text })),
    }),
  }),
  restoreSalvage: route({
    name: "restoreSalvage",
    method: "POST",
    path: "/v1/salvage/restore",
    summary: "Write a salvage into a new folder, or make a branch of it in the repository",
    access: "person",
    isNoted: true,
    body: record({ ref: shortText(1_000) }, { folder: shortText(4_000), branch: name }),
    answer: record({ ref: text, folder: nullable(text), branch: nullable(text), commit: text }),
  }),
  dropSalvage: route({
    name: "dropSalvage",
    method: "POST",
    path: "/v1/salvage/drop",
    summary: "Forget the salvage under a ref",
    access: "person",
    isNoted: true,
    body: record({ ref: shortText(1_000) }),
    answer: record({ ref: text, commit: text }),
  }),
} as const;
