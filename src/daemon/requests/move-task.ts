import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/tasks.ts";
import { endState } from "../../engine/persons-turn.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import { haltTask } from "../halt-task.ts";
import type { Asked, Handler } from "../handlers.ts";
import type { Answer } from "../submit.ts";
import { viewOf } from "../views.ts";

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

function withoutWorkflow({ task }: StoredTask, error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const text = `The agents and commands of ${task.id} were ended. The task cannot be cancelled yet: ${error.message}`;
  return new Fault(error.code, text, { hint: error.hint ?? "", cause: error });
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
  const { id, workflowHash } = stored.task;
  const asked = request(actor);
  if (!cancels(await core.workflows.get(workflowHash), stored.task.status, asked))
    return changeView(core, await core.submit(id, asked, document));
  return changeView(core, await haltTask(core, id, () => core.submit(id, asked, document, "brake")));
}

/** Whether a person cancels the task. That is a brake: its programs are ended before any facts are gathered. */
function cancels({ states }: Workflow, status: string, request: Request): boolean {
  if (request.kind !== "move" || request.actor.role !== "human") return false;
  return states[request.to]?.outcome === "cancelled" && states[status]?.out[request.to] !== undefined;
}

export async function changeView(core: Core, { decision, stored, from }: Answer): Promise<ChangeView> {
  if (decision.kind === "rejected") throw new Refusal(decision.reasons);
  const task = await viewOf(core, stored);
  const { entry } = stored.task;
  if (decision.kind === "ignored") return { kind: "ignored", from, task, why: decision.why, entry, effects: [] };
  const effects = decision.effects.map(({ action }) => action);
  return { kind: decision.kind, from, task, why: "", entry, effects };
}

function cancelledState(workflow: Workflow, status: string): string {
  const end = endState(workflow, status, "cancelled");
  if (end !== undefined) return end;
  throw new Refusal([
    {
      code: "no-such-state",
      text: `The workflow "${workflow.name}" has no terminal state with the outcome cancelled.`,
      fix: `It has ${Object.keys(workflow.states).join(", ")}.`,
    },
  ]);
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
