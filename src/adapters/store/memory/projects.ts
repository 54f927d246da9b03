import type { Project, Store } from "../../../ports/store.ts";
import { projectExists, projectInUse, projectMissing } from "../faults.ts";
import { snapshot } from "./snapshot.ts";
import { forget, type ProjectRow, type Run, removeTasks, type Tables } from "./tables.ts";

type Projects = Pick<Store, "addProject" | "updateProject" | "removeProject" | "getProject" | "listProjects">;

export function createProjects(tables: Tables, read: Run, write: Run): Projects {
  const { projects } = tables;
  const must = (name: string) => {
    const row = projects.get(name);
    if (row === undefined) throw projectMissing(name);
    return row;
  };
  return {
    addProject: (project) =>
      write(() => {
        if (projects.has(project.name)) throw projectExists(project.name);
        projects.set(project.name, { data: snapshot(project), lastNumber: 0 });
      }),
    updateProject: (name, change) =>
      write(() => {
        const row = must(name);
        const project = { ...toProject(row), ...change };
        row.data = snapshot<Project>(project);
        return project;
      }),
    removeProject: (name) =>
      write(() => {
        must(name);
        const tasks = [...tables.tasks.values()].filter((task) => task.project === name);
        const open = tasks.filter((task) => task.isOpen).length;
        if (open > 0) throw projectInUse(name, open);
        removeTasks(tables, tasks);
        forget(tables, ({ project }) => project === name);
        projects.delete(name);
      }),
    getProject: (name) =>
      read(() => {
        const row = projects.get(name);
        return row && toProject(row);
      }),
    listProjects: () =>
      read(() => [...projects.values()].map(toProject).sort((one, other) => compareBytes(one.name, other.name))),
  };
}

function toProject({ data }: ProjectRow): Project {
  return data.read();
}

/** The order of databases, which is not that of JavaScript beyond U+FFFF. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
