import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { TaskEvent } from "../../../engine/decision.ts";
import type { Task } from "../../../engine/task.ts";
import { Fault } from "../../../fault.ts";
import type { Store, StoredTask, TaskFilter } from "../../../ports/store.ts";
import type { Artifacts } from "./artifacts.ts";
import type { Effects } from "./effects.ts";
import type { Events } from "./events.ts";
import type { Write } from "./writer.ts";

type Tasks = Pick<
  Store,
  | "createTask"
  | "getTask"
  | "findTask"
  | "listTasks"
  | "saveDecision"
  | "addEvents"
  | "saveDocument"
  | "getDocument"
  | "deleteTask"
>;

export function createTasks(
  database: DatabaseSync,
  write: Write,
  { events, effects, artifacts }: { events: Events; effects: Effects; artifacts: Artifacts },
): Tasks {
  const nextNumber = database.prepare("select coalesce(max(number), 0) + 1 as next from task where project = ?");
  const insert = database.prepare(
    `insert into task (id, project, number, branch, status, parent, is_open, revision, data, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?)`,
  );
  const selectById = database.prepare("select * from task where id = ?");
  const selectByNumber = database.prepare("select * from task where project = ? and number = ?");
  const selectByBranch = database.prepare(
    "select * from task where is_open = 1 and branch = ? and (?2 = '' or project = ?2) limit 2",
  );
  const update = database.prepare(
    `update task set branch = ?, status = ?, parent = ?, is_open = ?, revision = revision + 1, data = ?, updated_at = ?
     where id = ? and revision = ?`,
  );
  const putDocument = database.prepare(
    "insert into document (task, text) values (?, ?) on conflict do update set text = excluded.text",
  );
  const getDocument = database.prepare("select text from document where task = ?");
  const remove = database.prepare("delete from task where id = ?");
  const removeEvents = database.prepare("delete from event where task = ?");
  const projectExists = database.prepare("select 1 from project where name = ?");
  const get = (id: string) => read(selectById.get(id));
  const must = (id: string) => {
    const task = get(id);
    if (task === undefined)
      throw new Fault("store.missing", `There is no task ${id}.`, { hint: "List them with signalbox task list." });
    return task;
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        if (projectExists.get(project) === undefined)
          throw new Fault("store.missing", `There is no project "${project}".`);
        const { task, document, events: happened, effects: owed, at } = decide(Number(nextNumber.get(project)?.next));
        if (get(task.id) !== undefined) throw new Fault("store.exists", `There is already a task ${task.id}.`);
        const [other] = selectByBranch.all(task.branch, project);
        if (task.branch !== "" && other !== undefined) throw branchTaken(task.branch, String(other.id));
        insert.run(task.id, project, task.number, task.branch, task.status, task.parent, JSON.stringify(task), at, at);
        putDocument.run(task.id, document);
        events.add(task.id, project, 1, happened, at);
        effects.add(task.id, task.entry, owed, at);
        return must(task.id);
      }),
    getTask: async (id) => get(id),
    findTask: async (reference, project = "") => {
      const byId = get(reference);
      if (byId !== undefined) return byId;
      const [, named = "", number = ""] = /^(.*)#(\d+)$/.exec(reference) ?? [];
      if (number !== "") return read(selectByNumber.get(named === "" ? project : named, Number(number)));
      const found = selectByBranch.all(reference, project);
      return found.length === 1 ? read(found[0]) : undefined;
    },
    listTasks: async (filter, { before = Number.MAX_SAFE_INTEGER, limit }) => {
      const { clause, values } = where(filter);
      const statement = database.prepare(
        `select * from task where position < ? ${clause} order by position desc limit ?`,
      );
      return statement.all(before, ...values, limit).flatMap((row) => read(row) ?? []);
    },
    saveDecision: ({
      task,
      revision,
      isOpen,
      events: happened,
      effects: owed,
      at,
      document,
      artifacts: accepted = [],
      dropsOwed = false,
    }) =>
      write(() => {
        const changed = update.run(
          task.branch,
          task.status,
          task.parent,
          isOpen ? 1 : 0,
          JSON.stringify(task),
          at,
          task.id,
          revision,
        );
        if (changed.changes === 0) throw conflict(task.id, revision, must(task.id).revision);
        events.add(task.id, task.project, revision + 1, happened, at);
        if (dropsOwed) effects.drop(task.id);
        effects.add(task.id, task.entry, owed, at);
        if (document !== undefined) putDocument.run(task.id, document);
        for (const artifact of accepted) artifacts.add(artifact);
        return must(task.id);
      }),
    addEvents: (id, happened: readonly TaskEvent[], at) =>
      write(() => {
        const { task, revision } = must(id);
        events.add(id, task.project, revision, happened, at);
      }),
    saveDocument: (id, text) =>
      write(() => {
        must(id);
        putDocument.run(id, text);
      }),
    getDocument: async (id) => String(getDocument.get(id)?.text ?? ""),
    deleteTask: (id) =>
      write(() => {
        must(id);
        remove.run(id);
        removeEvents.run(id);
      }),
  };
}

function read(row: Record<string, unknown> | undefined): StoredTask | undefined {
  if (row === undefined) return undefined;
  return {
    task: JSON.parse(String(row.data)) as Task,
    revision: Number(row.revision),
    isOpen: row.is_open === 1,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    order: Number(row.position),
  };
}

/** Only the words below become SQL; values are always bound. */
function where(filter: TaskFilter): { clause: string; values: readonly SQLInputValue[] } {
  const parts: [string, SQLInputValue][] = [];
  if (filter.project !== undefined) parts.push(["project = ?", filter.project]);
  if (filter.status !== undefined) parts.push(["status = ?", filter.status]);
  if (filter.parent !== undefined) parts.push(["parent = ?", filter.parent]);
  if (filter.isOpen !== undefined) parts.push([filter.isOpen ? "is_open = 1 and 1 = ?" : "is_open = 0 and 1 = ?", 1]);
  return { clause: parts.map(([condition]) => `and ${condition}`).join(" "), values: parts.map(([, value]) => value) };
}

function conflict(id: string, revision: number, now: number): Fault {
  return new Fault("store.conflict", `Somebody else changed task ${id} first (revision ${now}, not ${revision}).`, {
    retry: "later",
    hint: "Look at the task again, then decide.",
  });
}

function branchTaken(branch: string, id: string): Fault {
  return new Fault("store.exists", `Task ${id} already has the branch "${branch}".`, {
    hint: `Continue it with signalbox task show ${id}, or choose another branch.`,
  });
}
