import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import type { Mail } from "./mail.ts";
import { runRecordId } from "./run-name.ts";
import { runPrompt } from "./run-prompt.ts";

export interface TellPorts {
  readonly store: Store;
  readonly places: Places;
  readonly mail: Mail;
  workflowOf(task: Task): Promise<Workflow>;
  portOf(task: Task): Promise<number | undefined>;
  placeFiles(task: Task, role: string): Promise<string>;
  testCommandOf(project: Project): readonly string[];
}

/** Tells a live agent something. It is kept first, so that it is told whatever happens, and once. */
export function tellAgent(ports: TellPorts): Perform {
  return async ({ agent: order }, { task, key }) => {
    if (order === undefined) throw new Fault("agents.order", "The effect does not say whom to tell.");
    const run = await ports.store.runs.get(runRecordId(task.id, order.run));
    // Whoever is dead is started with what it should know; there is nobody to tell.
    if (run === undefined || run.endedAt !== undefined) return;
    if (run.started === undefined)
      throw new Fault("agents.foreign", `${order.run} was not started by us, so there is no way to tell it anything.`);
    const workflow = await ports.workflowOf(task);
    const project = await projectOf(ports.store, task.project);
    const taskFile = task.workspace === "" ? "" : await ports.placeFiles(task, order.role);
    const port = await ports.portOf(task);
    const text = await runPrompt(ports, { workflow, task, project, order, taskFile, port });
    if (text.trim() !== "") await ports.mail.tell(run, text.trim(), key);
  };
}
