import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { describeExplanation } from "../../describe-explanation.ts";
import { nameTask } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export async function explain(this: Context, { json }: { json: boolean }, reference: string) {
  const call = createCall(this);
  const explanation = await call(routes.explainTask, await nameTask(call, reference));
  this.print(json ? writeJson(explanation) : describeExplanation(explanation, this));
}
