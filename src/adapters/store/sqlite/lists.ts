import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Store, TaskFilter } from "../../../ports/store.ts";
import { readReference } from "../read-reference.ts";
import { prepareReading, type Reading } from "./reading.ts";
import { type TaskRow, taskColumns, toStoredTask } from "./stored-task.ts";
import type { Read } from "./writer.ts";

/** Finding tasks. */
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
 * Only the words below become SQL; values are always bound. The index is named because SQLite, which knows nothing about
 * the values, would now and then walk through all tasks that are over to find the few that are open.
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
