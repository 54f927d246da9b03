import type { DatabaseSync } from "node:sqlite";
import type { Store, StoredEffect } from "../../../ports/store.ts";
import { effectMissing } from "../faults.ts";
import { type EffectRow, effectColumns, readEffects } from "./effect-row.ts";
import type { History } from "./history.ts";
import { type Debtor, isOpen, type Owing, retried } from "./owing.ts";
import { prepareReading } from "./reading.ts";
import type { Read, Write } from "./writer.ts";

type Effects = Pick<
  Store,
  "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
>;
type DebtorRow = [id: string, position: number, last: number, owed: number | null];

/** What tasks owe. */
export function createEffects(
  database: DatabaseSync,
  read: Read,
  write: Write,
  owing: Owing,
  { append }: History,
): Effects {
  // Only the first open effect of a task can be due: what comes after it has to wait.
  const due = prepareReading<[task: string, owed: number, ...EffectRow]>(
    database,
    `select task.id, task.owed, ${effectColumns} from task indexed by due_task
     cross join history on history.id = (select min(id) from history where id >= task.owed)
     where task.due_at <= ? order by task.due_at, task.owed limit ?`,
  );
  const next = prepareReading<[number | null]>(
    database,
    "select min(due_at) from task indexed by due_task where due_at > ?",
  );
  const columns = "task.id, task.position, task.last, task.owed";
  const byTask = prepareReading<DebtorRow>(database, `select ${columns} from task where id = ?`);
  const byEffect = prepareReading<[...DebtorRow, row: number, effects: number]>(
    database,
    `select ${columns}, history.id, length(history.states)
     from history cross join task on task.position = history.task where history.id >= ? order by history.id limit 1`,
  );
  const debtorOf = (task: string) => toDebtor(byTask.get(task));

  /** What is over stays as it is, and gives undefined; to report it twice is no mistake. */
  const change = (id: number, how: (effect: StoredEffect) => StoredEffect): Debtor | undefined => {
    const found = byEffect.get(id);
    if (found === undefined || id <= found[4] - found[5]) throw effectMissing(id);
    const debtor = toDebtor(found);
    let isChanged = false;
    const first = owing.change(debtor, (effect) => {
      if (effect.id !== id) return effect;
      isChanged = true;
      return how(effect);
    });
    if (!isChanged) return undefined;
    owing.note(debtor.position, first);
    return debtor;
  };

  return {
    dueEffects: (now, limit) =>
      read(() =>
        due
          .all(now, limit)
          .flatMap(([task, owed, ...row]) => readEffects(task, owed, row).filter(({ id }) => id === owed)),
      ),
    nextDue: (now) => read(() => next.get(now)?.[0] ?? undefined),
    listEffects: (task) => read(() => owing.list(debtorOf(task), 1)),
    openEffects: (task) =>
      read(() => {
        const debtor = debtorOf(task);
        return debtor.owed === null ? [] : owing.list(debtor, debtor.owed).filter(isOpen);
      }),
    finishEffect: (id, at, note) =>
      write(() => {
        const debtor = change(id, (effect) => ({ ...effect, state: "done" }));
        if (debtor !== undefined && note !== undefined) append(debtor.id, [note], at);
      }),
    failEffect: (id, failure, retryAt) =>
      write(() => {
        const state = retryAt === undefined ? "failed" : "owed";
        change(id, (effect) => {
          const { dueAt, tries } = effect;
          return { ...effect, state, tries: tries + 1, dueAt: retryAt ?? dueAt, failure };
        });
      }),
    retryEffects: (task, at) =>
      write(() => {
        const debtor = debtorOf(task);
        let count = 0;
        const first = owing.change(debtor, (effect) => {
          if (effect.state === "failed") count++;
          return retried(effect, at);
        });
        if (count > 0) owing.note(debtor.position, first);
        return count;
      }),
  };
}

/** A task that is not there owes nothing. */
function toDebtor([id, position, last, owed]: readonly [...DebtorRow, ...unknown[]] = ["", 0, 0, null]): Debtor {
  return { id, position, last, owed };
}
