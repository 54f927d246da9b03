import type { Routes } from "../../api/routes.ts";
import { explain } from "../../engine/explain.ts";
import { endsThatStart, leftReason, type Need } from "../../engine/needs.ts";
import { isPersonsTurn } from "../../engine/persons-turn.ts";
import { sentence } from "../../engine/sentence.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { StoredTask } from "../../ports/store.ts";
import { explainAgents } from "../agents/explain-agents.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { eventsOf } from "../events-of.ts";
import {
  expectedConflicts,
  givenBackConflict,
  lostMerge,
  nextOfMerge,
  warnOfModules,
} from "../merging/explain-merge.ts";
import { effectView, isoTime, viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";
import { claimOf } from "./standing.ts";

export function explainTask(core: Core): Handler<Routes["explainTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const { workflow, facts, troubles } = await core.lookFor(task);
    const { where, blocked, moves } = explain(workflow, task, facts, claimOf(asked.caller).role);
    const needs = await core.needs.of(stored, facts.document);
    const owed = (await core.store.openEffects(task.id)).map(effectView);
    const waiting = await unfinished(core, task.dependsOn);
    const isHalted = core.performer.isHalted(task.id);
    const agents = await explainAgents(core.store, core.agents, task, isHalted || core.scheduler.waits(task.id));
    return {
      task: await viewOf(core, stored),
      where,
      blocked: [
        ...troubles.map(({ reason, fix }) => ({ reason, fix })),
        ...(await whyHere(core, workflow, task)),
        // What a person is needed for comes first: the same that lists and calls tell.
        ...needs.filter(({ text }) => !troubles.some(({ reason }) => reason === text)).map(shownNeed),
        ...(await givenBackConflict(core, task)),
        ...agents.blocked,
        ...blocked,
        ...(await deadAgent(core, task)),
        ...waiting,
        ...left(core, workflow, task).filter(({ reason }) => !needs.some(({ text }) => text === reason)),
        ...(await full(core, workflow, task)),
        ...(await lostMerge(core, stored)),
      ],
      moves,
      // What comes after something that has failed waits for a person.
      next: [
        ...(await nextOfMerge(core, stored)),
        ...agents.next,
        ...(owed[0]?.state === "owed" ? owed.map((each) => nextOf(each, isHalted)) : []),
        ...(await byItself(core, workflow, stored)),
      ],
      owed,
      warnings: [...(await expectedConflicts(core, task.id)), ...(await warnOfModules(core, task))],
    };
  };
}

function shownNeed({ text, fix }: Need) {
  return { reason: text, fix };
}

type Block = { readonly reason: string; readonly fix: string };

/** Why a task has come to where it waits for a person: the failure, or the verdict, that brought it here. */
async function whyHere({ store }: Core, workflow: Workflow, task: Task): Promise<readonly Block[]> {
  const { id, status, held, phase } = task;
  const state = workflow.states[status];
  if (held !== undefined || phase !== "waiting" || state === undefined || !isPersonsTurn(state)) return [];
  let came: { readonly from: string; readonly by: string; readonly reason: string } | undefined;
  for await (const { event } of eventsOf(store, id)) {
    if (event.type === "task.migrated") came = undefined;
    if (event.type !== "task.moved") continue;
    came = { from: String(event.data.from), by: event.by, reason: event.set.reason ?? "" };
  }
  if (came === undefined || came.by === "human") return [];
  const { from, by, reason } = came;
  if (reason !== "") {
    const fix = `See what has happened: signalbox task history ${id}`;
    return [{ reason: `It came here from "${from}": ${sentence(reason)}`, fix }];
  }
  const isFailed = (workflow.states[from]?.out[status] ?? []).flatMap(({ gates }) => gates);
  const verdict = isFailed.find((gate) => gate.verdict === "FAIL");
  if (verdict === undefined) return [];
  const fix = `Read what it says: signalbox task show ${id}`;
  return [{ reason: `It came here from "${from}": the verdict of ${by} in ## ${verdict.section} is FAIL.`, fix }];
}

