import type { DatabaseSync } from "node:sqlite";
import type { Effect } from "../../../engine/decision.ts";
import type { Task } from "../../../engine/task.ts";
import type { Artifact, Store, StoredDocument, StoredTask } from "../../../ports/store.ts";
import { dueAt } from "../due-at.ts";
import { branchTaken, conflict, projectMissing, taskExists, taskMissing } from "../faults.ts";
import type { History } from "./history.ts";
import { dropped, type FirstOwed, nothingOwed, type Owing, retried } from "./owing.ts";
import { prepareReading } from "./reading.ts";
import type { Write } from "./writer.ts";

/** What is saved together with a task, in its transaction. */
interface Belongings {
  readonly history: History;
  readonly owing: Owing;
  readonly putDocument: (task: string, document: StoredDocument) => void;
  readonly addArtifact: (artifact: Artifact) => void;
}

type TaskRow = [
  ...[position: number, project: string, branch: string, parent: string, isOpen: number, revision: number],
  ...[createdAt: number, last: number, owed: number | null],
];

export function createTasks(
  database: DatabaseSync,
  write: Write,
  { history, owing, putDocument, addArtifact }: Belongings,
): Pick<Store, "createTask" | "saveDecision" | "deleteTask"> {
  const nextNumber = prepareReading<[number]>(
    database,
    "update project set last_number = last_number + 1 where name = ? returning last_number",
  );
  const insert = database.prepare(
    `insert into task (id, project, number, branch, status, parent, is_open, revision, created_at, updated_at, last, data)
     values (?, ?, ?, ?, ?, ?, 1, 1, ?, ?, 0, ?)`,
  );
  const find = prepareReading<TaskRow>(
    database,
    "select position, project, branch, parent, is_open, revision, created_at, last, owed from task where id = ?",
  );
  const byBranch = prepareReading<[string]>(
    database,
    "select id from task where branch = ? and branch <> '' and is_open = 1 and project = ? and id <> ?",
  );
  // SQLite writes the index of every column that is set, changed or not: most decisions set none that is in one.
  const rest = "status = ?, revision = ?, updated_at = ?, last = ?, data = ? where position = ?";
  const change = database.prepare(`update task set ${rest}`);
  const changeOwed = database.prepare(`update task set owed = ?, due_at = ?, ${rest}`);
  const changePlace = database.prepare("update task set branch = ?, parent = ?, is_open = ? where position = ?");
  const noteFirst = database.prepare("update task set last = ?, owed = ?, due_at = ? where position = ?");
  const remove = database.prepare("delete from task where id = ?");
  const claimBranch = ({ id, branch }: Task, project: string) => {
    const [other] = byBranch.get(branch, project, id) ?? [];
    if (other !== undefined) throw branchTaken(branch, other);
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        const [number] = nextNumber.get(project) ?? [];
        if (number === undefined) throw projectMissing(project);
        const { task, document, events, effects, at } = decide(number);
        const { id, branch, status, parent, entry } = task;
        if (find.get(id) !== undefined) throw taskExists(id);
        claimBranch(task, project);
        const data = JSON.stringify(task);
        const row = insert.run(id, project, task.number, branch, status, parent, at, at, data);
        const position = Number(row.lastInsertRowid);
        putDocument(id, document);
        const last = history.add({ position, last: 0, revision: 1, entry, at, events, effects });
        const { owed, dueAt } = firstOf(effects, last, at);
        noteFirst.run(last, owed, dueAt, position);
        return { task, revision: 1, isOpen: true, createdAt: at, updatedAt: at, order: position };
      }),
    saveDecision: ({ task, revision, isOpen, events, effects, at, document, artifacts, dropsOwed, retriesFailed }) =>
      write((): StoredTask => {
        const { id, status, branch, parent, entry } = task;
        const before = find.get(id);
        if (before === undefined) throw taskMissing(id);
        const [position, project, hadBranch, hadParent, wasOpen, now, createdAt, previous, wasOwed] = before;
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
        if (first === undefined) change.run(status, revision + 1, at, last, data, position);
        else changeOwed.run(first.owed, first.dueAt, status, revision + 1, at, last, data, position);
        if (document !== undefined) putDocument(id, document);
        if (artifacts !== undefined) for (const artifact of artifacts) addArtifact(artifact);
        return { task, revision: revision + 1, isOpen, createdAt, updatedAt: at, order: position };
      }),
    deleteTask: (id) =>
      write(() => {
        history.removeOfTask(id);
        if (remove.run(id).changes === 0) throw taskMissing(id);
      }),
  };
}

/** The first effect of a row that ends with `last`. */
function firstOf([effect, ...others]: readonly Effect[], last: number, at: number): FirstOwed {
  return effect === undefined ? nothingOwed : { owed: last - others.length, dueAt: dueAt(effect, at) };
}
