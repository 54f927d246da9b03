import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/tasks.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask } from "../authorise.ts";
import { cancelledState, submitAsked, withoutWorkflow } from "../cancel-task.ts";
import type { Core } from "../core.ts";
import { haltTask } from "../halt-task.ts";
import type { Asked, Handler } from "../handlers.ts";
import { changeView } from "../views.ts";

type About = Asked<{ readonly project?: string }, unknown>;

const wake = "A person has moved the task: it is in {status} now. Continue.";

export function moveTask(core: Core): Handler<Routes["moveTask"]> {
  return async (asked) => {
    const { to, document, unmerged = false } = asked.body;
    const stored = await findTask(core, asked);
    const merged = unmerged ? {} : ({ merged: true } as const);
    const word = asked.caller.kind === "human" ? { word: { wake, ...merged } } : {};
    return ask(core, asked, stored, (actor) => ({ kind: "move", to, actor, ...word }), document);
  };
}

export function continueTask(core: Core): Handler<Routes["continueTask"]> {
  return async (asked) => {
    const answered = asked.body.unanswered === true ? {} : ({ answered: true } as const);
    const word = asked.caller.kind === "human" ? { word: { wake, ...answered } } : {};
    return ask(core, asked, await findTask(core, asked), (actor) => ({ kind: "continue", actor, ...word }));
  };
}

/** Moves the task to the terminal state with the outcome cancelled. */
export function cancelTask(core: Core): Handler<Routes["cancelTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(async (error) => {
      // Without its workflow the task has no state to move to. Its programs are ended nevertheless.
      const { role } = await actorFor(core, stored, asked, (actor) => ({ kind: "continue", actor }));
      if (role !== "human") throw error;
      await haltTask(core, stored.task.id, async () => {});
      throw withoutWorkflow(stored, error);
    });
    const to = cancelledState(workflow, stored.task.status);
    return ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }));
  };
}

/** Authorises and submits a caller's request. Throws a refusal, which the API answers as an error. */
export async function ask(
  core: Core,
  about: About,
  stored: StoredTask,
  request: (actor: Actor) => Request,
  document?: string,
): Promise<ChangeView> {
  const actor = await actorFor(core, stored, about, request);
  return changeView(core, await submitAsked(core, stored.task, request(actor), document));
}

/**
 * Records that a person talks to a task's agent: in a state that waits for a person, the agent may then leave that state.
 * In a dialogue the reply would count as the person's answer, so it is submitted only if the state waits for a person.
 */
export async function attend(
  core: Core,
  asked: Asked<{ readonly project?: string }, unknown>,
  stored: StoredTask,
  text: string,
): Promise<void> {
  const { task } = stored;
  const state = (await core.workflows.get(task.workflowHash)).states[task.status];
  if (state?.wait.kind !== "human" || task.attended) return;
  await ask(core, asked, stored, (actor) => ({ kind: "reply", actor, text }));
}
