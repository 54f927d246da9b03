import type { Store, StoredEffect } from "../../../ports/store.ts";
import { effectMissing } from "../faults.ts";
import { type EffectRow, isOpen, keep, noteOpen, prepare, type Run, type Tables, type TaskRow } from "./tables.ts";

type Effects = Pick<
  Store,
  "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
>;

/** What tasks owe. */
export function createEffects(tables: Tables, read: Run, write: Run): Effects {
  // In order per task: what comes after an effect that is owed or has failed has to wait for it.
  const firsts = () => [...tables.open.values()].flatMap(([first]) => (first?.state === "owed" ? [first] : []));
  const change = (id: number, how: (row: EffectRow) => void) => {
    const row = tables.effects.get(id);
    if (row === undefined) throw effectMissing(id);
    if (!isOpen(row)) return;
    how(row);
    noteOpen(tables, row.task);
  };

  return {
    dueEffects: (now, limit) =>
      read(() =>
        firsts()
          .filter((row) => row.dueAt <= now)
          .sort((one, other) => one.dueAt - other.dueAt || one.id - other.id)
          .slice(0, limit)
          .map(toEffect),
      ),
    nextDue: (now) =>
      read(() => {
        const later = firsts().flatMap((row) => (row.dueAt > now ? [row.dueAt] : []));
        return later.length === 0 ? undefined : later.reduce((one, other) => Math.min(one, other));
      }),
    listEffects: (task) => read(() => (tables.tasks.get(task)?.effects ?? []).map(toEffect)),
    openEffects: (task) => read(() => (tables.tasks.get(task)?.effects ?? []).filter(isOpen).map(toEffect)),
    finishEffect: (id, at, note) =>
      write(() =>
        change(id, (row) => {
          const { task } = row;
          const happened = prepare(tables, task, {
            revision: task.revision,
            at,
            events: note === undefined ? [] : [note],
          });
          row.state = "done";
          keep(tables, task, happened);
        }),
      ),
    failEffect: (id, failure, retryAt) =>
      write(() =>
        change(id, (row) => {
          row.state = retryAt === undefined ? "failed" : "owed";
          row.tries++;
          row.failure = { ...failure };
          row.dueAt = retryAt ?? row.dueAt;
        }),
      ),
    retryEffects: (task, at) =>
      write(() => {
        const row = tables.tasks.get(task);
        return row === undefined ? 0 : retryFailed(row, at);
      }),
  };
}

/** Makes the failed effects of a task owed again; gives how many there were. */
export function retryFailed({ effects }: Pick<TaskRow, "effects">, at: number): number {
  const failed = effects.filter((row) => row.state === "failed");
  for (const row of failed) Object.assign(row, { state: "owed", dueAt: at });
  return failed.length;
}

function toEffect({ id, task, entry, effect, state, dueAt, tries, failure }: EffectRow): StoredEffect {
  return { id, task: task.id, entry, effect: effect.read(), state, dueAt, tries, failure };
}
