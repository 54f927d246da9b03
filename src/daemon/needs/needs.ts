import { parseTaskDocument, type TaskDocument } from "../../documents/task-document.ts";
import { type Need, type NeedFacts, needsOf, type SeenRun } from "../../engine/needs.ts";
import { askedOf, isPersonsTurn, startOf } from "../../engine/persons-turn.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Fault } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { sentence, shownTime } from "../../text.ts";
import type { Agents } from "../agents/agents.ts";
import { namedReset } from "../agents/dispatch.ts";
import { isWanted, runRecordId } from "../agents/run-order.ts";
import type { RunWatch } from "../agents/watch-run.ts";
import { seeDependencies } from "../dependencies.ts";
import type { Trouble } from "../workspaces/trouble.ts";

/** Which tasks need a person now, kept up to date as tasks, runs, messages and merges change. */
export interface Needs {
  /** Why a task needs a person; empty where it is over. */
  of(stored: StoredTask, document?: TaskDocument): Promise<readonly Need[]>;
  /** The needs of every open task, by its id. */
  all(): Promise<ReadonlyMap<string, readonly Need[]>>;
  /** How many tasks are open, and how many of those need a person. */
  counts(): Promise<{ readonly open: number; readonly needPerson: number }>;
  /** Something about a task may have changed. */
  noticed(task: string): void;
  /** Something about every open task may have changed. */
  noticedAll(): void;
  /** A task was created, changed or closed. */
  heard(stored: StoredTask): void;
  stop(): Promise<void>;
}

interface NeedsPorts extends NeedPorts {
  /** Since when each known need exists. */
  known(task: string): ReadonlyMap<string, number>;
  /** The current needs of an open task; empty where it is over or needs no person. */
  found(stored: StoredTask, needs: readonly Need[]): Promise<void>;
  /** A task has changed. */
  heard(task: Task): void;
  /** The task was deleted. */
  forgot(task: string): void;
  onError(error: unknown): void;
}

/** The result of the last check of a task, and the task's revision at that time. */
interface Found {
  readonly revision: number;
  readonly needs: readonly Need[];
  readonly hasWorkspace: boolean;
  readonly hasDependencies: boolean;
}

/**
 * Milliseconds in which several changes of a task are gathered for one check. Requests in between are answered from the
 * cache.
 */
const debounce = 250;
const retryPause = 5_000;
/** How often the daemon looks for deleted workspaces. */
const pollInterval = 60_000;
/** How long the number of tasks that need a person may take; then what is known counts. */
const maxCountWait = 1_000;

