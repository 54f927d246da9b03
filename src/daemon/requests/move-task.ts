import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/tasks.ts";
import type { Actor, Request } from "../../engine/request.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask } from "../authorise.ts";
import { cancelledState, submitAsked, withoutWorkflow } from "../cancel-task.ts";
import type { Core } from "../core.ts";
import { awaitingTasks } from "../dependencies.ts";
import { haltTask } from "../halt-task.ts";
import type { Asked, Handler } from "../handlers.ts";
import { allTasks } from "../project.ts";
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

/**
 * Moves the task to the terminal state with the outcome cancelled. With `tree` every open task below it is cancelled too;
 * if one of them has no such state, nothing is cancelled. `tree` also works for a task that has ended before.
 */
export function cancelTask(core: Core): Handler<Routes["cancelTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const isTree = asked.body.tree === true;
    const open = await openBelow(core, stored.task.id);
    const below = isTree ? open : [];
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(async (error) => {
      // Without its workflow the task has no state to move to. Its programs are ended nevertheless.
      const { role } = await actorFor(core, stored, asked, (actor) => ({ kind: "continue", actor }));
      if (role !== "human") throw error;
      await haltTask(core, stored.task.id, async () => {});
      throw withoutWorkflow(stored, error);
    });
    const to = cancelledState(workflow, stored.task.status);
    // The parts of a plan end with their parent.
    const others = below.filter(({ task }) => task.part === undefined);
    const ends = await Promise.all(
      others.map(async (other) => ({ other, end: await endOf(core, other).catch(asPartOf(other)) })),
    );
    const isOver = workflow.states[stored.task.status]?.terminal === true && others.length > 0;
    const change = isOver
      ? await changeView(core, {
          decision: { kind: "ignored", why: "The task had ended before." },
          ...{ stored, from: stored.task.status },
        })
      : await ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }));
    for (const { other, end } of ends)
      await ask(core, asked, other, (actor) => ({ kind: "move", to: end, actor })).catch(unlessEnded);
    const left = isTree ? [] : open.filter(({ task }) => task.part === undefined);
    return {
      ...{ ...change, below: idsIn(below), left: idsIn(left) },
      awaitedBy: idsIn(await awaitingTasks(core, stored.task.id, new Set(idsIn(below)))),
    };
  };
}

function idsIn(tasks: readonly StoredTask[]): readonly string[] {
  return tasks.map(({ task }) => task.id);
}

/** The open tasks below a task, the nearest first. */
async function openBelow({ store }: Pick<Core, "store">, parent: string): Promise<readonly StoredTask[]> {
  const children = await allTasks(store, { parent });
  const deeper = await Promise.all(children.map(({ task }) => openBelow({ store }, task.id)));
  return [...children.filter(({ isOpen }) => isOpen), ...deeper.flat()];
}

async function endOf({ workflows }: Pick<Core, "workflows">, { task }: StoredTask): Promise<string> {
  return cancelledState(await workflows.get(task.workflowHash), task.status);
}

/** Names the task of the tree that cannot be cancelled. */
function asPartOf({ task }: StoredTask): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Fault) && !(error instanceof Refusal)) throw error;
    throw new Fault(
      "task.endless",
      `${task.project}#${task.number} (${task.id}), which is below it, cannot be cancelled.`,
      {
        hint: `See why: signalbox task cancel ${task.id}\nTo cancel without the tasks below it, leave --tree out.`,
        cause: error,
      },
    );
  };
}

/** A task that has ended meanwhile needs no cancel. */
function unlessEnded(error: unknown): void {
  const isEnded = error instanceof Refusal && error.reasons.some(({ code }) => code === "terminal");
  if (!isEnded) throw error;
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
