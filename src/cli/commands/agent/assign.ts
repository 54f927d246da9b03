import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProject } from "../../find-project.ts";
import { asReference } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export interface AssignFlags {
  readonly project?: string;
  readonly json: boolean;
}

export async function assign(this: Context, flags: AssignFlags, agent: string, reference: string) {
  const call = createCall(this);
  const { name: project } = await findProject(call, flags.project);
  const answer = await call(routes.assignAgent, {
    params: { agent },
    body: { project, task: asReference(reference) },
  });
  if (flags.json) return this.print(writeJson(answer));
  this.print(`${answer.name}  ${answer.task}  ${answer.state}`);
  this.say(`Runs of ${answer.task} are made in ${answer.harness} from now on. To see it: signalbox agent ps`);
}
