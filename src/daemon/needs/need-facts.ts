import { type Need, type NeedFacts, needsOf, type SeenRun } from "../../engine/needs.ts";
import { askedOf, isPersonsTurn } from "../../engine/persons-turn.ts";
import { sentence } from "../../engine/sentence.ts";
import { startOf } from "../../engine/start-of.ts";
import type { Task } from "../../engine/task.ts";
import { parseTaskDocument, type TaskDocument } from "../../engine/task-document.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Agents } from "../agents/agents.ts";
import { runRecordId } from "../agents/run-name.ts";
import { shownTime } from "../agents/shown-time.ts";
import { isWanted } from "../agents/start-run.ts";
import type { RunWatch } from "../agents/watch-run.ts";
import type { Trouble } from "../workspaces/workspace-trouble.ts";

export interface NeedPorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  /** Undefined where no agents are started. */
  agents(): Agents | undefined;
  /** What is wrong with a task's workspace; missing where there are none. */
  troubleOf?(task: Task): Promise<Trouble | undefined>;
  /** Whether a slot is free that nobody gives to the task, which is its project's next; missing where nobody knows. */
  isNextLeft?(task: Task): Promise<boolean>;
  /** Why nothing can be saved; missing where it always can. */
  unsaved?(): Fault | undefined;
}

/**
 * What a task needs a person for now. `known` says since when needs are known that are there already; `document` is the
 * task's as it is in its folder, where somebody has just read that.
 */
export async function lookAtNeeds(
  ports: NeedPorts,
  stored: StoredTask,
  known: ReadonlyMap<string, number>,
  document?: TaskDocument,
): Promise<readonly Need[]> {
  const { store } = ports;
  const { task, updatedAt } = stored;
  const workflow = await ports.workflowOf(task).catch(() => undefined);
  const open = await store.openEffects(task.id);
  const failed = open.find(({ state }) => state === "failed");
  const facts: NeedFacts = {
    ...{ task, workflow, changedAt: updatedAt, now: ports.clock.now(), known },
    runs: await runsOf(ports, task),
    messages: await undelivered(ports, task),
    merge: await mergeOf(store, stored),
    failure: failed && { code: failed.failure?.code ?? "" },
    isOwing: open.some(({ state }) => state === "owed"),
    limit: limitOf(ports.agents(), task),
    hopeless: workflow === undefined ? [] : await hopelessOf(ports, workflow, task),
    trouble: await ports.troubleOf?.(task),
    unsaved: unsavedOf(ports.unsaved?.()),
    isNextLeft: (await ports.isNextLeft?.(task)) === true,
    ...(workflow === undefined ? { questions: "" } : await questionsOf(store, workflow, task, document)),
  };
  return needsOf(facts);
}

function unsavedOf(fault: Fault | undefined): NeedFacts["unsaved"] {
  return fault && { reason: fault.message, fix: `${fault.hint}\nTo see more: signalbox doctor` };
}

/** As far as they are looked after, and else as they were last recorded. */
async function runsOf({ store, agents }: NeedPorts, task: Task): Promise<readonly SeenRun[]> {
  const found: SeenRun[] = [];
  for (const { key } of Object.values(task.runs)) {
    const id = runRecordId(task.id, key);
    const watch = agents()?.watchOf(id);
    if (watch !== undefined) found.push(seenRun(watch));
    else {
      const { started, endedAt } = (await store.runs.get(id)) ?? {};
      if (started === undefined || endedAt !== undefined) continue;
      found.push({ key, activity: "unknown", what: "", raised: started.raised, error: "" });
    }
  }
  return found;
}

function seenRun({ run, started, signs: { activity, what, error } }: RunWatch): SeenRun {
  return { key: run.key, activity, what, raised: started.raised, error: errorText(error) };
}

/** A limit passes by itself; what else its provider or its program said does not. */
function errorText(error: RunWatch["signs"]["error"]): string {
  if (error === undefined || error.kind === "rate-limit") return "";
  const until = error.resetAt === undefined ? "" : ` That lasts until ${shownTime(error.resetAt)}.`;
  return `${sentence(error.message)}${until}`;
}

/** Of a run that waits to be started, or that was told of a limit while it lives. */
function limitOf(agents: Agents | undefined, task: Task): NeedFacts["limit"] {
  if (agents === undefined) return undefined;
  const waiting = agents.dispatch.waiting().filter((seat) => seat.task === task.id);
  const told = agents
    .watches()
    .filter(({ run, signs }) => run.task === task.id && isWanted(task, run.key) && signs.error?.kind === "rate-limit");
  for (const harness of new Set([...waiting, ...told.map(({ run }) => run)].map((each) => each.harness))) {
    const text = agents.dispatch.endlessLimit(harness);
    if (text !== undefined) return { harness, text };
  }
  return undefined;
}

/** What is only held up because the terminal does not answer is delivered once it does. */
async function undelivered({ store, agents }: NeedPorts, task: Task): Promise<NeedFacts["messages"]> {
  if (Object.keys(task.runs).length === 0) return [];
  const trouble = agents()?.terminalTrouble();
  const isHeldUp = (to: string) => {
    const watch = agents()?.watchOf(runRecordId(task.id, to));
    return watch?.started.mode === "session" && watch.signs.activity !== "busy";
  };
  return (await store.messages.list({ task: task.id })).flatMap(({ to, text, problem = "", deliveredAt }) => {
    if (deliveredAt !== undefined || !isWanted(task, to)) return [];
    if (problem !== "") return [{ to, text, problem }];
    if (trouble === undefined || !isHeldUp(to)) return [];
    return [{ to, text, problem: trouble.reason, fix: `${trouble.fix}\nTo see more: signalbox doctor` }];
  });
}

async function mergeOf(store: Store, { task, updatedAt }: StoredTask): Promise<NeedFacts["merge"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge === undefined) return undefined;
  const { state, target, reason, endedAt } = merge;
  if (state === "waits") return { state, target, reason };
  if (state === "lined-up" || state === "merged" || state === "undone") return undefined;
  // What has happened to the task since then may have mended it.
  const isLast = endedAt !== undefined && updatedAt <= endedAt;
  return isLast ? { state: "refused", target, reason } : undefined;
}

async function hopelessOf(ports: NeedPorts, workflow: Workflow, task: Task): Promise<NeedFacts["hopeless"]> {
  if (task.dependsOn.length === 0 || startOf(workflow, task) === undefined) return [];
  const all = await Promise.all(task.dependsOn.map((id) => ports.store.getTask(id)));
  const found: NeedFacts["hopeless"][number][] = [];
  for (const stored of all) {
    if (stored === undefined) continue;
    const { project, number, status } = stored.task;
    const state = (await ports.workflowOf(stored.task).catch(() => undefined))?.states[status];
    if (state?.terminal && state.outcome !== "done") found.push({ name: `${project}#${number}`, status });
  }
  return found;
}

async function questionsOf(
  store: Store,
  workflow: Workflow,
  task: Task,
  document: TaskDocument | undefined,
): Promise<Pick<NeedFacts, "questions" | "asked">> {
  const state = workflow.states[task.status];
  if (state === undefined || !isPersonsTurn(state)) return { questions: "" };
  const read = document ?? parseTaskDocument((await store.getDocument(task.id)).text);
  const questions = read.byHeading.get("Questions")?.body.trim() ?? "";
  return { questions, asked: askedOf(workflow, state, read) };
}
