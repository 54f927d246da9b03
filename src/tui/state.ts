import type { RunView, UsageRow } from "../api/agents.ts";
import type { EndedMergeView, MergeQueueView } from "../api/overview.ts";
import type { FindingsView } from "../api/person.ts";
import type { TaskRow } from "../api/task-lists.ts";
import type { ActionView, EventView, ExplanationView, TaskView } from "../api/tasks.ts";
import type { Line } from "./line-editor.ts";

export const screenNames = ["tasks", "agents", "events", "problems", "merges", "usage"] as const;
export type ScreenName = (typeof screenNames)[number];

export const tabs = ["explain", "task file", "history", "terminal", "diff", "findings"] as const;
export type Tab = (typeof tabs)[number];

export type Group = TaskRow["group"];

/** Where the cursor is in a list. `top` is the number of the first line; it can be negative, so that nothing moves under the cursor. */
export interface Place {
  readonly key: string;
  readonly top: number;
  /** The number of the line under the cursor when it was drawn last. */
  readonly at: number;
}

/** Which tasks are listed. */
export interface Filter {
  readonly project?: string;
  readonly label?: string;
  readonly group?: Group;
  readonly q: string;
}

/** Something that was done, and how to take it back. */
export interface Deed {
  readonly at: number;
  readonly what: string;
  readonly command: string;
  readonly back: string;
}

export interface Notice {
  readonly text: string;
  readonly role: "good" | "bad" | "quiet";
  /** The CLI command that it was; empty if it was none. */
  readonly command: string;
}

/** A file of a task's changes. */
export interface ChangedFile {
  readonly path: string;
  readonly part: "committed" | "uncommitted";
  readonly added: number | null;
  readonly deleted: number | null;
  readonly status: string;
}

/** What is known of the chosen task. What is missing was not read yet. */
export interface Detail {
  readonly task: string;
  readonly tab: Tab;
  readonly scroll: number;
  readonly column: number;
  readonly explain?: ExplanationView;
  readonly document?: string;
  readonly events?: readonly EventView[];
  readonly findings?: FindingsView;
  readonly files?: readonly ChangedFile[];
  readonly file: number;
  /** The patches that were read, by part and path. */
  readonly patches: Readonly<Record<string, string>>;
  readonly terminal?: Live;
  /** Why a part could not be read. */
  readonly problems: Readonly<Partial<Record<Tab, string>>>;
}

/** The terminal of a run, as a watcher sees it. */
export interface Live {
  readonly run: string;
  readonly lines: readonly string[];
  /** Lines above the screen that were read, the oldest first. */
  readonly above: readonly string[];
  /** How many lines are above the screen. */
  readonly has: number;
  /** Why there is nothing to see, or how it ended; empty while it is live. */
  readonly note: string;
}

export type Overlay =
  | { readonly kind: "help"; readonly line: Line; readonly scroll: number }
  | { readonly kind: "command"; readonly line: Line; readonly offers: readonly string[] }
  | { readonly kind: "search"; readonly line: Line }
  | { readonly kind: "create"; readonly line: Line }
  /** `isArmed`: the question has been seen; keys before do not answer it. */
  | { readonly kind: "confirm"; readonly ask: Asking; readonly lines: readonly string[]; readonly isArmed: boolean }
  | { readonly kind: "say"; readonly ask: Asking; readonly line: Line; readonly prompt: string }
  | {
      readonly kind: "peek";
      readonly task: string;
      readonly line: Line;
      readonly ask?: Asking;
      readonly screen: readonly string[];
    }
  | { readonly kind: "pick"; readonly title: string; readonly options: readonly Option[]; readonly at: number }
  | { readonly kind: "text"; readonly title: string; readonly lines: readonly string[]; readonly scroll: number };

/** An action that is about to be taken. */
export interface Asking {
  readonly action: ActionView;
  /** The tasks, each at the revision that was on the screen. */
  readonly tasks: readonly {
    readonly id: string;
    readonly name: string;
    readonly revision: number;
    readonly action: ActionView;
  }[];
}

