import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Effect } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type {
  SavedDecision,
  Store,
  StoredArtifact,
  StoredDocument,
  StoredTask,
  TaskFilter,
} from "../../ports/store.ts";
import { prepareReading, type Read, type Reading, type Write } from "./connection.ts";
import { dropped, type FirstOwed, nothingOwed, type Owing, retried } from "./effects.ts";
import {
  branchTaken,
  conflict,
  dueAt,
  partKey,
  partTaken,
  projectMissing,
  readReference,
  taskExists,
  taskMissing,
} from "./faults.ts";
import type { History } from "./history.ts";

/** The texts of tasks. `put` runs inside the caller's transaction. */
interface Documents extends Pick<Store, "saveDocument" | "getDocument"> {
  put(task: string, document: StoredDocument): void;
}

export function createDocuments(database: DatabaseSync, read: Read, write: Write, { append }: History): Documents {
  const upsert = database.prepare(
    `insert into document (task, text, authors) select position, ?, ? from task where id = ?
     on conflict do update set text = excluded.text, authors = excluded.authors`,
  );
  const select = prepareReading<[text: string, authors: string]>(
    database,
    "select text, authors from document where task = (select position from task where id = ?)",
  );
  const put = (task: string, { text, authors }: StoredDocument) => {
    if (upsert.run(text, JSON.stringify(authors), task).changes === 0) throw taskMissing(task);
  };
  return {
    put,
    saveDocument: (task, document, events, at) =>
      write(() => {
        put(task, document);
        append(task, events, at);
      }),
    getDocument: (task) =>
      read(() => {
        const [text, authors] = select.get(task) ?? ["", "{}"];
        return { text, authors: JSON.parse(authors) as StoredDocument["authors"] };
      }),
  };
}

