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

export const agentSorts = ["task", "newest", "activity"] as const;
export const agentShows = ["at-work", "needs-me"] as const;

export interface AgentsSearch {
  readonly q?: string;
  readonly show?: (typeof agentShows)[number];
  readonly sort?: (typeof agentSorts)[number];
  /** The id of the chosen run. */
  readonly run?: string;
}

/** How far back the time line goes. */
export const timeWindows = ["1h", "6h", "1d", "3d", "7d", "30d"] as const;
export const timelineSorts = ["updated", "created", "waiting", "cost"] as const;

export interface TimelineSearch {
  readonly window?: (typeof timeWindows)[number];
  readonly q?: string;
  readonly sort?: (typeof timelineSorts)[number];
  /** Idle stretches are drawn in their full length. */
  readonly fold?: "off";
  readonly task?: string;
}

export const usageKeys = ["day", "project", "task", "agent", "role", "harness", "model"] as const;
export type UsageKey = (typeof usageKeys)[number];
export const usageWindows = ["1d", "7d", "30d", "90d", "all"] as const;

export interface UsageSearch {
  readonly by?: UsageKey;
  readonly and?: UsageKey | "none";
  readonly window?: (typeof usageWindows)[number];
  readonly measure?: "tokens";
  readonly sort?: (typeof usageSorts)[number];
  readonly row?: string;
}
export const usageSorts = ["name", "cost", "tokens", "runs", "duration"] as const;

export const workflowViews = ["graph", "text", "findings"] as const;

export interface WorkflowsSearch {
  readonly q?: string;
  /** `project/name`, or a name. */
  readonly workflow?: string;
  readonly view?: (typeof workflowViews)[number];
  readonly state?: string;
}

export const mergeShows = ["merged", "failed"] as const;

export interface MergesSearch {
  /** Of those that have ended. */
  readonly show?: (typeof mergeShows)[number];
  readonly target?: string;
  readonly task?: string;
}

export const settingsParts = ["configuration", "doctor", "browsers", "notifications"] as const;

export interface SettingsSearch {
  readonly part?: (typeof settingsParts)[number];
  readonly q?: string;
  /** Only settings that somebody has set, or checks that found something. */
  readonly show?: "set";
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

export function readAgentsSearch(raw: Raw): AgentsSearch {
  return {
    ...named(raw, "q"),
    ...named(raw, "run"),
    ...oneOf(raw, "show", agentShows),
    ...oneOf(raw, "sort", agentSorts),
  };
}

export function readTimelineSearch(raw: Raw): TimelineSearch {
  return {
    ...named(raw, "q"),
    ...named(raw, "task"),
    ...oneOf(raw, "window", timeWindows),
    ...oneOf(raw, "sort", timelineSorts),
    ...oneOf(raw, "fold", ["off"]),
  };
}

export function readUsageSearch(raw: Raw): UsageSearch {
  return {
    ...named(raw, "row"),
    ...oneOf(raw, "by", usageKeys),
    ...oneOf(raw, "and", [...usageKeys, "none"]),
    ...oneOf(raw, "window", usageWindows),
    ...oneOf(raw, "measure", ["tokens"]),
    ...oneOf(raw, "sort", usageSorts),
  };
}

export function readWorkflowsSearch(raw: Raw): WorkflowsSearch {
  return {
    ...named(raw, "q"),
    ...named(raw, "workflow"),
    ...named(raw, "state"),
    ...oneOf(raw, "view", workflowViews),
  };
}

export function readMergesSearch(raw: Raw): MergesSearch {
  return { ...named(raw, "target"), ...named(raw, "task"), ...oneOf(raw, "show", mergeShows) };
}

export function readSettingsSearch(raw: Raw): SettingsSearch {
  return { ...named(raw, "q"), ...oneOf(raw, "part", settingsParts), ...oneOf(raw, "show", ["set"]) };
}

function oneOf<Name extends string, const Value extends string>(
  raw: Raw,
  name: Name,
  values: readonly Value[],
): Partial<Record<Name, Value>> {
  const value = values.find((each) => each === raw[name]);
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

/** A text of the search; numbers come as numbers. */
function named<Name extends string>(raw: Raw, name: Name): Partial<Record<Name, string>> {
  const value = raw[name];
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? ({ [name]: text } as Record<Name, string>) : {};
}
