import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Store, TaskFilter } from "../../../ports/store.ts";
import { readReference } from "../read-reference.ts";
import { toStoredTask } from "./stored-task.ts";
import type { Read } from "./writer.ts";

/** Finding tasks. */
export function createLists(database: DatabaseSync, read: Read): Pick<Store, "getTask" | "findTask" | "listTasks"> {
  const byId = database.prepare("select * from task where id = ?");
  const byNumber = database.prepare("select * from task where project = ? and number = ?");
  const withBranch = "select * from task where branch = ? and branch <> '' and is_open = 1";
  const byBranch = database.prepare(`${withBranch} limit 2`);
  const byBranchOfProject = database.prepare(`${withBranch} and project = ?`);
  const lists = new Map<string, StatementSync>();
  const only = (rows: readonly Record<string, unknown>[]) => {
    const [row, another] = rows;
    return row === undefined || another !== undefined ? undefined : toStoredTask(row);
  };

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
          statement = database.prepare(sql);
          lists.set(sql, statement);
        }
        return statement.all(before, ...values, limit).map(toStoredTask);
      }),
  };
}

/**
 * Only the words below become SQL; values are always bound. The index is named because SQLite, which knows nothing about
 * the values, would now and then walk through all tasks that are over to find the few that are open.
 */
function selection({ project, status, parent, isOpen }: TaskFilter): { sql: string; values: readonly SQLInputValue[] } {
  const conditions = ["position < ?"];
  const values: SQLInputValue[] = [];
  const equals = (column: string, value: string | undefined) => {
    if (value === undefined) return;
    conditions.push(`${column} = ?`);
    values.push(value);
  };
  equals("project", project);
  equals("status", status);
  equals("parent", parent);
  if (parent) conditions.push("parent <> ''");
  if (isOpen !== undefined) conditions.push(`is_open = ${isOpen ? 1 : 0}`);
  const index = parent
    ? "indexed by task_by_parent"
    : status !== undefined
      ? "indexed by task_by_status"
      : isOpen
        ? "indexed by open_task"
        : project !== undefined
          ? "indexed by task_by_project"
          : "not indexed";
  const sql = `select * from task ${index} where ${conditions.join(" and ")} order by position desc limit ?`;
  return { sql, values };
}
