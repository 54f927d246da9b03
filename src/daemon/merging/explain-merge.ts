import type { ExplanationView } from "../../api/task-wires.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Core } from "../core.ts";

/** Open tasks that change the same places, as sentences. */
export async function expectedConflicts({ store, repositories }: Core, id: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const { task, files } of repositories?.predictions.of(id) ?? []) {
    const other = await store.getTask(task);
    if (other === undefined || !other.isOpen) continue;
    const { project, number, summary } = other.task;
    const title = summary === "" ? "" : ` (${summary})`;
    sentences.push(`It will conflict with ${project}#${number}${title} in ${files.join(", ")}.`);
  }
  return sentences;
}

/** What becomes of a task's merge by itself. */
export async function nextOfMerge(
  { store, repositories }: Core,
  { task }: StoredTask,
): Promise<ExplanationView["next"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge?.state === "waits")
    return [{ what: `Merge into "${merge.target}" as soon as that is out of the way`, at: null }];
  if (merge?.state !== "lined-up") return [];
  const before = repositories?.merging.before(task.id) ?? 0;
  const others = before === 0 ? "" : ` (after ${before} others)`;
  return [{ what: `Merge into "${merge.target}"${others}`, at: null }];
}
