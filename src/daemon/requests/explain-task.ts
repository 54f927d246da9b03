import type { Routes } from "../../api/routes.ts";
import type { Surroundings } from "../../engine/allowance.ts";
import { merges } from "../../engine/continue.ts";
import { conditionText } from "../../engine/dependency.ts";
import { explain } from "../../engine/explain.ts";
import { endsThatStart, leftReason, type Need } from "../../engine/needs.ts";
import { personActions } from "../../engine/person-actions.ts";
import { isPersonsTurn } from "../../engine/persons-turn.ts";
import { promisesOf } from "../../engine/promises.ts";
import type { Facts } from "../../engine/request.ts";
import { openFindings } from "../../engine/review-words.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { StoredTask } from "../../ports/store.ts";
import { shellWord } from "../../shell-quote.ts";
import { sentence } from "../../text.ts";
import { aliveOf, explainAgents, inTerminals } from "../agents/explain-agents.ts";
import { claimOf, findTask, unmergedWork } from "../authorise.ts";
import { explainChildren } from "../children/progress.ts";
import type { Core } from "../core.ts";
import { seeDependencies, warnOfMissing } from "../dependencies.ts";
import type { Handler } from "../handlers.ts";
import { placeOf } from "../landing-place.ts";
import { lostTrouble, lostWork } from "../lost-work.ts";
import { mergedIn } from "../merge-approval.ts";
import { mergeOutlook } from "../merge-outlook.ts";
import {
  expectedConflicts,
  givenBackConflict,
  lostMerge,
  mergeUnderWay,
  nextOfMerge,
  partlyMerged,
  warnOfModules,
} from "../merging/conflicts.ts";
import { notedBranches } from "../moved-target.ts";
import { allTaken, eventsOf, remoteOf } from "../project.ts";
import { warnOfProtected } from "../protection.ts";
import { unreviewedTrouble, unreviewedWork } from "../reviewed.ts";
import { effectView, isoTime, viewOf } from "../views.ts";
import { unsavedWorkspaces } from "../workspaces/unsaved-workspaces.ts";

export function explainTask(core: Core): Handler<Routes["explainTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const { workflow, facts, troubles } = await core.lookFor(task);
    const waiting = await unfinished(core, task.dependsOn);
    const { where, blocked, moves } = explain(workflow, task, facts, claimOf(asked.caller).role, {
      isDependent: waiting.length > 0 && core.scheduler.waits(task.id),
      waitsForSeat: core.agents?.dispatch.waiting().some((seat) => seat.task === task.id) === true,
    });
    const needs = await core.needs.of(stored, facts.document);
    const owed = (await core.store.openEffects(task.id)).map(effectView);
    const isHalted = core.performer.isHalted(task.id);
    const isOnHold = isHalted || core.scheduler.waits(task.id);
    const agents = await explainAgents(core.store, core.agents, { task, workflow, moves }, isOnHold);
    return {
      task: await viewOf(core, stored),
      where: (await mergeUnderWay(core, task)) ?? [where, ...(await afterEnd(core, stored, workflow))].join("\n"),
      blocked: [
        ...troubles.map(({ reason, fix }) => ({ reason, fix })),
        ...(await whyHere(core, workflow, task)),
        ...(await unmergeable(core, workflow, task, facts.head)),
        // The reasons a person is needed come first, worded as in lists and calls.
        ...needs.filter(({ text }) => !troubles.some(({ reason }) => reason === text)).map(shownNeed),
        ...(await givenBackConflict(core, task)),
        ...(await partlyMerged(core, task)),
        ...agents.blocked,
        ...blocked,
        ...(await explainChildren(core, task, workflow)),
        ...(await deadAgent(core, task)),
        ...waiting.map(({ reason, fix }) => ({ reason, fix })),
        ...left(core, workflow, task).filter(({ reason }) => !needs.some(({ text }) => text === reason)),
        ...(await full(core, workflow, task)),
        ...(await lostMerge(core, stored)),
        ...(await unsaved(core, task)),
      ],
      moves,
      // Effects after a failed one wait for a person.
      next: [
        ...(await nextOfMerge(core, stored)),
        ...agents.next,
        ...(owed[0]?.state === "owed" ? owed.map((each) => nextOf(each, isHalted)) : []),
        ...(await byItself(core, workflow, stored, waiting, needs)),
      ],
      owed,
      promises: [...promisesOf(workflow, task, facts)],
      warnings: [
        ...(await warnOfProtected(core, task)),
        ...(await warnOfMerge(core, workflow, task, facts)),
        ...(await expectedConflicts(core, task.id)),
        ...(await warnOfModules(core, task)),
        ...(await warnOfMissing(core, task)),
        ...countedRefusals(core, task),
        ...notedBranches(await core.store.getProject(task.project), task),
      ],
    };
  };
}

