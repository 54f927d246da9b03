import type { DatabaseSync } from "node:sqlite";
import type { Project, Store } from "../../../ports/store.ts";
import { projectExists, projectInUse, projectMissing } from "../faults.ts";
import type { History } from "./history.ts";
import type { Read, Write } from "./writer.ts";

type Projects = Pick<Store, "addProject" | "updateProject" | "removeProject" | "getProject" | "listProjects">;

export function createProjects(database: DatabaseSync, read: Read, write: Write, history: History): Projects {
  const insert = database.prepare(
    "insert into project (name, data, last_number) values (?, ?, 0) on conflict do nothing",
  );
  const update = database.prepare("update project set data = ? where name = ?");
  const remove = database.prepare("delete from project where name = ?");
  const select = database.prepare("select data from project where name = ?");
  const selectAll = database.prepare("select data from project order by name");
  const countOpen = database.prepare(
    "select count(*) as open from task indexed by open_task where project = ? and is_open = 1",
  );
  const removeTasks = database.prepare("delete from task where project = ?");
  const must = (name: string) => {
    const row = select.get(name);
    if (row === undefined) throw projectMissing(name);
    return toProject(row);
  };

  return {
    addProject: (project) =>
      write(() => {
        if (insert.run(project.name, JSON.stringify(project)).changes === 0) throw projectExists(project.name);
      }),
    updateProject: (name, change) =>
      write(() => {
        const project = { ...must(name), ...change };
        update.run(JSON.stringify(project), name);
        return project;
      }),
    removeProject: (name) =>
      write(() => {
        must(name);
        const open = Number(countOpen.get(name)?.open);
        if (open > 0) throw projectInUse(name, open);
        history.removeOfProject(name);
        removeTasks.run(name);
        remove.run(name);
      }),
    getProject: (name) =>
      read(() => {
        const row = select.get(name);
        return row === undefined ? undefined : toProject(row);
      }),
    listProjects: () => read(() => selectAll.all().map(toProject)),
  };
}

function toProject(row: Record<string, unknown>): Project {
  return JSON.parse(String(row.data)) as Project;
}
