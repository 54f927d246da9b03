import { lstatSync } from "node:fs";
import type { Task } from "../../engine/task.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { runRecordId } from "../agents/run-order.ts";
import type { WrittenFile } from "./task-files.ts";

/**
 * Why processes other than those of an ended run may have written its task file; empty if none can have. It is sealed if the
 * run had a checkout of its own, all its programs were started in a sandbox, and so were those of all other runs that could
 * have reached the file: no sandbox contains the checkout of another run. Only for a run whose processes have all ended.
 */
export async function whyUnsealed(
  store: Pick<Store, "runs">,
  task: Pick<Task, "id">,
  { run, path, isOwn }: WrittenFile,
): Promise<string> {
  if (!isOwn) return "It shared its folder with other runs.";
  const own = await store.runs.get(runRecordId(task.id, run));
  if (own?.started?.isConfined !== true) return "It had no sandbox, so that other processes could write its file.";
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.nlink !== 1) return "Its file is a link, or has a second name.";
  const free = (await store.runs.list({})).find((other) => isFree(other) && isNear(other, own));
  return free === undefined ? "" : `${free.task}/${free.key} had no sandbox, and could write its file.`;
}

function isFree({ started }: Run): boolean {
  return started?.isConfined !== true;
}

/** Runs of the same task, whenever they were: they may have left a process. Of other tasks, those at the same time. */
function isNear({ task, endedAt }: Run, own: Run): boolean {
  return task === own.task || endedAt === undefined || endedAt >= own.at;
}
