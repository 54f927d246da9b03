import type { Store, StoredEvent, StoredTask } from "../../src/ports/store.ts";
import { sampleDecision, sampleTask } from "./samples.ts";

/** A store under test, with one project, and shortcuts for common steps. */
export interface Stage {
  /** A new store in each test. */
  readonly store: Store;
  create(...sample: Parameters<typeof sampleTask>): Promise<StoredTask>;
  /** The history of a task, or of all. */
  all(task?: string): Promise<readonly StoredEvent[]>;
  /** Ends a task. */
  over(stored: StoredTask): Promise<StoredTask>;
  /** The actions of a task's effects, with their states. */
  owedBy(task: string): Promise<readonly (readonly [string, string])[]>;
}

export function createStage(current: () => Store): Stage {
  return {
    get store() {
      return current();
    },
    create: (id, change = {}, rest = {}) =>
      current().createTask(change.project ?? "coffee", sampleTask(id, change, rest)),
    all: (task) => current().listEvents(task === undefined ? {} : { task }, 0, 10_000),
    over: (stored) => current().saveDecision(sampleDecision(stored, {}, { isOpen: false })),
    owedBy: async (task) => (await current().listEffects(task)).map(({ effect, state }) => [effect.action, state]),
  };
}
