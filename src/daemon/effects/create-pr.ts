import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { type OpenPorts, openPullRequest } from "../forge/open-pull-request.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { filledParam } from "./filled-param.ts";

export interface CreatePrPorts extends OpenPorts {
  workflowOf(task: Task): Promise<Workflow>;
}

/** Opens the task's pull request, or brings it up to date. Without a forge it is only written down. */
export function createPr(ports: CreatePrPorts): Perform {
  return async ({ params }, { task }) => {
    const workflow = await ports.workflowOf(task);
    await openPullRequest(ports, await projectOf(ports.store, task.project), task, {
      title: filledParam(workflow, task, params.title),
      body: filledParam(workflow, task, params.body),
    });
  };
}
