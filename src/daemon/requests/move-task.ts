import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/task-wires.ts";
import { endState } from "../../engine/end-state.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Asked, Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import type { Answer } from "../submit.ts";
import { taskView } from "../views.ts";
import { findTask } from "./find-task.ts";
import { actorFor } from "./standing.ts";

type About = Asked<{ readonly project?: string }, unknown>;

export function moveTask(core: Core): Handler<Routes["moveTask"]> {
  return async (asked) => {
    const { to, document } = asked.body;
    const stored = await findTask(core, asked);
    return ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }), document);
  };
}

export function continueTask(core: Core): Handler<Routes["continueTask"]> {
  return async (asked) => ask(core, asked, await findTask(core, asked), (actor) => ({ kind: "continue", actor }));
}

/** The state in which the task is cancelled, in whatever words its workflow says that. */
export function cancelTask(core: Core): Handler<Routes["cancelTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const workflow = await core.workflows.get(stored.task.workflowHash);
    const to = cancelledState(workflow, stored.task.status);
    return ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }));
  };
}

/** Lets somebody ask something of a task. A refusal is thrown: over the wire it is an error. */
export async function ask(
  core: Core,
  about: About,
  stored: StoredTask,
  request: (actor: Actor) => Request,
  document?: string,
): Promise<ChangeView> {
  const actor = await actorFor(core, stored, about, request);
  return changeView(core, await core.submit(stored.task.id, request(actor), document));
}

export async function changeView(core: Core, { decision, stored, from }: Answer): Promise<ChangeView> {
  if (decision.kind === "rejected") throw new Refusal(decision.reasons);
  const task = taskView(stored, await core.workflows.get(stored.task.workflowHash), core.agents);
  return { kind: decision.kind, from, task, why: decision.kind === "ignored" ? decision.why : "" };
}

/** Ids of tasks that were named in any way. */
export function idsOf(core: Core, references: readonly string[], project: string): Promise<readonly string[]> {
  const about = { query: { project }, caller: { kind: "human" as const }, folder: "", body: {}, lastEvent: "" };
  return Promise.all(references.map(async (task) => (await findTask(core, { ...about, params: { task } })).task.id));
}

function cancelledState(workflow: Workflow, status: string): string {
  const end = endState(workflow, status, "cancelled");
  if (end !== undefined) return end;
  throw new Refusal([
    {
      code: "no-such-state",
      text: `The workflow "${workflow.name}" has no state in which a task is cancelled.`,
      fix: `It has ${Object.keys(workflow.states).join(", ")}.`,
    },
  ]);
}
