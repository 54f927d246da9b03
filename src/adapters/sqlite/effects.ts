import type { DatabaseSync } from "node:sqlite";
import type { Effect } from "../../engine/decision.ts";
import type { Store, StoredEffect } from "../../ports/store.ts";
import { chain, prepareReading, type Read, type Write } from "./connection.ts";
import { dueAt, effectMissing } from "./faults.ts";
import type { History } from "./history.ts";

/** The columns of `history` about effects and their states. */
const effectColumns = "history.id, history.entry, history.at, history.states, history.effects, history.troubles";

type EffectRow = [id: number, entry: number, at: number, states: string, effects: string, troubles: string | null];

/** Effects that differ from their initial state, by their index in the row. */
type Troubles = Readonly<Record<number, Pick<StoredEffect, "dueAt" | "tries" | "failure">>>;

const letters = { owed: "o", done: "d", failed: "f", dropped: "x" } as const;
const states: Readonly<Record<string, StoredEffect["state"]>> = { d: "done", f: "failed", x: "dropped" };

/**
 * The effects of a row. Most are performed in order, and then nothing is written here: effects before `first`, the
 * task's first open effect, are done.
 */
function readEffects(task: string, first: number | null, row: EffectRow): readonly StoredEffect[] {
  const [last, entry, at, marks, text, troubled] = row;
  const effects = JSON.parse(text) as readonly Effect[];
  const troubles: Troubles = troubled === null ? {} : JSON.parse(troubled);
  return effects.map((effect, i) => {
    const id = last - effects.length + 1 + i;
    const state = states[marks[i] ?? ""] ?? (first === null || id < first ? "done" : "owed");
    const { dueAt: due = dueAt(effect, at), tries = 0, failure } = troubles[i] ?? {};
    return { id, task, entry, effect, state, dueAt: due, tries, failure };
  });
}

/** The states of a row's effects; undefined if nothing has to be written. */
function writeEffects(
  effects: readonly StoredEffect[],
  first: number | null,
  [, , , marks, , troubled]: EffectRow,
): { readonly states: string; readonly troubles: string | null } | undefined {
  const isSaid = ({ id, state }: StoredEffect, i: number) =>
    state === "done" && marks[i] === letters.owed && (first === null || id < first);
  const written = effects.map((effect, i) => letters[isSaid(effect, i) ? "owed" : effect.state]).join("");
  const troubles = writeTroubles(effects);
  return written === marks && troubles === troubled ? undefined : { states: written, troubles };
}

function writeTroubles(effects: readonly StoredEffect[]): string | null {
  const troubles = effects.flatMap(({ dueAt, tries, failure }, i) =>
    tries > 0 ? [[i, { dueAt, tries, failure }]] : [],
  );
  return troubles.length === 0 ? null : JSON.stringify(Object.fromEntries(troubles));
}

type Effects = Pick<
  Store,
  "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
>;
type DebtorRow = [id: string, position: number, last: number, owed: number | null];

/** The effects that tasks owe. */
export function createEffects(
  database: DatabaseSync,
  read: Read,
  write: Write,
  owing: Owing,
  { append }: History,
): Effects {
  // Only the first open effect of a task can be due: later ones must wait for it.
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

  /** Undefined if the effect is closed already: reporting an end twice is allowed. */
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

/** A missing task owes nothing. */
function toDebtor([id, position, last, owed]: readonly [...DebtorRow, ...unknown[]] = ["", 0, 0, null]): Debtor {
  return { id, position, last, owed };
}

/** The columns of a task that concern its effects. */
interface Debtor {
  readonly id: string;
  readonly position: number;
  /** Its last history row; 0 if there is none. */
  readonly last: number;
  /** Its first open effect. */
  readonly owed: number | null;
}

/** The first open effect, as stored in the task's row. A failed effect has no due time. */
export interface FirstOwed {
  readonly owed: number | null;
  readonly dueAt: number | null;
}

export const nothingOwed: FirstOwed = { owed: null, dueAt: null };

/** The effects of a task. All methods run inside the caller's transaction. */
export interface Owing {
  /** Begins with the row that contains the effect `least`. */
  list(debtor: Debtor, least: number): readonly StoredEffect[];
  /** Changes open effects; returns the first that is still open, which the caller must store with `note`. */
  change(debtor: Debtor, how: (effect: StoredEffect) => StoredEffect): FirstOwed;
  note(position: number, first: FirstOwed): void;
}

export function createOwing(database: DatabaseSync): Owing {
  const rows = prepareReading<EffectRow>(
    database,
    `${chain("select ?1 where ?1 >= ?2", "?2")} select ${effectColumns} from history
     where history.id in chain and history.effects is not null order by history.id`,
  );
  const update = database.prepare("update history set states = ?, troubles = ? where id = ?");
  const note = database.prepare("update task set owed = ?, due_at = ? where position = ?");

  return {
    list: ({ id, last, owed }, least) => rows.all(last, least).flatMap((row) => readEffects(id, owed, row)),
    change: ({ id, last, owed }, how) => {
      if (owed === null) return nothingOwed;
      let first: StoredEffect | undefined;
      for (const row of rows.all(last, owed)) {
        const effects = readEffects(id, owed, row).map((effect) => (isOpen(effect) ? how(effect) : effect));
        first ??= effects.find(isOpen);
        const written = writeEffects(effects, first?.id ?? null, row);
        if (written !== undefined) update.run(written.states, written.troubles, row[0]);
      }
      return first === undefined ? nothingOwed : { owed: first.id, dueAt: first.state === "owed" ? first.dueAt : null };
    },
    note: (position, { owed, dueAt }) => void note.run(owed, dueAt, position),
  };
}

function isOpen({ state }: StoredEffect): boolean {
  return state === "owed" || state === "failed";
}

/** Makes a failed effect owed again. */
export function retried(effect: StoredEffect, at: number): StoredEffect {
  return effect.state === "failed" ? { ...effect, state: "owed", dueAt: at } : effect;
}

export function dropped(effect: StoredEffect): StoredEffect {
  return { ...effect, state: "dropped" };
}
