import { route } from "./route.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const partWire = record({
  /** Lines are null where a file does not consist of them; `from` is the old name of a renamed file. */
  files: list(record({ path: text, from: nullable(text), added: nullable(integer(0)), deleted: nullable(integer(0)) })),
  /** A patch, as git writes it; empty where it is not asked for. */
  text,
  /** There is more than is told. */
  isCut: boolean,
});
export type DiffPart = TypeOf<typeof partWire>;

const diffWire = record({
  /** The branch that it is compared with, and the commit where both parted. Empty where there is nothing to compare. */
  target: text,
  base: text,
  commit: text,
  committed: partWire,
  /** Null where everything is committed, or where that was not asked for. */
  uncommitted: nullable(partWire),
  workspace: text,
});
export type DiffView = TypeOf<typeof diffWire>;

/** What a task's work looks like. */
export const workRoutes = {
  diffTask: route({
    name: "diffTask",
    method: "GET",
    path: "/v1/tasks/:task/diff",
    summary: "Show what a task has changed since it began, and what is uncommitted in its workspace",
    access: "read",
    query: record({}, { project: shortText(100), text: oneOf("true", "false"), committed: oneOf("true", "false") }),
    answer: diffWire,
  }),
} as const;