/** What a reader asks about a task that is over: why it failed, what it was a part of, and where its work is. */
async function afterEnd(core: Core, { task, isOpen }: StoredTask, workflow: Workflow): Promise<readonly string[]> {
  if (isOpen) return [];
  const { reason, part, parent, branch } = task;
  const outcome = workflow.states[task.status]?.outcome;
  const found = await unmergedWork(core, task);
  // `lostMerge` reports a merge that was undone.
  const work = found?.isUndone === true ? undefined : found;
  const left = outcome === "done" || part !== undefined || branch === "" ? [] : [`Its branch is "${branch}".`];
  return [
    ...(outcome === "failed" && reason !== "" ? [sentence(reason)] : []),
    ...(part === undefined ? [] : [await whosePart(core, part.item, parent)]),
    ...(work === undefined ? left : [work.text, work.fix]),
  ];
}

async function whosePart({ store }: Core, item: string, parent: string): Promise<string> {
  const isThere = (await store.getTask(parent)) !== undefined;
  return `It is the part "${item}" of ${parent}${isThere ? `: signalbox task show ${parent}` : ", which was deleted."}`;
}

/** Refusals beyond those that history keeps: an agent that repeats them is stuck, or tries to get round its role. */
function countedRefusals({ refusals }: Core, task: Task): readonly string[] {
  const count = refusals.notStored(task);
  if (count === 0) return [];
  const were = count === 1 ? "One more request of an agent was" : `${count} more requests of agents were`;
  return [`${were} refused in this state. They are counted, but not in history.`];
}

function shownNeed({ text, fix }: Need) {
  return { reason: text, fix };
}

type Block = { readonly reason: string; readonly fix: string };

/** Why the task is in a state that waits for a person: the failure or the verdict that moved it there. */
async function whyHere({ store }: Core, workflow: Workflow, task: Task): Promise<readonly Block[]> {
  const { id, status, held, phase } = task;
  const state = workflow.states[status];
  if (held !== undefined || phase !== "waiting" || state === undefined || !isPersonsTurn(state)) return [];
  let came: { readonly from: string; readonly by: string; readonly reason: string } | undefined;
  let ledger: Task["ledger"];
  for await (const { event } of eventsOf(store, id)) {
    if (event.type === "task.migrated") came = undefined;
    if (event.set.ledger !== undefined) ledger = event.set.ledger;
    if (event.type !== "task.moved") continue;
    // Of the findings that were open then, a person may have dismissed some.
    const reason = (event.set.reason ?? "").replace(openFindings(ledger), () => openFindings(task.ledger));
    came = { from: String(event.data.from), by: event.by, reason };
  }
  if (came === undefined || came.by === "human") return [];
  const { from, by, reason } = came;
  if (reason !== "") {
    const diff = task.workspace === "" ? "" : `\nSee the work: signalbox task diff ${id}`;
    const fix = `See what happened: signalbox task history ${id}${diff}`;
    return [{ reason: `The task came here from "${from}": ${sentence(reason)}`, fix }];
  }
  const isFailed = (workflow.states[from]?.out[status] ?? []).flatMap(({ gates }) => gates);
  const verdict = isFailed.find((gate) => gate.verdict === "FAIL");
  if (verdict === undefined) return [];
  const forCommit = task.judged === undefined ? "" : `, for commit ${task.judged.commit.slice(0, 10)}`;
  const fix = `Read why: signalbox task show ${id} --section ${shellWord(verdict.section)}`;
  return [
    {
      reason: `The task came here from "${from}": the ${by}'s verdict in ## ${verdict.section} is FAIL${forCommit}.`,
      fix,
    },
  ];
}

