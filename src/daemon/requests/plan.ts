import { Refusal } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import type { Routes } from "../../api/routes.ts";
import { planFingerprint, plannedItems, whyFixed } from "../../engine/plan-edit.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { noteSeenPlan, seenPlan } from "../reviewed.ts";

export function getPlan(core: Core): Handler<Routes["getPlan"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const view = await viewOf(core, task);
    if (asked.query.shown === "true") await noteSeenPlan(core, asked.caller, task, view.fingerprint);
    return view;
  };
}

/** A person changes the plan before its children start. */
export function putPlan(core: Core): Handler<Routes["putPlan"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { items } = asked.body;
    const shown = await seenPlan(core, stored.task, asked.body.replaces);
    const replaces = shown === undefined ? {} : { replaces: shown };
    const request = (actor: Actor): Request => ({ kind: "plan", actor, items, ...replaces });
    const answer = await core.submit(stored.task.id, request(await actorFor(core, stored, asked, request)));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return viewOf(core, answer.stored.task);
  };
}

async function viewOf(core: Core, task: Task): Promise<PlanView> {
  const workflow = await core.workflows.get(task.workflowHash);
  const items = plannedItems(workflow, task);
  const fixed = whyFixed(workflow, task);
  return {
    task: task.id,
    items: items.map((item) => ({ ...item, needs: [...item.needs], files: [...item.files] })),
    fingerprint: planFingerprint(items),
    canChange: fixed === undefined,
    why: fixed?.text ?? "",
  };
}
