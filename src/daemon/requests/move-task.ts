import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/task-wires.ts";
import { decide } from "../../engine/decide.ts";
import { endState } from "../../engine/end-state.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Asked, Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import type { Answer } from "../submit.ts";
import { viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";
import { actorFor } from "./standing.ts";

type About = Asked<{ readonly project?: string }, unknown>;

const wake = "A person has moved the task: it is in {status} now. Go on.";

export function moveTask(core: Core): Handler<Routes["moveTask"]> {
  return async (asked) => {
    const { to, document, unmerged = false } = asked.body;
    const stored = await findTask(core, asked);
    if (!unmerged && asked.caller.kind === "human") await mustBeMerged(core, stored, to);
    const word = asked.caller.kind === "human" ? { word: { wake } } : {};
    return ask(core, asked, stored, (actor) => ({ kind: "move", to, actor, ...word }), document);
  };
}

/** A person who ends a task as done without merging its work says so: else it would only seem to be in. */
async function mustBeMerged(core: Core, { task }: StoredTask, to: string): Promise<void> {
  const { states } = await core.workflows.get(task.workflowHash);
  if (states[to]?.outcome !== "done" || states[task.status]?.out[to] === undefined) return;
  const { workflow, facts } = await core.look(task);
  const commits = facts.numbers.commits ?? 0;
  const isRefusedAnyway =
    decide(workflow, task, { kind: "move", to, actor: { role: "human" } }, facts).kind === "rejected";
  if (commits === 0 || isRefusedAnyway) return;
  const many = commits === 1 ? "1 commit is" : `${commits} commits are`;
  const text = `Its work is not merged: ${many} only on "${task.branch}".`;
  const fix = `Merge it: signalbox task merge ${task.id}\nTo end it without: signalbox task update ${task.id} --status ${to} --yes`;
  throw new Refusal([{ code: "unmerged", text, fix }]);
}

export function continueTask(core: Core): Handler<Routes["continueTask"]> {
  return async (asked) => {
    const word = asked.caller.kind === "human" ? { word: { wake } } : {};
    return ask(core, asked, await findTask(core, asked), (actor) => ({ kind: "continue", actor, ...word }));
  };
}

/** The state in which the task is cancelled, in whatever words its workflow says that. */
export function cancelTask(core: Core): Handler<Routes["cancelTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(async (error) => {
      // Nobody can say any more where the task would go. Its programs are ended all the same.
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

/** Lets somebody ask something of a task. A refusal is thrown: over the wire it is an error. */
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

/** Whether a person wants the task to end without its work. That is a brake: programs end before anything is looked at. */
function cancels({ states }: Workflow, status: string, request: Request): boolean {
  if (request.kind !== "move" || request.actor.role !== "human") return false;
  return states[request.to]?.outcome === "cancelled" && states[status]?.out[request.to] !== undefined;
}

/** Ends the agents and the commands of a task, then does `then` before anything is started again. */
export async function haltTask<T>({ agents, commands }: Core, task: string, then: () => Promise<T>): Promise<T> {
  const release = commands.stop(task);
  try {
    if (agents === undefined) return await then();
    const runs = await agents.brake.runsOf((run) => run.task === task);
    const ending = { word: "lost", reason: "A person cancels the task." } as const;
    return await agents.brake.hold(runs, ending, then);
  } finally {
    release();
  }
}

export async function changeView(core: Core, { decision, stored, from }: Answer): Promise<ChangeView> {
  if (decision.kind === "rejected") throw new Refusal(decision.reasons);
  const task = await viewOf(core, stored);
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
