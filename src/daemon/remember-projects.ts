import type { Project, Store } from "../ports/store.ts";
import { Remembered } from "./remembered.ts";

/** The same store, which knows its projects: everything asks for one, and only the daemon changes them, once a month. */
export function rememberProjects(store: Store): Store {
  const projects = new Remembered<Project>();
  return {
    ...store,
    getProject: (name) => projects.read(name, () => store.getProject(name)),
    updateProject: (name, change) => projects.write(name, () => store.updateProject(name, change)),
    removeProject: (name) => projects.write(name, () => store.removeProject(name)),
  };
}
