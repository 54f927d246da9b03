import type { Need } from "../../engine/needs.ts";
import type { Task } from "../../engine/task.ts";
import type { TaskDocument } from "../../engine/task-document.ts";
import type { Kept } from "../../ports/records.ts";
import type { Collection, Store, StoredTask } from "../../ports/store.ts";
import type { Agents } from "../agents/agents.ts";
import { createTurns } from "../turns.ts";
import { lookAtNeeds, type NeedPorts } from "./need-facts.ts";

/** Who needs a person now, kept up to date as tasks, runs, messages and merges change. */
export interface Needs {
  /** What a task needs a person for; nothing where it is over. */
  of(stored: StoredTask, document?: TaskDocument): Promise<readonly Need[]>;
  /** How many tasks are open, and how many of those need a person. */
  counts(): Promise<{ readonly open: number; readonly needPerson: number }>;
  /** Something about a task may have changed. */
  noticed(task: string): void;
  /** Something about every open task may have changed. */
  noticedAll(): void;
  /** An open task is there, or was changed, or is over. */
  heard(stored: StoredTask): void;
  stop(): Promise<void>;
}

export interface NeedsPorts extends NeedPorts {
  /** Since when needs are known that are there already. */
  known(task: string): ReadonlyMap<string, number>;
  /** What an open task needs now; nothing where it is over, or needs nobody. */
  found(stored: StoredTask, needs: readonly Need[]): Promise<void>;
  /** A task has changed. */
  heard(task: Task): void;
  /** The task was deleted. */
  forgot(task: string): void;
  onError(error: unknown): void;
}

/** What was found when a task was last looked at, and the revision that it then had. */
interface Found {
  readonly revision: number;
  readonly needs: readonly Need[];
}

/** Several changes of a task are looked at together. Whoever asks in between is answered from what is there. */
const coalescing = 250;
const retryPause = 5_000;
/** How often workspaces are looked for that somebody has deleted. */
const pollInterval = 60_000;

export function createNeeds(ports: NeedsPorts): Needs {
  const { store, clock } = ports;
  const open = new Map<string, Found>();
  /** Tasks that have changed since they were last looked at, each with a mark of its latest change. */
  const dirty = new Map<string, symbol>();
  const soil = (id: string) => dirty.set(id, Symbol(id));
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
      const needs = isOpen ? await lookAtNeeds(ports, stored, ports.known(id)) : [];
      if (!isOpen) open.delete(id);
      else if (open.has(id)) open.set(id, { revision: stored.revision, needs });
      // Only now: whoever asks while we look must not get what was found before.
      if (dirty.get(id) === mark) dirty.delete(id);
      if (stored === undefined) ports.forgot(id);
      else tellOf(stored, needs);
      return needs;
    } catch (error) {
      soil(id);
      throw error;
    }
  };
  /** Who only asks must not wait for what is written, nor hear that it could not be. */
  const tellOf = (stored: StoredTask, needs: readonly Need[]) => {
    ports.found(stored, needs).catch((error) => {
      ports.onError(error);
      soil(stored.task.id);
      wake(retryPause);
    });
  };
  const lookAtAll = async () => {
    for (const id of [...dirty.keys()]) if (!isStopped) await look(id);
  };
  const wake = (pause = coalescing) => {
    if (isStopped || cancel !== undefined || dirty.size === 0) return;
    cancel = clock.after(pause, () => {
      underWay = lookAtAll()
        .then(
          () => coalescing,
          (error) => {
            ports.onError(error);
            return retryPause;
          },
        )
        .then((next) => {
          cancel = undefined;
          wake(next);
        });
    });
  };
  /** Nobody tells us when a folder is deleted. */
  const isOutdated = async (task: Task, known: readonly Need[]) =>
    known.some(({ reason }) => reason === "disk") !== (ports.unsaved?.() !== undefined) ||
    (await ports.troubleOf?.(task))?.reason !== known.find(({ reason }) => reason === "workspace")?.text;
  const lookForTrouble = async () => {
    for (const [id, { needs }] of [...open]) {
      const stored = isStopped ? undefined : await store.getTask(id);
      if (stored?.isOpen && (await isOutdated(stored.task, needs))) noticed(id);
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
    soil(task);
    wake();
  };

  return {
    noticed,
    noticedAll() {
      for (const task of open.keys()) soil(task);
      wake();
    },
    async of(stored, document) {
      if (!stored.isOpen) return [];
      if (document !== undefined) return lookAtNeeds(ports, stored, ports.known(stored.task.id), document);
      const known = dirty.has(stored.task.id) ? undefined : open.get(stored.task.id);
      // A task is stored before we hear of it.
      if (known === undefined || known.revision < stored.revision) return look(stored.task.id);
      return (await isOutdated(stored.task, known.needs)) ? look(stored.task.id) : known.needs;
    },
    async counts() {
      await lookAtAll().catch(ports.onError);
      return { open: open.size, needPerson: [...open.values()].filter(({ needs }) => needs.length > 0).length };
    },
    heard({ task, isOpen }) {
      const { id } = task;
      ports.heard(task);
      if (!open.has(id) && isOpen) open.set(id, { revision: 0, needs: [] });
      // Tasks that depend on it may have lost their hope.
      if (!isOpen && open.delete(id)) for (const each of open.keys()) soil(each);
      soil(id);
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

/** The same store; says so whenever something is written that can make a task need a person, besides the task itself. */
export function noticingStore(store: Store, noticed: (task: string) => void): Store {
  const noticing = <T extends Kept>(collection: Collection<T>): Collection<T> => ({
    ...collection,
    async put(record) {
      await collection.put(record);
      noticed(record.task);
    },
  });
  return {
    ...store,
    runs: noticing(store.runs),
    messages: noticing(store.messages),
    merges: noticing(store.merges),
  };
}

/** Says so whenever a run shows something else that can need a person. Runs are looked at all the time; this changes rarely. */
export function noticeRuns(agents: Agents, noticed: (task: string) => void): void {
  const last = new Map<string, string>();
  agents.follow((id) => {
    const watch = agents.watchOf(id);
    if (watch === undefined) return void last.delete(id);
    const { activity, what, error } = watch.signs;
    const isMute = agents.terminalTrouble() !== undefined;
    const shown = JSON.stringify([activity, activity === "asks" ? what : "", error?.kind, error?.message, isMute]);
    if (last.get(id) === shown) return;
    last.set(id, shown);
    noticed(watch.run.task);
  });
}
