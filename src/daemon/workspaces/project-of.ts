import { Fault } from "../../fault.ts";
import type { Project, Store } from "../../ports/store.ts";

/** The project of a task, which must be there. */
export async function projectOf(store: Store, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project === undefined) throw new Fault("project.missing", `There is no project "${name}" any more.`);
  return project;
}
