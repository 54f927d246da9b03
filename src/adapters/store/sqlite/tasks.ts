import type { DatabaseSync } from "node:sqlite";
import type { Task } from "../../../engine/task.ts";
import type { Artifact, Store, StoredDocument, StoredTask } from "../../../ports/store.ts";
import { branchTaken, conflict, projectMissing, taskExists, taskMissing } from "../faults.ts";
import type { Effects } from "./effects.ts";
import type { Events } from "./events.ts";
import type { Read, Write } from "./writer.ts";

type Tasks = Pick<Store, "createTask" | "saveDecision" | "addEvents" | "saveDocument" | "getDocument" | "deleteTask">;

/** What is saved together with a task, in its transaction. */
interface Belongings {
  readonly addEvents: Events["add"];
  readonly addEffects: Effects["add"];
  readonly dropEffects: Effects["drop"];
  readonly retryEffects: Effects["retry"];
  readonly addArtifact: (artifact: Artifact) => void;
}

export function createTasks(
  database: DatabaseSync,
  read: Read,
  write: Write,
  { addEvents, addEffects, dropEffects, retryEffects, addArtifact }: Belongings,
): Tasks {
  const nextNumber = database.prepare(
    "update project set last_number = last_number + 1 where name = ? returning last_number",
  );
  const insert = database.prepare(
    `insert into task (id, project, number, branch, status, parent, is_open, revision, created_at, updated_at, data)
     values (?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?)`,
  );
  const byId = database.prepare(
    "select position, project, branch, status, parent, is_open, revision, created_at from task where id = ?",
  );
  const byBranch = database.prepare(
    "select id from task where branch = ? and branch <> '' and is_open = 1 and project = ? and id <> ?",
  );
  const change = (columns: string) =>
    database.prepare(`update task set ${columns} revision = ?, updated_at = ?, data = ? where position = ?`);
  // SQLite writes the index of every column that is set, changed or not.
  const changeNothing = change("");
  const changeStatus = change("status = ?,");
  const changeAll = change("status = ?, branch = ?, parent = ?, is_open = ?,");
  const putDocument = database.prepare(
    `insert into document (task, text, authors) values (?, ?, ?)
     on conflict do update set text = excluded.text, authors = excluded.authors`,
  );
  const getDocument = database.prepare(
    "select text, authors from document where task = (select position from task where id = ?)",
  );
  const remove = database.prepare("delete from task where id = ?");

  const must = (id: string) => {
    const row = byId.get(id);
    if (row === undefined) throw taskMissing(id);
    return row;
  };
  const saveDocument = (position: number, { text, authors }: StoredDocument) =>
    putDocument.run(position, text, JSON.stringify(authors));
  const claimBranch = ({ id, branch }: Task, project: string) => {
    const other = byBranch.get(branch, project, id);
    if (other !== undefined) throw branchTaken(branch, String(other.id));
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        const number = nextNumber.get(project)?.last_number;
        if (number === undefined) throw projectMissing(project);
        const { task, document, events, effects, at } = decide(Number(number));
        const { id, branch, status, parent } = task;
        if (byId.get(id) !== undefined) throw taskExists(id);
        claimBranch(task, project);
        const data = JSON.stringify(task);
        const { lastInsertRowid } = insert.run(id, project, task.number, branch, status, parent, at, at, data);
        const order = Number(lastInsertRowid);
        saveDocument(order, document);
        addEvents(order, project, 1, events, at);
        addEffects(order, task.entry, effects, at);
        return { task, revision: 1, isOpen: true, createdAt: at, updatedAt: at, order };
      }),
    saveDecision: ({
      task,
      revision,
      isOpen,
      events,
      effects,
      at,
      document,
      artifacts = [],
      dropsOwed,
      retriesFailed,
    }) =>
      write((): StoredTask => {
        const before = must(task.id);
        if (before.revision !== revision) throw conflict(task.id, revision, Number(before.revision));
        const order = Number(before.position);
        const project = String(before.project);
        const { status, branch, parent } = task;
        const values = [revision + 1, at, JSON.stringify(task), order] as const;
        const open = isOpen ? 1 : 0;
        if (before.branch !== branch || before.parent !== parent || before.is_open !== open) {
          if (isOpen) claimBranch(task, project);
          changeAll.run(status, branch, parent, open, ...values);
        } else if (before.status !== status) {
          changeStatus.run(status, ...values);
        } else {
          changeNothing.run(...values);
        }
        addEvents(order, project, revision + 1, events, at);
        if (dropsOwed) dropEffects(order);
        if (retriesFailed) retryEffects(order, at);
        addEffects(order, task.entry, effects, at);
        if (document !== undefined) saveDocument(order, document);
        for (const artifact of artifacts) addArtifact(artifact);
        const createdAt = Number(before.created_at);
        return { task, revision: revision + 1, isOpen, createdAt, updatedAt: at, order };
      }),
    addEvents: (id, events, at) =>
      write(() => {
        const { position, project, revision } = must(id);
        addEvents(Number(position), String(project), Number(revision), events, at);
      }),
    saveDocument: (id, document, events, at) =>
      write(() => {
        const { position, project, revision } = must(id);
        saveDocument(Number(position), document);
        addEvents(Number(position), String(project), Number(revision), events, at);
      }),
    getDocument: (id) =>
      read(() => {
        const { text = "", authors = "{}" } = getDocument.get(id) ?? {};
        return { text: String(text), authors: JSON.parse(String(authors)) as StoredDocument["authors"] };
      }),
    deleteTask: (id) =>
      write(() => {
        if (remove.run(id).changes === 0) throw taskMissing(id);
      }),
  };
}
