import { dueAt, effectMissing, readReference, taskMissing } from "../../src/adapters/sqlite/faults.ts";
import type { Effect, TaskEvent } from "../../src/engine/decision.ts";
import type { Task } from "../../src/engine/task.ts";
import type {
  Failure,
  Project,
  Store,
  StoredDocument,
  StoredEffect,
  StoredEvent,
  StoredTask,
  TaskFilter,
} from "../../src/ports/store.ts";

type Effects = Pick<
  Store,
  "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
>;

/** The effects of tasks. */
export function createEffects(tables: Tables, read: Run, write: Run): Effects {
  // In order per task: effects wait for earlier ones that are owed or have failed.
  const firsts = () => [...tables.open.values()].flatMap(([first]) => (first?.state === "owed" ? [first] : []));
  const change = (id: number, how: (row: EffectRow) => void) => {
    const row = tables.effects.get(id);
    if (row === undefined) throw effectMissing(id);
    if (!isOpen(row)) return;
    how(row);
    noteOpen(tables, row.task);
  };

  return {
    dueEffects: (now, limit) =>
      read(() =>
        firsts()
          .filter((row) => row.dueAt <= now)
          .sort((one, other) => one.dueAt - other.dueAt || one.id - other.id)
          .slice(0, limit)
          .map(toEffect),
      ),
    nextDue: (now) =>
      read(() => {
        const later = firsts().flatMap((row) => (row.dueAt > now ? [row.dueAt] : []));
        return later.length === 0 ? undefined : later.reduce((one, other) => Math.min(one, other));
      }),
    listEffects: (task) => read(() => (tables.tasks.get(task)?.effects ?? []).map(toEffect)),
    openEffects: (task) => read(() => (tables.tasks.get(task)?.effects ?? []).filter(isOpen).map(toEffect)),
    finishEffect: (id, at, note) =>
      write(() =>
        change(id, (row) => {
          const { task } = row;
          const happened = prepare(tables, task, {
            revision: task.revision,
            at,
            events: note === undefined ? [] : [note],
          });
          row.state = "done";
          keep(tables, task, happened);
        }),
      ),
    failEffect: (id, failure, retryAt) =>
      write(() =>
        change(id, (row) => {
          row.state = retryAt === undefined ? "failed" : "owed";
          row.tries++;
          row.failure = { ...failure };
          row.dueAt = retryAt ?? row.dueAt;
        }),
      ),
    retryEffects: (task, at) =>
      write(() => {
        const row = tables.tasks.get(task);
        return row === undefined ? 0 : retryFailed(row, at);
      }),
  };
}

/** Makes the failed effects of a task owed again; returns their number. */
export function retryFailed({ effects }: Pick<TaskRow, "effects">, at: number): number {
  const failed = effects.filter((row) => row.state === "failed");
  for (const row of failed) Object.assign(row, { state: "owed", dueAt: at });
  return failed.length;
}

function toEffect({ id, task, entry, effect, state, dueAt, tries, failure }: EffectRow): StoredEffect {
  return { id, task: task.id, entry, effect: effect.read(), state, dueAt, tries, failure };
}

