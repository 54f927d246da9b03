import { Fault } from "../../fault.ts";
import { contains } from "../../home/agents-at-work.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Asked } from "../asked.ts";
import type { Core } from "../core.ts";

/** The task a request is about. `.` is the task of the asker's credential, or of the workspace the asker is in. */
export async function findTask(
  { store }: Core,
  { params, query, caller, folder }: Asked<{ readonly project?: string }, unknown>,
): Promise<StoredTask> {
  const { task: reference = "" } = params;
  if (reference === ".") {
    const own = caller.kind === "run" ? caller.credential.task : await taskOfFolder(store, folder);
    const stored = own === undefined ? undefined : await store.getTask(own);
    if (stored !== undefined) return stored;
    throw new Fault("task.missing", "There is no task of this folder.", {
      hint: "Name the task, or run this inside its workspace. List tasks with signalbox task list.",
    });
  }
  const stored = await store.findTask(reference, query.project);
  if (stored !== undefined) return stored;
  const where = query.project === undefined ? "" : ` in ${query.project}`;
  throw new Fault("task.missing", `There is no task ${JSON.stringify(reference)}${where}.`, {
    hint: `${names}\nTo see them all: signalbox task list --all --open --closed`,
  });
}

const names =
  "A task is named by its id or project#number; in its project's folder also by its number, or while it is open its branch.";

/** The task whose workspace contains a folder. */
export async function taskOfFolder(store: Core["store"], folder: string): Promise<string | undefined> {
  if (folder === "") return undefined;
  const inside = (await store.workspaces.list({})).filter(({ path }) => contains(path, folder));
  return inside.find(({ task }) => task !== "")?.task;
}
