import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { ChangeView } from "../../api/tasks.ts";
import { engineEnd } from "../../engine/child-workflows.ts";
import { mergesOnWord } from "../../engine/persons-turn.ts";
import type { Actor, Request } from "../../engine/request.ts";
import { notMeant } from "../../engine/reviewing.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask } from "../authorise.ts";
import { cancelledState, submitAsked, withoutWorkflow } from "../cancel-task.ts";
import type { Core } from "../core.ts";
import { awaitingTasks } from "../dependencies.ts";
import { haltTask } from "../halt-task.ts";
import type { Asked, Handler } from "../handlers.ts";
import { approvedCommit, mergedIn, mustBeSeen } from "../merge-approval.ts";
import { mergeOutlook } from "../merge-outlook.ts";
import { refuse } from "../questions/answers.ts";
import { seenPlan } from "../reviewed.ts";
import type { Answer, TaskRequest } from "../submit.ts";
import { tasksBelow } from "../task-family.ts";
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
    const insists = asked.body.unanswered === true;
    const answered = insists ? {} : ({ answered: true } as const);
    const stored = await findTask(core, asked);
    const { only } = asked.body;
    const other =
      only === undefined ? undefined : notMeant(await core.workflows.get(stored.task.workflowHash), stored.task, only);
    if (other !== undefined) await refuse(core, stored, { kind: "continue" }, other);
    const shown = await seenPlan(core, stored.task, asked.body.plan);
    const plan = shown === undefined ? {} : { plan: shown };
    if (asked.caller.kind !== "human")
      return { ...(await ask(core, asked, stored, (actor) => ({ kind: "continue", actor }))), warnings: [] };
    const { warnings, ...approval } = await approvalOf(core, asked, stored, insists);
    const word = { wake, ...answered, ...plan, ...approval };
    return { ...(await ask(core, asked, stored, (actor) => ({ kind: "continue", actor, word }))), warnings };
  };
}

/** Where the workflow merges on a person's word, the word is for the present commit, which the person has seen or insists on. */
async function approvalOf(
  core: Core,
  asked: About,
  stored: StoredTask,
  insists: boolean,
): Promise<{ readonly approves?: string; readonly warnings: string[] }> {
  const { task } = stored;
  if (!mergesOnWord(await core.workflows.get(task.workflowHash), task)) return { warnings: [] };
  const { workflow, facts } = await core.look(task);
  const merging = mergedIn(workflow, task, facts);
  if (merging === undefined) return { warnings: [] };
  await actorFor(core, stored, asked, (actor) => ({ kind: "continue", actor }));
  const commit = await approvedCommit(core, task, facts);
  if (!insists) await mustBeSeen(core, stored, commit, "continue");
  const warnings = await mergeOutlook(core, task, merging, commit);
  return { ...(commit === "" ? {} : { approves: commit }), warnings };
}

/**
 * Moves the task to the terminal state with the outcome cancelled. With `tree` every open task below it is cancelled too,
 * in one transaction; if one of them cannot be, nothing is cancelled. `tree` also works for a task that has ended before.
 */
export function cancelTask(core: Core): Handler<Routes["cancelTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const isTree = asked.body.tree === true;
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "continue", actor }));
    const open = (await tasksBelow(core.store, stored.task.id)).filter(({ isOpen }) => isOpen);
    const below = isTree ? open : [];
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(async (error) => {
      // Without its workflow the task has no state to move to. Its programs are ended nevertheless.
      if (actor.role !== "human") throw error;
      await haltTask(core, stored.task.id, async () => {});
      throw withoutWorkflow(stored, error);
    });
    const to = cancelledState(workflow, stored.task.status);
    for (const other of below) if (other.task.part !== undefined) await checkPartEnds(core, other);
    // The parts of a plan end with their parent.
    const others = below.filter(({ task }) => task.part === undefined);
    const change =
      others.length === 0
        ? await ask(core, asked, stored, (actor) => ({ kind: "move", to, actor }))
        : await cancelTree(core, asked, stored, others);
    const left = isTree ? [] : open.filter(({ task }) => task.part === undefined);
    return {
      ...{ ...change, below: idsIn(below), left: idsIn(left) },
      awaitedBy: idsIn(await awaitingTasks(core, stored.task.id, new Set(idsIn(below)))),
    };
  };
}

/** Cancels a task with others in one transaction. Each is decided before the first program is ended. */
async function cancelTree(
  core: Core,
  about: About,
  top: StoredTask,
  others: readonly StoredTask[],
): Promise<ChangeView> {
  const all = [top, ...others];
  const requests: TaskRequest[] = [];
  for (const each of all) {
    const naming = each === top ? rethrow : asPartOf(each);
    const to = await endOf(core, each).catch(naming);
    const request = (actor: Actor): Request => ({ kind: "move", to, actor });
    const actor = await actorFor(core, each, about, request).catch(naming);
    requests.push({ task: each.task.id, request: request(actor) });
  }
  const submit = async (isDry: boolean): Promise<Answer> => {
    const answers = await core.submit.together(requests, isDry);
    const last = answers.at(-1);
    const refused = all[answers.length - 1];
    if (last?.decision.kind === "rejected" && refused !== undefined && refused !== top)
      asPartOf(refused)(new Refusal(last.decision.reasons));
    const [first] = answers;
    if (first === undefined) throw new Error("A tree without its top.");
    return first;
  };
  const dry = await submit(true);
  if (dry.decision.kind === "rejected") return changeView(core, dry);
  return changeView(core, await haltTask(core, idsIn(all), () => submit(false)));
}

function rethrow(error: unknown): never {
  throw error;
}

/** Refuses where the engine could not end a part with its parent. */
async function checkPartEnds({ workflows }: Core, part: StoredTask): Promise<void> {
  const { workflowHash, status, id } = part.task;
  const workflow = await workflows.get(workflowHash).catch(asPartOf(part));
  if (workflow.states[status]?.terminal === true || engineEnd(workflow, status) !== undefined) return;
  asPartOf(part)(new Fault("children.endless", `The engine cannot end the part ${id} in "${status}".`));
}

function idsIn(tasks: readonly StoredTask[]): readonly string[] {
  return tasks.map(({ task }) => task.id);
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
      `${task.project}#${task.number} (${task.id}), which is below it, cannot be cancelled, so nothing was. ${error.message}`,
      {
        hint: `Cancel that one first: signalbox task cancel ${task.id}\nTo cancel without the tasks below it, leave --tree out.`,
        cause: error,
      },
    );
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