export function createNeeds(ports: NeedsPorts): Needs {
  const { store, clock } = ports;
  const open = new Map<string, Found>();
  /** Tasks that have changed since their last check, each with a mark of its latest change. */
  const dirty = new Map<string, symbol>();
  const markDirty = (id: string) => dirty.set(id, Symbol(id));
  let cancel: (() => void) | undefined;
  let isStopped = false;
  let underWay = Promise.resolve();
  const inTurn = createTurns();

  const look = (id: string) => inTurn(id, () => lookAt(id));
  const lookAt = async (id: string): Promise<readonly Need[]> => {
    const mark = dirty.get(id);
    try {
      const stored = await store.getTask(id);
      const isOpen = stored?.isOpen === true;
      const needs = isOpen ? await findNeeds(ports, stored, ports.known(id)) : [];
      if (!isOpen) open.delete(id);
      else if (open.has(id)) open.set(id, foundAt(stored, needs));
      // Cleared only now: a request during the check must not get the old result.
      if (dirty.get(id) === mark) dirty.delete(id);
      if (stored === undefined) ports.forgot(id);
      else report(stored, needs);
      return needs;
    } catch (error) {
      markDirty(id);
      throw error;
    }
  };
  /** A request must not wait until needs are stored, nor fail because they could not be. */
  const report = (stored: StoredTask, needs: readonly Need[]) => {
    ports.found(stored, needs).catch((error) => {
      ports.onError(error);
      markDirty(stored.task.id);
      wake(retryPause);
    });
  };
  /** A task that cannot be checked must not hide the needs of others. Returns whether every check succeeded. */
  const lookAtAll = async (): Promise<boolean> => {
    let isWhole = true;
    const failed = (error: unknown) => {
      isWhole = false;
      ports.onError(error);
    };
    for (const id of [...dirty.keys()]) if (!isStopped) await look(id).catch(failed);
    return isWhole;
  };
  const wake = (pause = debounce) => {
    if (isStopped || cancel !== undefined || dirty.size === 0) return;
    cancel = clock.after(pause, () => {
      underWay = lookAtAll().then((isWhole) => {
        cancel = undefined;
        wake(isWhole ? debounce : retryPause);
      });
    });
  };
  const isDiskOutdated = (known: readonly Need[]) =>
    known.some(({ reason }) => reason === "disk") !== (ports.unsaved?.() !== undefined);
  /** Nothing notifies the daemon of a deleted folder. */
  const isOutdated = async (task: Task, known: readonly Need[]) =>
    isDiskOutdated(known) ||
    (task.workspace === "" ? undefined : await ports.troubleOf?.(task))?.reason !==
      known.find(({ reason }) => reason === "workspace")?.text;
  const lookForTrouble = async () => {
    for (const [id, { needs, hasWorkspace }] of [...open]) {
      // Thousands of tasks may be open, few have a workspace, and only a workspace can be deleted unnoticed.
      if (!hasWorkspace && !isDiskOutdated(needs)) continue;
      const stored = isStopped ? undefined : await store.getTask(id);
      if (stored?.isOpen && (await isOutdated(stored.task, needs).catch(() => true))) noticed(id);
    }
  };
  let cancelPoll = () => {};
  const poll = () => {
    if (isStopped || ports.troubleOf === undefined) return;
    cancelPoll = clock.after(pollInterval, () => void lookForTrouble().catch(ports.onError).finally(poll));
  };
  poll();
  const noticed = (task: string) => {
    if (!open.has(task) && !dirty.has(task)) return;
    markDirty(task);
    wake();
  };

  const all = async () => {
    // Right after its start the daemon looks at every task. A caller who asks whether it runs must not wait for that.
    await new Promise<void>((resolve) => {
      const cancelWait = clock.after(maxCountWait, resolve);
      void lookAtAll().finally(() => {
        cancelWait();
        resolve();
      });
    });
    return new Map([...open].map(([id, { needs }]) => [id, needs]));
  };

  return {
    noticed,
    noticedAll() {
      for (const task of open.keys()) markDirty(task);
      wake();
    },
    async of(stored, document) {
      if (!stored.isOpen) return [];
      if (document !== undefined) return findNeeds(ports, stored, ports.known(stored.task.id), document);
      const { id } = stored.task;
      const known = dirty.has(id) ? undefined : open.get(id);
      try {
        // A task is stored before this cache hears of it.
        if (known === undefined || known.revision < stored.revision) return await look(id);
        return (await isOutdated(stored.task, known.needs)) ? await look(id) : known.needs;
      } catch (error) {
        // A list with this task must not fail; `explain` passes a document, and says why.
        ports.onError(error);
        wake(retryPause);
        return open.get(id)?.needs ?? [];
      }
    },
    all,
    async counts() {
      const needs = await all();
      return { open: needs.size, needPerson: [...needs.values()].filter((each) => each.length > 0).length };
    },
    heard(stored) {
      const { task, isOpen } = stored;
      const { id } = task;
      ports.heard(task);
      if (!open.has(id) && isOpen) open.set(id, { ...foundAt(stored, []), revision: 0 });
      // Tasks that depend on it may have become hopeless. Of many open tasks few depend on others.
      if (!isOpen && open.delete(id))
        for (const [each, { hasDependencies }] of open) if (hasDependencies) markDirty(each);
      markDirty(id);
      wake();
    },
    async stop() {
      isStopped = true;
      cancelPoll();
      cancel?.();
      await underWay;
    },
  };
}

function foundAt({ revision, task }: StoredTask, needs: readonly Need[]): Found {
  return { revision, needs, hasWorkspace: task.workspace !== "", hasDependencies: task.dependsOn.length > 0 };
}

/**
 * Calls `noticed` whenever a run's activity, question or error changes. Runs are checked all the time; these change
 * rarely.
 */