/** Work that has moved since its verdict, or that its target has lost, in a state in which a person could merge it. */
async function unmergeable(core: Core, workflow: Workflow, task: Task, head: string): Promise<readonly Block[]> {
  const state = workflow.states[task.status];
  if (core.repositories === undefined || head === "" || state === undefined || !isPersonsTurn(state)) return [];
  const project = await core.store.getProject(task.project);
  if (project === undefined) return [];
  const own = await core.repositories.workspacesOf(project);
  const place = await placeOf({ store: core.store, where: core.repositories.where() }, own, project, task);
  const tip = await place.lastSeen();
  const lost = tip && (await lostWork({ store: core.store, control: own.control }, task, place.branch, head, tip));
  if (lost) return [lostTrouble(task, place.branch, lost)];
  const stale = merges(state) ? staleTests(task, head) : [];
  if (task.judged === undefined || task.judged.commit === head) return stale;
  const unreviewed = await unreviewedWork(own, place, task, head);
  if (unreviewed === undefined) return stale;
  const trouble = unreviewedTrouble(workflow, task, unreviewed);
  // The task is held for it, and its need says so.
  return task.held?.reason.includes(trouble.reason) ? stale : [trouble, ...stale];
}

/** What a person should know before their word lets the workflow merge. */
async function warnOfMerge(core: Core, workflow: Workflow, task: Task, facts: Facts): Promise<readonly string[]> {
  const merging = task.phase === "waiting" ? mergedIn(workflow, task, facts) : undefined;
  return merging === undefined ? [] : mergeOutlook(core, task, merging, facts.head);
}

/** Tests of an earlier commit say nothing about the present one. */
function staleTests({ id, tested }: Task, head: string): readonly Block[] {
  // Work without tests is reported as such.
  if (tested === undefined || tested.word === "untested" || tested.commit === head) return [];
  const [before, now] = [tested.commit.slice(0, 10), head.slice(0, 10)];
  const reason = `The last tests ran on ${before}, but the branch is at ${now}.`;
  return [{ reason, fix: `See the difference: signalbox task diff ${id} --since-review` }];
}

/** If a task is held because its agent died, the agent's last output often says why. */
async function deadAgent({ store }: Core, { id, held }: Task) {
  if (held?.again !== "wait") return [];
  const last = (await store.runs.list({ task: id })).findLast(({ started }) => started !== undefined);
  if (last?.endedAt === undefined || last.word !== held.word) return [];
  return [{ reason: `${last.key} has ended.`, fix: `See its last output: signalbox task logs ${id}` }];
}

function nextOf({ action, dueAt, tries }: ReturnType<typeof effectView>, isHalted: boolean) {
  if (isHalted) return { what: `Carry out ${action} once it is resumed`, at: null };
  return { what: tries === 0 ? `Carry out ${action}` : `Try ${action} again (failed ${tries} times)`, at: dueAt };
}

/** The steps that follow without a request: deadlines, and the start of a task that waits for a slot. */
async function byItself(
  { deadlines, scheduler, agents }: Core,
  workflow: Workflow,
  { task }: StoredTask,
  dependencies: readonly { readonly condition: string }[],
  needs: readonly Need[],
) {
  const due = deadlines.of(task.id);
  const timed = due === undefined ? [] : [{ what: due.what, at: isoTime(due.at) }];
  const isWaiting = task.held === undefined && scheduler.waits(task.id);
  if (!isWaiting) return timed;
  if (agents?.pauses.why(task.project) !== undefined) return [...timed, { what: "Start once it is resumed", at: null }];
  // A dependency that will never be done is a need.
  if (needs.some(({ reason }) => reason === "dependency")) return timed;
  if (dependencies.length > 0) {
    const conditions = listedNames(dependencies.map(({ condition }) => condition));
    return [...timed, { what: `Start when ${conditions}`, at: null }];
  }
  const { starting, others } = endsThatStart(workflow);
  if (scheduler.isLeft(task.project)) {
    const ends = starting.length === 0 ? "" : `another task ends in ${starting.join(" or ")}, or `;
    return [...timed, { what: `Start when ${ends}you start a task of ${task.project}`, at: null }];
  }
  const isFull = await scheduler.isFull(task.project, task.id);
  if (!isFull) return [...timed, { what: "Start now", at: null }];
  const when = others.length === 0 ? "a slot is free" : `a task that has a slot ends in ${starting.join(" or ")}`;
  return [...timed, { what: `Start when ${when}`, at: null }];
}

