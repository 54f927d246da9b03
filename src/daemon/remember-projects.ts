import type { Project, Store } from "../ports/store.ts";

/** The same store, which knows its projects: everything asks for one, and only the daemon changes them, once a month. */
export function rememberProjects(store: Store): Store {
  const known = new Map<string, Project>();
  let writes = 0;
  const forget = (name: string) => {
    writes++;
    known.delete(name);
  };
  return {
    ...store,
    async getProject(name) {
      const before = known.get(name);
      if (before !== undefined) return before;
      const at = writes;
      const found = await store.getProject(name);
      // Somebody may have changed it while we were reading.
      if (found !== undefined && writes === at) known.set(name, found);
      return found;
    },
    async updateProject(name, change) {
      forget(name);
      const project = await store.updateProject(name, change);
      forget(name);
      return project;
    },
    async removeProject(name) {
      forget(name);
      await store.removeProject(name);
      forget(name);
    },
  };
}
