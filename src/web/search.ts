// What the URL holds of each screen: filters, order and selection, so that a link shows the same.

type Raw = Readonly<Record<string, unknown>>;

export interface PageSearch {
  /** Only this project. */
  readonly project?: string;
}

export interface InboxSearch {
  readonly task?: string;
  /** Also those that are hidden until later. */
  readonly snoozed?: "true";
}

export interface BoardSearch {
  readonly workflow?: string;
  readonly q?: string;
  readonly label?: string;
  readonly sort?: BoardSort;
  readonly task?: string;
}

export const boardSorts = ["newest", "updated", "waiting", "priority", "cost"] as const;
export type BoardSort = (typeof boardSorts)[number];

export const taskParts = ["overview", "task-file", "agent", "changes", "findings", "checks", "history"] as const;
export type TaskPartName = (typeof taskParts)[number];

export interface TaskSearch {
  readonly part?: TaskPartName;
  readonly run?: string;
  readonly file?: string;
}

export function readPageSearch(raw: Raw): PageSearch {
  return named(raw, "project");
}

export function readInboxSearch(raw: Raw): InboxSearch {
  const isAll = raw.snoozed === true || raw.snoozed === "true";
  return { ...named(raw, "task"), ...(isAll ? { snoozed: "true" } : {}) };
}

export function readBoardSearch(raw: Raw): BoardSearch {
  const sort = boardSorts.find((each) => each === raw.sort);
  return {
    ...named(raw, "workflow"),
    ...named(raw, "q"),
    ...named(raw, "label"),
    ...named(raw, "task"),
    ...(sort === undefined ? {} : { sort }),
  };
}

export function readTaskSearch(raw: Raw): TaskSearch {
  const part = taskParts.find((each) => each === raw.part);
  return { ...named(raw, "run"), ...named(raw, "file"), ...(part === undefined ? {} : { part }) };
}

/** A text of the search; numbers come as numbers. */
function named<Name extends string>(raw: Raw, name: Name): Partial<Record<Name, string>> {
  const value = raw[name];
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? ({ [name]: text } as Record<Name, string>) : {};
}
