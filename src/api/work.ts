import { route } from "./client.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const partWire = record({
  /** The counts of lines are null for a binary file; `from` is the old name of a renamed file. */
  files: list(record({ path: text, from: nullable(text), added: nullable(integer(0)), deleted: nullable(integer(0)) })),
  /** A patch, as git writes it; empty if it was not asked for. */
  text,
  /** The lists or the patch are truncated. */
  isCut: boolean,
});
export type DiffPart = TypeOf<typeof partWire>;

const diffWire = record({
  /** The branch that it is compared with, and their merge base. Empty if there is nothing to compare. */
  target: text,
  base: text,
  commit: text,
  committed: partWire,
  /** Null if everything is committed, or if it was not asked for. */
  uncommitted: nullable(partWire),
  /** What of the things that decide about work the commit changes, in words. */
  protectedChanges: list(text),
  workspace: text,
});
export type DiffView = TypeOf<typeof diffWire>;

/** The routes about a task's changes. */
export const workRoutes = {
  diffTask: route({
    name: "diffTask",
    method: "GET",
    path: "/v1/tasks/:task/diff",
    summary: "Show a task's changes since it began, and the uncommitted changes in its workspace",
    access: "run",
    query: record(
      {},
      {
        project: shortText(100),
        text: oneOf("true", "false"),
        committed: oneOf("true", "false"),
        sinceReview: oneOf("true", "false"),
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