/** Finding tasks. */
export function createLists({ tasks }: Tables, read: Run): Pick<Store, "getTask" | "findTask" | "listTasks"> {
  const only = (rows: readonly (TaskRow | undefined)[]) => {
    const [row, another] = rows;
    return row === undefined || another !== undefined ? undefined : toStoredTask(row);
  };
  const where = (condition: (row: TaskRow) => boolean) => [...tasks.values()].filter(condition);

  return {
    getTask: (id) => read(() => only([tasks.get(id)])),
    findTask: (reference, project = "") =>
      read(() => {
        const numbered = readReference(reference, project);
        const hasBranch = (row: TaskRow) => row.isOpen && row.branch === reference && row.branch !== "";
        return (
          only([tasks.get(reference)]) ??
          only(where((row) => row.project === numbered?.project && row.number === numbered.number)) ??
          only(where((row) => hasBranch(row) && (project === "" || row.project === project)))
        );
      }),
    listTasks: (filter, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      read(() =>
        where((row) => row.order < before && fits(row, filter))
          .reverse()
          .slice(0, limit)
          .map(toStoredTask),
      ),
  };
}

function fits(row: TaskRow, filter: TaskFilter): boolean {
  const { project = row.project, status = row.status, parent = row.parent, isOpen = row.isOpen } = filter;
  return row.project === project && row.status === status && row.parent === parent && row.isOpen === isOpen;
}

export function toStoredTask(row: TaskRow): StoredTask {
  const { data, revision, isOpen, createdAt, updatedAt, enteredAt, order } = row;
  return { task: data.read(), revision, isOpen, createdAt, updatedAt, enteredAt, order };
}

/** An immutable copy of a value, as a JSON round trip would make it. */
export interface Snapshot<T> {
  read(): T;
  toJSON(): string;
}

export function snapshot<T>(value: T): Snapshot<T> {
  const kept = frozenCopy(value);
  return { read: () => kept, toJSON: () => JSON.stringify(kept) };
}

/** Copies plain data, in a third of the time of a JSON round trip. Refuses what JSON refuses. */
export function frozenCopy<T>(value: T): T {
  const copied = copyPlain(value, 0);
  return (copied === odd ? freeze(JSON.parse(JSON.stringify(value))) : copied) as T;
}

/** Marks a value that JSON does not return unchanged. */
const odd = Symbol("odd");

/** Deeper than any stored value: a deeper value may be circular, and JSON reports that. */
const maxDepth = 50;

function copyPlain(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // JSON has one zero.
      return Number.isFinite(value) ? value + 0 : odd;
    case "object":
      if (value === null) return null;
      if (depth === maxDepth) return odd;
      return Array.isArray(value) ? copyList(value, depth + 1) : copyRecord(value, depth + 1);
    default:
      return odd;
  }
}

function copyList(list: readonly unknown[], depth: number): unknown {
  const copies: unknown[] = [];
  for (const each of list) {
    const copy = copyPlain(each, depth);
    if (copy === odd) return odd;
    copies.push(copy);
  }
  return Object.freeze(copies);
}

function copyRecord(record: object, depth: number): unknown {
  const prototype = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) return odd;
  const copies: Record<string, unknown> = {};
  for (const key in record) {
    const each = (record as Record<string, unknown>)[key];
    if (each === undefined) continue;
    // Most fields are texts.
    const copy = typeof each === "string" ? each : copyPlain(each, depth);
    if (copy === odd || key === "__proto__") return odd;
    copies[key] = copy;
  }
  return Object.freeze(copies);
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}

/** Runs a function synchronously, so that it is atomic. */
export type Run = <T>(run: () => T) => Promise<T>;

/** The data of the store. */
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
  /** The last number of each kind; none is reused. */
  readonly last: { task: number; number: number };
  /** Records of each kind by id, in the order of adding. */
  readonly kept: Readonly<Record<Kind, Map<string, KeptRow>>>;
}

export type Kind = (typeof kinds)[number];

const kinds = [
  ...(["agents", "workspaces", "runs", "credentials"] as const),
  ...(["messages", "conversations", "usage", "merges", "pullRequests", "calls"] as const),
  ...(["chatQuestions", "seen", "workSizes"] as const),
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
  enteredAt: number;
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

/** The events and effects that are added to a task together. */
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
 * The rows for new events and effects. Nothing is changed yet, because data that cannot be written as JSON must leave
 * no trace. Events and effects share one sequence of numbers.
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

/** A field that an event removes is undefined in `set`, which JSON would leave out. */
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

/** Keeps events that belong to no task. */
export function keepOfHome(tables: Tables, events: readonly TaskEvent[], at: number): void {
  const rows = events.map((event, i) => {
    const project = typeof event.data.project === "string" ? event.data.project : "";
    return { position: tables.last.number + 1 + i, task: "", project, revision: 0, at, event: frozenEvent(event) };
  });
  tables.events.push(...rows);
  tables.last.number += rows.length;
}

/** Call this whenever effects of a task have changed. */
export function noteOpen(tables: Tables, task: TaskRow): void {
  const open = task.effects.filter(isOpen);
  if (open.length === 0) tables.open.delete(task);
  else tables.open.set(task, open);
}

export function isOpen({ state }: EffectRow): boolean {
  return state === "owed" || state === "failed";
}

/** Deletes tasks and their records. */
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

/** Deletes the records of a task or a project. */
export function forget({ kept }: Tables, isGone: (row: KeptRow) => boolean): void {
  for (const kind of kinds) {
    for (const [id, row] of kept[kind]) if (isGone(row)) kept[kind].delete(id);
  }
}