export interface Option {
  readonly label: string;
  readonly effect: Effect;
}

/** What is to be done outside of the state. */
export type Effect =
  | { readonly do: "quit" }
  | { readonly do: "suspend" }
  | { readonly do: "plain" }
  | { readonly do: "redraw" }
  /** Take the action with this key, for these tasks. */
  | { readonly do: "press"; readonly key: string; readonly tasks: readonly string[] }
  | { readonly do: "perform"; readonly ask: Asking; readonly text?: string }
  | { readonly do: "peek"; readonly task: string }
  | { readonly do: "filter"; readonly filter: Partial<Filter> }
  | { readonly do: "create"; readonly text: string }
  | { readonly do: "copy"; readonly text: string }
  /** Runs a command in the terminal. `isQuiet`: comes back without a question if it succeeds. */
  | { readonly do: "command"; readonly words: readonly string[]; readonly isQuiet: boolean }
  | { readonly do: "offers"; readonly text: string }
  | { readonly do: "edit"; readonly text: string }
  | { readonly do: "more" }
  | { readonly do: "scrollback" };

export interface State {
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
  /** When the person pressed something last. */
  readonly touchedAt: number;
  readonly screen: ScreenName;
  readonly places: Readonly<Record<ScreenName, Place>>;
  readonly tasks: readonly TaskRow[];
  readonly counts: Readonly<Record<Group, number>> | undefined;
  /** Runs that have not ended, by id. */
  readonly runs: ReadonlyMap<string, RunView>;
  readonly filter: Filter;
  readonly projects: readonly string[];
  readonly isUnfolded: boolean;
  readonly hasMore: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly detail: Detail | undefined;
  /** The actions of the task under the cursor. */
  readonly actions: { readonly task: TaskView; readonly list: readonly ActionView[] } | undefined;
  readonly focus: "list" | "detail";
  /** How wide the detail is: 0 is none. */
  readonly share: number;
  readonly overlay: Overlay | undefined;
  readonly notice: Notice | undefined;
  readonly events: readonly EventView[];
  readonly merges:
    | { readonly queues: readonly MergeQueueView[]; readonly ended: readonly EndedMergeView[] }
    | undefined;
  readonly usage: { readonly by: string; readonly rows: readonly UsageRow[]; readonly total: UsageRow } | undefined;
  /** Problems of the whole, besides those of tasks: what, and the command that helps. */
  readonly troubles: readonly { readonly text: string; readonly command: string }[];
  /** Since when the daemon has not answered; undefined while it does. */
  readonly goneSince: number | undefined;
  readonly isLoaded: boolean;
  readonly deeds: readonly Deed[];
  /** The first key of a sequence such as `g t`; empty if none was pressed. */
  readonly pending: string;
  /** When the last key was pressed since one that was to open a field; undefined once the field is open, or the person has paused. */
  readonly typedAt: number | undefined;
}

const start: Place = { key: "", top: 0, at: 0 };

export function initialState(columns: number, rows: number, now: number, project: string | undefined): State {
  return {
    columns,
    rows,
    now,
    touchedAt: now,
    screen: "tasks",
    places: { tasks: start, agents: start, events: start, problems: start, merges: start, usage: start },
    tasks: [],
    counts: undefined,
    runs: new Map(),
    filter: { q: "", ...(project === undefined ? {} : { project }) },
    projects: [],
    isUnfolded: false,
    hasMore: false,
    chosen: new Set(),
    detail: undefined,
    actions: undefined,
    focus: "list",
    share: 0.45,
    overlay: undefined,
    notice: undefined,
    events: [],
    merges: undefined,
    usage: undefined,
    troubles: [],
    goneSince: undefined,
    isLoaded: false,
    deeds: [],
    pending: "",
    typedAt: undefined,
  };
}

/** `coffee#12` */
export function nameOf({ project, number }: Pick<TaskRow, "project" | "number">): string {
  return `${project}#${number}`;
}

export function taskOf(state: State, id: string): TaskRow | undefined {
  return state.tasks.find((task) => task.id === id);
}

export type { ActionView, TaskRow };