function listedNames(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The folders of the task that could not be saved. They are reported after its end too. */
async function unsaved({ store }: Core, { id, project }: Task): Promise<readonly Block[]> {
  return (await unsavedWorkspaces(store, { project })).filter(({ task }) => task === id);
}

/** A slot is free, but only spawn_next in the workflow would start this task. */
function left({ scheduler }: Core, workflow: Workflow, { id, project, held }: Task): readonly Block[] {
  if (held !== undefined || !scheduler.waits(id) || !scheduler.isLeft(project)) return [];
  return [{ reason: leftReason(workflow), fix: `Start it: signalbox task spawn ${id}` }];
}

/** All workspaces are taken. Tasks that wait for a person keep theirs too, so a person must see why nothing starts. */
async function full({ scheduler, store, pools }: Core, workflow: Workflow, { id, project, held }: Task) {
  const waitsForSlot = held === undefined && scheduler.waits(id) && (await scheduler.isFull(project, id));
  if (!waitsForSlot && !pools?.room.waits(id)) return [];
  const size = (await store.getProject(project))?.poolSize ?? 0;
  const more = `signalbox project update ${project} --pool-size ${size + 1}`;
  const { starting, others } = endsThatStart(workflow);
  const by =
    waitsForSlot && others.length > 0
      ? [
          `This task starts by itself when a task that has one ends in ${starting.join(" or ")}.`,
          `A task that ends in ${others.join(" or ")} frees its workspace, but starts nothing. Then start this one: signalbox task spawn ${id}`,
        ]
      : ["Merge or cancel a task that has one."];
  const fix = [...by, `Or allow more: ${more}`].join("\n");
  return [{ reason: allTaken(project, size), fix }];
}

/** The dependencies that are not met yet. One that will never be met is a need of its own. */
async function unfinished({ store, workflows }: Core, dependsOn: readonly string[]) {
  const workflowOf = (task: Task) => workflows.get(task.workflowHash);
  const seen = await seeDependencies({ store, workflowOf }, dependsOn);
  return seen.flatMap(({ dependency, stored, facts: { name, status }, verdict }) => {
    if (verdict !== "waits") return [];
    const condition = conditionText(dependency, name);
    const isPlain = (dependency.state ?? dependency.section) === undefined;
    const reason = isPlain
      ? `The task depends on ${name}, which is in "${status}".`
      : `The task waits until ${condition}; ${name} is in "${status}".`;
    const fix = `See what that task waits for: signalbox task explain ${stored.task.id}`;
    return [{ condition, reason, fix }];
  });
}

/** What a person can do with a task. Nothing is carried out: the engine decides on each action, and the decision is dropped. */
export function listActions(core: Core): Handler<Routes["listActions"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { workflow, facts } = await core.lookFor(stored.task);
    const around = await surroundings(core, stored.task, facts.head);
    return {
      task: await viewOf(core, stored),
      actions: personActions(workflow, stored.task, facts, around).map((each) => ({ ...each })),
    };
  };
}

async function surroundings(core: Core, task: Task, head: string): Promise<Surroundings> {
  const { store } = core;
  const runs = (await store.runs.list({ task: task.id })).filter(({ started }) => started !== undefined);
  const alive = aliveOf(task, runs);
  const merge = await store.merges.get(task.id);
  const open = await store.openEffects(task.id);
  const isMerging = merge?.state === "lined-up" || merge?.state === "waits";
  return {
    terminals: inTerminals(core.agents, task, alive),
    alive: alive.map(({ key }) => key),
    hasWorked: runs.length > 0,
    hasFailed: open.some(({ state }) => state === "failed"),
    owed: open.map(({ effect }) => effect.action),
    isMerging: isMerging && task.phase !== "over",
    canStopMerge: merge?.to !== "",
    hasWork: head !== "" || task.workspace !== "" || merge !== undefined,
    hasRemote: await hasRemote(core, task.project),
  };
}

/** If this cannot be read, true: the request for a pull request then reports why. */
async function hasRemote({ git, store }: Core, name: string): Promise<boolean> {
  const project = await store.getProject(name);
  if (git === undefined || project === undefined) return false;
  return remoteOf(git, project).then(
    (remote) => remote !== undefined,
    () => true,
  );
}
