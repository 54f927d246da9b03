import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../fault.ts";
import type { Project, Store } from "../../../ports/store.ts";
import type { Write } from "./writer.ts";

type Projects = Pick<Store, "addProject" | "updateProject" | "removeProject" | "getProject" | "listProjects">;

export function createProjects(database: DatabaseSync, write: Write): Projects {
  const insert = database.prepare("insert into project (name, data) values (?, ?) on conflict do nothing");
  const update = database.prepare("update project set data = ? where name = ?");
  const remove = database.prepare("delete from project where name = ?");
  const select = database.prepare("select data from project where name = ?");
  const selectAll = database.prepare("select data from project order by name");
  const countOpen = database.prepare("select count(*) as open from task where project = ? and is_open = 1");
  const removeTasks = database.prepare("delete from task where project = ?");
  const get = (name: string) => read(select.get(name));

  return {
    addProject: (project) =>
      write(() => {
        if (insert.run(project.name, JSON.stringify(project)).changes === 0) throw exists(project.name);
      }),
    updateProject: (name, change) =>
      write(() => {
        const before = get(name);
        if (before === undefined) throw missing(name);
        const project = { ...before, ...change };
        update.run(JSON.stringify(project), name);
        return project;
      }),
    removeProject: (name) =>
      write(() => {
        if (get(name) === undefined) throw missing(name);
        const open = Number(countOpen.get(name)?.open);
        if (open > 0) throw inUse(name, open);
        removeTasks.run(name);
        remove.run(name);
      }),
    getProject: async (name) => get(name),
    listProjects: async () => selectAll.all().flatMap((row) => read(row) ?? []),
  };
}

function read(row: Record<string, unknown> | undefined): Project | undefined {
  return row === undefined ? undefined : (JSON.parse(String(row.data)) as Project);
}

function exists(name: string): Fault {
  return new Fault("store.exists", `There is already a project "${name}".`, {
    hint: "Choose another name with --name.",
  });
}

function missing(name: string): Fault {
  return new Fault("store.missing", `There is no project "${name}".`, {
    hint: "List them with signalbox project list.",
  });
}

function inUse(name: string, open: number): Fault {
  return new Fault("store.in-use", `The project "${name}" has ${open} open task${open === 1 ? "" : "s"}.`, {
    hint: "Cancel or finish them first.",
  });
}
