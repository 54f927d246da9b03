import type { Call } from "../api/client.ts";
import type { TaskView } from "../api/task-wires.ts";
import { projectHere } from "./find-project.ts";

/** What routes about one task are given, from what somebody wrote for it. */
export interface NamedTask {
  readonly params: { readonly task: string };
  readonly query: { readonly project?: string };
}

/** Numbers and branches are those of this folder's project; everything else says itself which task it means. */
export async function nameTask(call: Call, reference: string): Promise<NamedTask> {
  const task = asReference(reference);
  if (reference === "." || /^.+#\d+$/.test(reference)) return { params: { task }, query: {} };
  const project = await projectHere(call);
  return { params: { task }, query: project === undefined ? {} : { project: project.name } };
}

/** A number by itself is that of a task of the project: shells take `#12` for a remark. */
export function asReference(reference: string): string {
  return /^\d+$/.test(reference) ? `#${reference}` : reference;
}

/** `coffee#12` */
export function shownTask({ project, number }: Pick<TaskView, "project" | "number">): string {
  return `${project}#${number}`;
}
