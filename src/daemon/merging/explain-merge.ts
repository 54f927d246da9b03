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

type Told = Pick<ExplanationView, "blocked" | "next">;

const nothing: Told = { blocked: [], next: [] };

/** What stands in the way of a task's merge, and what comes of it by itself. */
export async function explainMerge({ store, repositories }: Core, { task, updatedAt }: StoredTask): Promise<Told> {
  const merge = await store.merges.get(task.id);
  if (merge === undefined || task.phase === "over") return nothing;
  const { state, reason, target, endedAt } = merge;
  if (state === "waits")
    return {
      blocked: [{ reason: `It waits to be merged into "${target}". ${reason}`, fix: "" }],
      next: [{ what: `Merge into "${target}" as soon as that is out of the way`, at: null }],
    };
  if (state === "lined-up") {
    const before = repositories?.merging.before(task.id) ?? 0;
    const others = before === 0 ? "" : ` (after ${before} others)`;
    return { blocked: [], next: [{ what: `Merge into "${target}"${others}`, at: null }] };
  }
  // What has happened to the task since then may have mended it.
  const isLast = endedAt !== undefined && updatedAt <= endedAt;
  if (!isLast || state === "merged" || state === "undone") return nothing;
  const [first = ""] = reason.split("\n");
  return { blocked: [{ reason: first, fix: `Mend it, then ask again: signalbox task merge ${task.id}` }], next: [] };
}
