import type { Store, StoredTask, TaskFilter } from "../../../ports/store.ts";
import { readReference } from "../read-reference.ts";
import type { Run, Tables, TaskRow } from "./tables.ts";

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

export function toStoredTask({ data, revision, isOpen, createdAt, updatedAt, order }: TaskRow): StoredTask {
  return { task: data.read(), revision, isOpen, createdAt, updatedAt, order };
}