export function noticeRuns(agents: Agents, noticed: (task: string) => void): void {
  const last = new Map<string, string>();
  agents.follow((id) => {
    const watch = agents.watchOf(id);
    if (watch === undefined) return void last.delete(id);
    const { activity, what, error } = watch.signs;
    const isMute = agents.terminalTrouble() !== undefined;
    const about = [activity, activity === "asks" ? what : "", error?.kind, error?.message, isMute, watch.trouble];
    const shown = JSON.stringify(about);
    if (last.get(id) === shown) return;
    last.set(id, shown);
    noticed(watch.run.task);
  });
}

export interface NeedPorts {
  readonly store: Store;
  readonly clock: Clock;
  workflowOf(task: Task): Promise<Workflow>;
  /** Undefined where the daemon starts no agents. */
  agents(): Agents | undefined;
  /** The problem of a task's workspace; missing where there are no workspaces. */
  troubleOf?(task: Task): Promise<Trouble | undefined>;
  /**
   * Whether a slot is free that nothing gives to the task, which is its project's next; missing where that is unknown.
   */
  isNextLeft?(task: Task): Promise<boolean>;
  /** Why nothing can be saved; missing where it always can. */
  unsaved?(): Fault | undefined;
}

/**
 * Why a task needs a person now. `known`: since when each known need exists. `document`: the task's document from its
 * folder, where the caller has just read it.
 */
export async function findNeeds(
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
    lack: ports.agents()?.dispatch.lackOf(task.id),
    budget: ports
      .agents()
      ?.dispatch.blocksOf(task.id)
      .find(({ needsPerson }) => needsPerson),
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

/** The state of a task's runs from their watches, or else from their records. */
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

function seenRun({ run, started, signs, trouble }: RunWatch): SeenRun {
  const { activity, what } = signs;
  // Without its events, the daemon does not know whether the agent listens.
  const unheard = trouble === "" ? "" : `Its events cannot be read: ${sentence(trouble)}`;
  return { key: run.key, activity, what, raised: started.raised || unheard, error: errorText(signs) };
}

/** A limit passes by itself; other errors of a provider or a program do not. */
function errorText({ error, since }: RunWatch["signs"]): string {
  if (error === undefined || error.kind === "rate-limit") return "";
  const named = namedReset(error.resetAt, since);
  const until = named === undefined ? "" : ` That lasts until ${shownTime(named)}.`;
  return `${sentence(error.message)}${until}`;
}

/** The limit that holds up a run that waits to be started, or a live run. */
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

/** A message that waits only for the terminal is delivered once the terminal answers. */
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
  if (merge === undefined || merge.stopped === true) return undefined;
  const { state, target, reason, endedAt, entry = task.entry } = merge;
  if (state === "waits") return { state, target, reason };
  if (state === "lined-up" && endedAt === undefined && entry === task.entry)
    return { state: "under-way", target, reason };
  if (state === "lined-up" || state === "merged" || state === "undone") return undefined;
  // A change since then may have solved the problem. The workspace may have changed too, so the reason names the time.
  const isLast = endedAt !== undefined && updatedAt <= endedAt;
  const how = state === "tests" ? "tests" : "refused";
  return isLast ? { state: how, target, reason: `Not merged at ${shownTime(endedAt)}: ${reason}` } : undefined;
}

async function hopelessOf(ports: NeedPorts, workflow: Workflow, task: Task): Promise<NeedFacts["hopeless"]> {
  if (task.dependsOn.length === 0 || startOf(workflow, task) === undefined) return [];
  const found: NeedFacts["hopeless"][number][] = [];
  for (const each of task.dependsOn) {
    // A workflow that is lost says nothing about its tasks.
    const [seen] = await seeDependencies(ports, [each]).catch(() => []);
    if (seen?.verdict !== "hopeless") continue;
    found.push({ name: seen.facts.name, status: seen.facts.status, dependency: seen.dependency });
  }
  return found;
}

async function questionsOf(
  store: Store,
  workflow: Workflow,
  task: Task,
  document: TaskDocument | undefined,
): Promise<Pick<NeedFacts, "questions" | "asked" | "asker">> {
  const state = workflow.states[task.status];
  if (state === undefined || !isPersonsTurn(state)) return { questions: "" };
  const stored = await store.getDocument(task.id);
  const read = document ?? parseTaskDocument(stored.text);
  const questions = read.byHeading.get("Questions")?.body.trim() ?? "";
  return { questions, asked: askedOf(workflow, state, read), asker: stored.authors.Questions?.role ?? "" };
}
