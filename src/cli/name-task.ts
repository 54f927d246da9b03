import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import type { TaskView } from "../api/task-wires.ts";
import { Fault } from "../fault.ts";
import { findRepository } from "../home/find-repository.ts";
import { projectOfFolder, realPath } from "./find-project.ts";

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
  const here = await projectOfFolder(call, projects);
  const plain = { params: { task }, query: here === undefined ? {} : { project: here.name } };
  const named = (await inProject(call, projects, reference, plain)) ?? plain;
  if (here === undefined && named === plain) await refuseForeign(call, plain, projects);
  return named;
}

/** In a repository that is no project, a number or a branch could be meant as one of that repository. */
async function refuseForeign(call: Call, named: NamedTask, projects: readonly ProjectView[]): Promise<void> {
  const { task: reference } = named.params;
  const [, number] = /^#(\d+)$/.exec(reference) ?? [];
  if (number !== undefined) {
    throw new Fault("usage", `"${number}" is the number of a task in a project, and this folder is not in one.`, {
      hint: `Say of which project: ${projects.map(({ name }) => `${name}#${number}`).join(", ") || "there is none yet"}`,
    });
  }
  if (findRepository(realPath(process.cwd())) === undefined) return;
  const found = await call(routes.getTask, named).catch(() => undefined);
  if (found === undefined || found.task.id === reference) return;
  const shown = shownTask(found.task);
  throw new Fault("usage", `"${reference}" is the branch of ${shown}, and this is another repository.`, {
    hint: `If you mean that task, say ${shown}`,
  });
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
