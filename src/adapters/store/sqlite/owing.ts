import type { DatabaseSync } from "node:sqlite";
import type { StoredEffect } from "../../../ports/store.ts";
import { chain } from "./chain.ts";
import { type EffectRow, effectColumns, readEffects, writeEffects } from "./effect-row.ts";
import { prepareReading } from "./reading.ts";

/** A task as far as its effects are concerned. */
export interface Debtor {
  readonly id: string;
  readonly position: number;
  /** Its last row of history; 0 where there is none. */
  readonly last: number;
  /** Its first open effect. */
  readonly owed: number | null;
}

/** What a task's row knows about the first open effect. What has failed is due at no time. */
export interface FirstOwed {
  readonly owed: number | null;
  readonly dueAt: number | null;
}

export const nothingOwed: FirstOwed = { owed: null, dueAt: null };

/** The effects of a task. Everything here belongs to the transaction of its caller. */
export interface Owing {
  /** From the row with the effect `least` on. */
  list(debtor: Debtor, least: number): readonly StoredEffect[];
  /** Changes open effects; gives the first that is still open, which the caller must note. */
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

export function isOpen({ state }: StoredEffect): boolean {
  return state === "owed" || state === "failed";
}

/** An effect that failed for good is owed again. */
export function retried(effect: StoredEffect, at: number): StoredEffect {
  return effect.state === "failed" ? { ...effect, state: "owed", dueAt: at } : effect;
}

export function dropped(effect: StoredEffect): StoredEffect {
  return { ...effect, state: "dropped" };
}
