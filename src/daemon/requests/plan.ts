import { Refusal } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import type { Routes } from "../../api/routes.ts";
import { readItems } from "../../engine/fan-out.ts";
import { plannedResult, whyFixed } from "../../engine/plan-edit.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";

export function getPlan(core: Core): Handler<Routes["getPlan"]> {
  return async (asked) => viewOf(core, (await findTask(core, asked)).task);
}

/** A person changes the plan before its children start. */
export function putPlan(core: Core): Handler<Routes["putPlan"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const request = (actor: Actor): Request => ({ kind: "plan", actor, items: asked.body.items });
    const answer = await core.submit(stored.task.id, request(await actorFor(core, stored, asked, request)));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return viewOf(core, answer.stored.task);
  };
}

async function viewOf(core: Core, task: Task): Promise<PlanView> {
  const workflow = await core.workflows.get(task.workflowHash);
  const planned = plannedResult(workflow, task);
  const read = planned === undefined ? undefined : readItems(planned.result[planned.fanOut.from.field]);
  const items = read?.ok ? read.items : [];
  const fixed = whyFixed(workflow, task);
  return {
    task: task.id,
    items: items.map((item) => ({ ...item, needs: [...item.needs], files: [...item.files] })),
    canChange: fixed === undefined,
    why: fixed?.text ?? "",
  };
}