/** Where a task is held because its agent died, the agent's last words often say why. */
async function deadAgent({ store }: Core, { id, held }: Task) {
  if (held?.again !== "wait") return [];
  const last = (await store.runs.list({ task: id })).findLast(({ started }) => started !== undefined);
  if (last?.endedAt === undefined || last.word !== held.word) return [];
  return [{ reason: `${last.key} has ended.`, fix: `See what it showed last: signalbox task logs ${id}` }];
}

function nextOf({ action, dueAt, tries }: ReturnType<typeof effectView>, isHalted: boolean) {
  if (isHalted) return { what: `Carry out ${action} once it is resumed`, at: null };
  return { what: tries === 0 ? `Carry out ${action}` : `Try ${action} again (failed ${tries} times)`, at: dueAt };
}

/** What happens without anybody's word. */
async function byItself({ deadlines, scheduler, agents }: Core, workflow: Workflow, { task }: StoredTask) {
  const due = deadlines.of(task.id);
  const timed = due === undefined ? [] : [{ what: due.what, at: isoTime(due.at) }];
  const isWaiting = task.held === undefined && task.autostart && scheduler.waits(task.id);
  if (!isWaiting) return timed;
  if (agents?.pauses.why(task.project) !== undefined) return [...timed, { what: "Start once it is resumed", at: null }];
  if (scheduler.isLeft(task.project)) return [...timed, { what: "Start when the project's next task does", at: null }];
  const isFull = await scheduler.isFull(task.project, task.id);
  if (!isFull) return [...timed, { what: "Start now", at: null }];
  const { starting, others } = endsThatStart(workflow);
  const when = others.length === 0 ? "a slot is free" : `a task that has a slot ends in ${starting.join(" or ")}`;
  return [...timed, { what: `Start when ${when}`, at: null }];
}

/** A slot is free, and nobody is going to give it to this task. */
function left({ scheduler }: Core, workflow: Workflow, { id, project, autostart, held }: Task): readonly Block[] {
  if (held !== undefined || !autostart || !scheduler.waits(id) || !scheduler.isLeft(project)) return [];
  return [{ reason: leftReason(workflow), fix: `Start it: signalbox task spawn ${id}` }];
}

/** Tasks that wait for a person keep their workspaces too: who looks in once an hour must see why nothing starts. */
async function full({ scheduler, store, pools }: Core, workflow: Workflow, { id, project, autostart, held }: Task) {
  const waitsForSlot = held === undefined && autostart && scheduler.waits(id) && (await scheduler.isFull(project, id));
  if (!waitsForSlot && !pools?.room.waits(id)) return [];
  const size = (await store.getProject(project))?.poolSize ?? 0;
  const more = `signalbox project update ${project} --pool-size ${size + 4}`;
  const { starting, others } = endsThatStart(workflow);
  const free = "Merge or cancel a task that has one";
  const by =
    waitsForSlot && others.length > 0
      ? [
          `${free}. This one starts by itself when that ends in ${starting.join(" or ")}.`,
          `After ${others.join(" or ")}, start it: signalbox task spawn ${id}`,
        ]
      : [`${free}.`];
  const fix = [...by, `Or let there be more: ${more}`].join("\n");
  return [{ reason: `All workspaces of ${project} are taken (${size}).`, fix }];
}

async function unfinished(core: Core, dependsOn: readonly string[]) {
  const all = await Promise.all(dependsOn.map((id) => core.store.getTask(id)));
  const found: { reason: string; fix: string }[] = [];
  for (const stored of all) {
    if (stored === undefined) continue;
    const { id, project, number, status, workflowHash } = stored.task;
    // Of one that has ended otherwise than done a person is told.
    if ((await core.workflows.get(workflowHash)).states[status]?.terminal === true) continue;
    const reason = `It depends on ${project}#${number}, which is in "${status}".`;
    found.push({ reason, fix: `See what it waits for: signalbox task explain ${id}` });
  }
  return found;
}
