import { loadWorkflow } from "../engine/language/load.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Store } from "../ports/store.ts";

/**
 * A write-through cache. A value that is read while its key is being written is returned but not cached: it may be
 * older than the written value, or newer than a failed write suggests.
 */
export class StoreCache<T> {
  readonly #most: number;
  readonly #known = new Map<string, T>();
  /** The last reader of each key; it is cancelled when the key is written. */
  readonly #reading = new Map<string, symbol>();
  /**
   * The keys that are being written: how many writes, and whether they overlap, in which case their order is unknown.
   */
  readonly #writing = new Map<string, { count: number; beside: boolean }>();
  #writingAll = 0;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  /** The cached value, or the one that `load` finds. A missing value is not cached. */
  async read<Found extends T | undefined>(key: string, load: () => Promise<Found>): Promise<Found | T> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const reader = Symbol();
    this.#reading.set(key, reader);
    try {
      const found = await load();
      if (found !== undefined && this.#reading.get(key) === reader && !this.#isBeingWritten(key))
        this.#keep(key, found);
      return found;
    } finally {
      if (this.#reading.get(key) === reader) this.#reading.delete(key);
    }
  }

  /** `value` extracts the new value from the result; without it, the value is read again. */
  async write<Result>(key: string, write: () => Promise<Result>, value?: (result: Result) => T): Promise<Result> {
    this.forget(key);
    const writing = this.#writing.get(key) ?? { count: 0, beside: this.#writingAll > 0 };
    this.#writing.set(key, writing);
    if (writing.count++ > 0) writing.beside = true;
    let result: Result;
    try {
      result = await write();
    } finally {
      // A write that failed may still have been carried out.
      this.forget(key);
      if (--writing.count === 0) this.#writing.delete(key);
    }
    if (!writing.beside && value !== undefined) this.#keep(key, value(result));
    return result;
  }

  /** As `write`, where the affected keys are unknown. */
  async writeAll<Result>(write: () => Promise<Result>): Promise<Result> {
    this.forgetAll();
    this.#writingAll++;
    for (const writing of this.#writing.values()) writing.beside = true;
    try {
      return await write();
    } finally {
      this.#writingAll--;
      this.forgetAll();
    }
  }

  forget(key: string): void {
    this.#known.delete(key);
    this.#reading.delete(key);
  }

  #keep(key: string, value: T): void {
    // The first key of a Map is the oldest.
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#most && oldest !== undefined && !this.#known.has(key)) this.#known.delete(oldest);
    this.#known.set(key, value);
  }

  forgetAll(): void {
    this.#known.clear();
    this.#reading.clear();
  }

  #isBeingWritten(key: string): boolean {
    return this.#writingAll > 0 || this.#writing.has(key);
  }
}

export interface WorkflowCache {
  /** The workflow with this hash; tasks are pinned to it. */
  get(hash: string): Promise<Workflow>;
  /** The same, if it is loaded already. */
  known(hash: string): Workflow | undefined;
  /** Stores a workflow for the tasks that will be pinned to it. */
  keep(workflow: Workflow, text: string): Promise<void>;
}

/** Workflows are stored as text and loaded once: loading takes milliseconds, and every request needs one. */
export function createWorkflowCache(store: Store): WorkflowCache {
  const loaded = new Map<string, Workflow>();
  return {
    async get(hash) {
      const known = loaded.get(hash);
      if (known !== undefined) return known;
      const stored = await store.getWorkflow(hash);
      if (stored === undefined)
        throw new Fault("workflow.missing", `The store has no workflow with the hash ${hash.slice(0, 12)}.`, {
          hint: "Check the store: signalbox doctor",
        });
      const { workflow, problems } = loadWorkflow(stored.text, stored.name);
      if (workflow === undefined) {
        // It loaded when the task was created; this version of Signalbox is stricter.
        const first = problems[0]?.message ?? "";
        throw new Fault("workflow.invalid", `The workflow "${stored.name}" no longer loads: ${first}`, {
          hint: "Fix the workflow's file, then: signalbox task migrate TASK",
        });
      }
      loaded.set(hash, workflow);
      return workflow;
    },
    known: (hash) => loaded.get(hash),
    async keep(workflow, text) {
      if (loaded.has(workflow.hash)) return;
      await store.saveWorkflow({ hash: workflow.hash, name: workflow.name, text });
      loaded.set(workflow.hash, workflow);
    },
  };
}
