import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import type { TaskView } from "../api/task-wires.ts";
import { projectAt } from "./find-project.ts";

/** What routes about one task are given, from what somebody wrote for it. */
export interface NamedTask {
  readonly params: { readonly task: string };
  readonly query: { readonly project?: string };
}

/** Numbers and branches are those of this folder's project; everything else says itself which task it means. */
export async function nameTask(call: Call, reference: string): Promise<NamedTask> {
  const task = asReference(reference);
  if (reference === "." || /^.+#\d+$/.test(reference)) return { params: { task }, query: {} };
  const { projects } = await call(routes.listProjects);
  const here = projectAt(projects, process.cwd());
  const plain = { params: { task }, query: here === undefined ? {} : { project: here.name } };
  return (await inProject(call, projects, reference, plain)) ?? plain;
}

/** `coffee/stronger`, as terminals are titled: a project and a branch of it. A branch that is called so comes first. */
async function inProject(call: Call, projects: readonly ProjectView[], reference: string, plain: NamedTask) {
  const named = projects.find(({ name }) => reference.startsWith(`${name}/`));
  if (named === undefined) return undefined;
  const isThere = await call(routes.getTask, plain).then(
    () => true,
    () => false,
  );
  if (isThere) return undefined;
  return { params: { task: reference.slice(named.name.length + 1) }, query: { project: named.name } };
}

/** A number by itself is that of a task of the project: shells take `#12` for a remark. */
export function asReference(reference: string): string {
  return /^\d+$/.test(reference) ? `#${reference}` : reference;
}

/** `coffee#12` */
export function shownTask({ project, number }: Pick<TaskView, "project" | "number">): string {
  return `${project}#${number}`;
}
