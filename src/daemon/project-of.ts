import { Fault } from "../fault.ts";
import type { Project, Store } from "../ports/store.ts";

/** A project that must be there, because a task is of it. */
export async function projectOf(store: Store, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project === undefined) throw new Fault("project.missing", `There is no project "${name}" any more.`);
  return project;
}
