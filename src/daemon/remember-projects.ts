import type { Project, Store } from "../ports/store.ts";

/** Every request asks how large a pool is, and projects change once a month: only the daemon writes them, so it knows. */
export function rememberProjects(store: Store): {
  readonly store: Store;
  readonly projects: { get(name: string): Promise<Project | undefined> };
} {
  const known = new Map<string, Project>();
  return {
    projects: {
      async get(name) {
        const found = known.get(name) ?? (await store.getProject(name));
        if (found !== undefined) known.set(name, found);
        return found;
      },
    },
    store: {
      ...store,
      async updateProject(name, change) {
        known.delete(name);
        const project = await store.updateProject(name, change);
        known.set(name, project);
        return project;
      },
      async removeProject(name) {
        await store.removeProject(name);
        known.delete(name);
      },
    },
  };
}
