import { route } from "./client.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const fileStatus = oneOf("added", "deleted", "modified", "renamed", "type");

const partWire = record({
  files: list(
    record(
      /** The counts of lines are null for a binary file; `from` is the old name of a renamed file. */
      { path: text, from: nullable(text), added: nullable(integer(0)), deleted: nullable(integer(0)) },
      /** With `files` only. type: from a file to a link, or the like. */
      { status: fileStatus, binary: boolean },
    ),
  ),
  /** A patch, as git writes it; empty if it was not asked for. */
  text,
  /** The lists or the patch are truncated. */
  isCut: boolean,
});
export type DiffPart = TypeOf<typeof partWire>;

/** A page of the patch of one file. The pages one after the other are the patch, as git writes it. */
const filePatchWire = record({
  path: text,
  part: oneOf("committed", "uncommitted"),
  binary: boolean,
  /** Empty for a binary file. Of a hidden line it has only the first character. */
  text,
  /** The number of the first line of `text` in the whole patch, from 0. */
  first: integer(0),
  /** To be given as `next` for the following page; null on the last one. */
  next: nullable(text),
  /** The lines that are too long to be sent: their numbers in the whole patch, and their sizes. */
  hidden: list(record({ line: integer(0), bytes: integer(0) })),
});
export type FilePatch = TypeOf<typeof filePatchWire>;

const diffWire = record(
  {
    /** The branch that it is compared with, and the commit that it begins at: their merge base, unless another was asked for. Empty if there is nothing to compare. */
    target: text,
    base: text,
    commit: text,
    committed: partWire,
    /** Null if everything is committed, or if it was not asked for. */
    uncommitted: nullable(partWire),
    /** What of the things that decide about work the commit changes, in words. */
    protectedChanges: list(text),
    workspace: text,
  },
  /** With `path` only. */
  { file: filePatchWire },
);
export type DiffView = TypeOf<typeof diffWire>;

/** The routes about a task's changes. */
export const workRoutes = {
  diffTask: route({
    name: "diffTask",
    method: "GET",
    path: "/v1/tasks/:task/diff",
    summary:
      "Show a task's changes since it began, and the uncommitted changes in its workspace; or list the files, or show one",
    access: "run",
    query: record(
      {},
      {
        project: shortText(100),
        text: oneOf("true", "false"),
        committed: oneOf("true", "false"),
        sinceReview: oneOf("true", "false"),
        /** Only list the files, with what happened to each. */
        files: oneOf("true"),
        /** Only the patch of this file, named as in the list: 2,000 lines, and with `next` the following ones. */
        path: shortText(4_000),
        next: shortText(200),
        /** Which of the two lists the file is in; otherwise the committed one. */
        part: oneOf("committed", "uncommitted"),
        /** Begin at this commit; `seen`: at the one that the person marked as seen, or was shown, last. */
        from: shortText(64),
      },
    ),
    answer: diffWire,
  }),
  fetchTask: route({
    name: "fetchTask",
    method: "POST",
    path: "/v1/tasks/:task/fetch",
    summary: "Bring a task's commits into the user's repository, as a branch",
    access: "person",
    isNoted: true,
    query: record({}, { project: shortText(100) }),
    /** Another name for the branch. */
    body: record({}, { as: shortText(200) }),
    answer: record({
      branch: text,
      commit: text,
      /** The user's repository. */
      repository: text,
      /** there: the branch had the commit already. */
      how: oneOf("created", "forwarded", "there"),
    }),
  }),
} as const;
