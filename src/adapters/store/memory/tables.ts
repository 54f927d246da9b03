import type { Effect, TaskEvent } from "../../../engine/decision.ts";
import type { Task } from "../../../engine/task.ts";
import type { Failure, Project, StoredDocument, StoredEffect, StoredEvent } from "../../../ports/store.ts";
import { dueAt } from "../due-at.ts";
import { taskMissing } from "../faults.ts";
import { frozenCopy, type Snapshot, snapshot } from "./snapshot.ts";

/** Runs something at once and in one piece: nothing else happens between its beginning and its end. */
export type Run = <T>(run: () => T) => Promise<T>;

/** Everything the store remembers. */
export interface Tables {
  readonly projects: Map<string, ProjectRow>;
  /** By hash. */
  readonly workflows: Map<string, { readonly name: string; readonly text: string }>;
  /** By id, the oldest first. */
  readonly tasks: Map<string, TaskRow>;
  /** The oldest first. */
  events: StoredEvent[];
  readonly effects: Map<number, EffectRow>;
  /** The tasks that have open effects, with these in order. */
  readonly open: Map<TaskRow, readonly EffectRow[]>;
  /** The last number given of each kind; none is given twice. */
  readonly last: { task: number; number: number };
  /** Records of each kind by id, in the order in which they came. */
  readonly kept: Readonly<Record<Kind, Map<string, KeptRow>>>;
}

export type Kind = (typeof kinds)[number];

const kinds = [
  ...(["agents", "workspaces", "runs", "credentials"] as const),
  ...(["findings", "messages", "conversations", "usage", "merges", "pullRequests", "calls"] as const),
] as const;

export interface KeptRow {
  readonly project: string;
  readonly task: string;
  readonly at: number;
  readonly data: Snapshot<unknown>;
}

export interface ProjectRow {
  data: Snapshot<Project>;
  lastNumber: number;
}

export interface TaskRow {
  readonly id: string;
  readonly project: string;
  readonly number: number;
  readonly order: number;
  readonly createdAt: number;
  readonly effects: EffectRow[];
  readonly artifacts: string[];
  branch: string;
  status: string;
  parent: string;
  isOpen: boolean;
  revision: number;
  updatedAt: number;
  data: Snapshot<Task>;
  document: Snapshot<StoredDocument>;
}

export interface EffectRow {
  readonly id: number;
  readonly task: TaskRow;
  readonly entry: number;
  readonly effect: Snapshot<Effect>;
  state: StoredEffect["state"];
  dueAt: number;
  tries: number;
  failure: Failure | undefined;
}

/** What happens to a task at once. */
interface Happening {
  readonly revision: number;
  readonly entry?: number;
  readonly at: number;
  readonly events: readonly TaskEvent[];
  readonly effects?: readonly Effect[];
}

interface Rows {
  readonly events: readonly StoredEvent[];
  readonly effects: readonly EffectRow[];
}

export function createTables(): Tables {
  return {
    projects: new Map(),
    workflows: new Map(),
    tasks: new Map(),
    events: [],
    effects: new Map(),
    open: new Map(),
    last: { task: 0, number: 0 },
    kept: Object.fromEntries(kinds.map((kind) => [kind, new Map()])) as Tables["kept"],
  };
}

export function mustHaveTask(tables: Tables, id: string): TaskRow {
  const row = tables.tasks.get(id);
  if (row === undefined) throw taskMissing(id);
  return row;
}

/**
 * The rows for new events and effects. They change nothing yet, because what cannot be written as text must leave no trace.
 * Events and effects have their numbers out of one count.
 */
export function prepare(
  tables: Tables,
  task: TaskRow,
  { revision, entry = 0, at, events, effects = [] }: Happening,
): Rows {
  const { id, project } = task;
  const { number } = tables.last;
  return {
    events: events.map((event, i) => {
      return { position: number + 1 + i, task: id, project, revision, at, event: frozenEvent(event) };
    }),
    effects: effects.map((effect, i) => ({
      ...{ id: number + events.length + 1 + i, task, entry, effect: snapshot(effect) },
      ...{ state: "owed", dueAt: dueAt(effect, at), tries: 0, failure: undefined },
    })),
  };
}

/** What an event takes away from its task is undefined in it, which JSON would leave out. */
function frozenEvent({ type, by, data, set }: TaskEvent): TaskEvent {
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(set)) changes[key] = value === undefined ? undefined : frozenCopy(value);
  return Object.freeze({ ...frozenCopy({ type, by, data }), set: Object.freeze(changes) }) as TaskEvent;
}

export function keep(tables: Tables, task: TaskRow, { events, effects }: Rows): void {
  tables.events.push(...events);
  for (const effect of effects) tables.effects.set(effect.id, effect);
  tables.last.number += events.length + effects.length;
  task.effects.push(...effects);
  noteOpen(tables, task);
}

/** To be called whenever effects of a task have changed. */
export function noteOpen(tables: Tables, task: TaskRow): void {
  const open = task.effects.filter(isOpen);
  if (open.length === 0) tables.open.delete(task);
  else tables.open.set(task, open);
}

export function isOpen({ state }: EffectRow): boolean {
  return state === "owed" || state === "failed";
}

/** Forgets a task and all that belongs to it. */
export function removeTasks(tables: Tables, rows: readonly TaskRow[]): void {
  const ids = new Set(rows.map((row) => row.id));
  tables.events = tables.events.filter((event) => !ids.has(event.task));
  for (const row of rows) {
    for (const effect of row.effects) tables.effects.delete(effect.id);
    tables.open.delete(row);
    tables.tasks.delete(row.id);
  }
  forget(tables, ({ task }) => ids.has(task));
}

/** Forgets the records that a task or a project had. */
export function forget({ kept }: Tables, isGone: (row: KeptRow) => boolean): void {
  for (const kind of kinds) {
    for (const [id, row] of kept[kind]) if (isGone(row)) kept[kind].delete(id);
  }
}