/** Finds tasks. */
export function createLists(database: DatabaseSync, read: Read): Pick<Store, "getTask" | "findTask" | "listTasks"> {
  const where = (condition: string) =>
    prepareReading<TaskRow>(database, `select ${taskColumns} from task where ${condition}`);
  const byId = where("id = ?");
  const byNumber = where("project = ? and number = ?");
  const hasBranch = "branch = ? and branch <> '' and is_open = 1";
  const byBranch = where(`${hasBranch} limit 2`);
  const byBranchOfProject = where(`${hasBranch} and project = ?`);
  const lists = new Map<string, Reading<TaskRow>>();
  const only = ([row, another]: readonly TaskRow[]) =>
    row === undefined || another !== undefined ? undefined : toStoredTask(row);

  return {
    getTask: (id) => read(() => only(byId.all(id))),
    findTask: (reference, project = "") =>
      read(() => {
        const numbered = readReference(reference, project);
        return (
          only(byId.all(reference)) ??
          (numbered && only(byNumber.all(numbered.project, numbered.number))) ??
          only(project === "" ? byBranch.all(reference) : byBranchOfProject.all(reference, project))
        );
      }),
    listTasks: (filter, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      read(() => {
        const { sql, values } = selection(filter);
        let statement = lists.get(sql);
        if (statement === undefined) {
          statement = prepareReading<TaskRow>(database, sql);
          lists.set(sql, statement);
        }
        return statement.all(before, limit, ...values).map(toStoredTask);
      }),
  };
}

/**
 * Only the literal words below become SQL; values are always bound. The index is named because SQLite, which does not
 * know the values' distribution, would sometimes scan all closed tasks to find the few open ones.
 */
function selection({ project, status, parent, isOpen }: TaskFilter): { sql: string; values: readonly SQLInputValue[] } {
  const given = Object.entries({ project, status, parent }).filter(([, value]) => value !== undefined);
  const conditions = ["position < ?1", ...given.map(([column], i) => `${column} = ?${i + 3}`)];
  const from = (index: string, ...more: readonly string[]) =>
    `select ${taskColumns} from task ${index} where ${[...conditions, ...more].join(" and ")}`;
  const open = () => from("indexed by open_task", "is_open = 1");
  const over = () => from("indexed by over_task", "is_open = 0");
  const state = isOpen === undefined ? [] : [`is_open = ${isOpen ? 1 : 0}`];
  const rows = parent
    ? from("indexed by task_by_parent", "parent <> ''", ...state)
    : isOpen
      ? open()
      : status !== undefined
        ? isOpen === undefined
          ? `${open()} union all ${over()}`
          : over()
        : from(project === undefined ? "not indexed" : "indexed by task_by_project", ...state);
  return { sql: `${rows} order by position desc limit ?2`, values: given.map(([, value]) => value ?? null) };
}

const taskColumns = "position, revision, is_open, created_at, updated_at, entered_at, data";

type TaskRow = [
  ...[position: number, revision: number, isOpen: number],
  ...[created: number, updated: number, entered: number, data: string],
];

function toStoredTask([order, revision, isOpen, createdAt, updatedAt, enteredAt, data]: TaskRow): StoredTask {
  return { task: JSON.parse(data) as Task, revision, isOpen: isOpen === 1, createdAt, updatedAt, enteredAt, order };
}

/** Everything that is saved with a task in the same transaction. */
interface Belongings {
  readonly history: History;
  readonly owing: Owing;
  readonly putDocument: (task: string, document: StoredDocument) => void;
  readonly addArtifact: (artifact: StoredArtifact) => void;
}

type KeyRow = [
  ...[position: number, project: string, branch: string, parent: string, isOpen: number, revision: number],
  ...[createdAt: number, enteredAt: number, last: number, owed: number | null],
];

export function createTasks(
  database: DatabaseSync,
  write: Write,
  { history, owing, putDocument, addArtifact }: Belongings,
): Pick<Store, "createTask" | "saveDecision" | "saveDecisions" | "deleteTask"> {
  const nextNumber = prepareReading<[number]>(
    database,
    "update project set last_number = last_number + 1 where name = ? returning last_number",
  );
  const insert = database.prepare(
    `insert into task (id, project, number, branch, status, parent, is_open, revision, created_at, updated_at, entered_at, last,
       part, data)
     values (?1, ?2, ?3, ?4, ?5, ?6, 1, 1, ?7, ?7, ?7, 0, ?8, ?9)`,
  );
  const byPart = prepareReading<[string]>(database, "select id from task where parent = ? and part = ?");
  const find = prepareReading<KeyRow>(
    database,
    "select position, project, branch, parent, is_open, revision, created_at, entered_at, last, owed from task where id = ?",
  );
  const byBranch = prepareReading<[string]>(
    database,
    "select id from task where branch = ? and branch <> '' and is_open = 1 and project = ? and id <> ?",
  );
  // SQLite rewrites the index of every column that is set, changed or not; most decisions set no indexed column.
  const rest = "status = ?, revision = ?, updated_at = ?, entered_at = ?, last = ?, data = ? where position = ?";
  const change = database.prepare(`update task set ${rest}`);
  const changeOwed = database.prepare(`update task set owed = ?, due_at = ?, ${rest}`);
  const changePlace = database.prepare("update task set branch = ?, parent = ?, is_open = ? where position = ?");
  const noteFirst = database.prepare("update task set last = ?, owed = ?, due_at = ? where position = ?");
  const remove = database.prepare("delete from task where id = ?");
  const claimBranch = ({ id, branch }: Task, project: string) => {
    const [other] = byBranch.get(branch, project, id) ?? [];
    if (other !== undefined) throw branchTaken(branch, other);
  };

  const claimPart = (task: Task) => {
    const key = partKey(task);
    const [other] = key === null ? [] : (byPart.get(task.parent, key) ?? []);
    if (other !== undefined) throw partTaken(task, other);
    return key;
  };

  const save = (decision: SavedDecision): StoredTask => {
    const { task, revision, isOpen, events, effects, at, document, artifacts, dropsOwed, retriesFailed } = decision;
    const { id, status, branch, parent, entry } = task;
    const before = find.get(id);
    if (before === undefined) throw taskMissing(id);
    const [position, project, hadBranch, hadParent, wasOpen, now, createdAt, entered, previous, wasOwed] = before;
    if (now !== revision) throw conflict(id, revision, now);
    if (hadBranch !== branch || hadParent !== parent || (wasOpen === 1) !== isOpen) {
      if (isOpen) claimBranch(task, project);
      changePlace.run(branch, parent, isOpen ? 1 : 0, position);
    }
    let first: FirstOwed | undefined;
    if (wasOwed !== null && (dropsOwed || retriesFailed)) {
      first = owing.change({ id, position, last: previous, owed: wasOwed }, (effect) =>
        dropsOwed ? dropped(effect) : retried(effect, at),
      );
    }
    const last = history.add({ position, last: previous, revision: revision + 1, entry, at, events, effects });
    const isFree = first === undefined ? wasOwed === null : first.owed === null;
    if (isFree && effects.length > 0) first = firstOf(effects, last, at);
    const data = JSON.stringify(task);
    const enteredAt = isNewStay(events) ? at : entered;
    const values = [status, revision + 1, at, enteredAt, last, data, position] as const;
    if (first === undefined) change.run(...values);
    else changeOwed.run(first.owed, first.dueAt, ...values);
    if (document !== undefined) putDocument(id, document);
    if (artifacts !== undefined) for (const artifact of artifacts) addArtifact(artifact);
    return { task, revision: revision + 1, isOpen, createdAt, updatedAt: at, enteredAt, order: position };
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        const [number] = nextNumber.get(project) ?? [];
        if (number === undefined) throw projectMissing(project);
        const { task, document, events, effects, at } = decide(number);
        const { id, branch, status, parent, entry } = task;
        if (find.get(id) !== undefined) throw taskExists(id);
        const part = claimPart(task);
        claimBranch(task, project);
        const data = JSON.stringify(task);
        const row = insert.run(id, project, task.number, branch, status, parent, at, part, data);
        const position = Number(row.lastInsertRowid);
        putDocument(id, document);
        const last = history.add({ position, last: 0, revision: 1, entry, at, events, effects });
        const { owed, dueAt } = firstOf(effects, last, at);
        noteFirst.run(last, owed, dueAt, position);
        return { task, revision: 1, isOpen: true, createdAt: at, updatedAt: at, enteredAt: at, order: position };
      }),
    saveDecision: (decision) => write(() => save(decision)),
    saveDecisions: (decisions) => write(() => decisions.map(save)),
    deleteTask: (id) =>
      write(() => {
        history.removeOfTask(id);
        if (remove.run(id).changes === 0) throw taskMissing(id);
      }),
  };
}

/** Whether a decision begins a stay: its events set everything that it changes. */
export function isNewStay(events: SavedDecision["events"]): boolean {
  return events.some(({ set }) => set.entry !== undefined);
}

/** The first effect of a row that ends with `last`. */
function firstOf([effect, ...others]: readonly Effect[], last: number, at: number): FirstOwed {
  return effect === undefined ? nothingOwed : { owed: last - others.length, dueAt: dueAt(effect, at) };
}
