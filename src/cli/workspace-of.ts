import { statSync } from "node:fs";
import { routes } from "../api/routes.ts";
import type { TaskView } from "../api/task-wires.ts";
import { Fault } from "../fault.ts";
import { createCall } from "./connect.ts";
import type { Context } from "./context.ts";
import { nameTask, shownTask } from "./name-task.ts";

export interface FoundWorkspace {
  readonly task: TaskView;
  readonly folder: string;
}

/** The folder that a task is worked on in, which must be there. */
export async function workspaceOf(context: Context, reference: string): Promise<FoundWorkspace> {
  const call = createCall(context);
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  const folder = task.workspace;
  if (folder === "") throw noWorkspace(task);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { task, folder };
  throw new Fault("workspace.gone", `The workspace of ${shownTask(task)}, ${folder}, is not there any more.`, {
    hint: `What was collected from it is safe. See what can be done: signalbox task explain ${task.id}`,
  });
}

function noWorkspace(task: TaskView): Fault {
  const name = shownTask(task);
  if (task.phase === "over")
    return new Fault("workspace.none", `${name} is over, and has given its workspace back.`, {
      hint: `See what it changed: signalbox task diff ${task.id}`,
    });
  return new Fault("workspace.none", `${name} has no workspace yet: it gets one when it starts.`, {
    hint: `See what it waits for: signalbox task explain ${task.id}`,
  });
}
