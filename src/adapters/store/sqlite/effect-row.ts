import type { Effect } from "../../../engine/decision.ts";
import type { StoredEffect } from "../../../ports/store.ts";
import { dueAt } from "../due-at.ts";

/** The columns of `history` that say what was owed, and what became of it. */
export const effectColumns = "history.id, history.entry, history.at, history.states, history.effects, history.troubles";

export type EffectRow = [
  id: number,
  entry: number,
  at: number,
  states: string,
  effects: string,
  troubles: string | null,
];

/** What is not as it was at first, by its place in the row. */
type Troubles = Readonly<Record<number, Pick<StoredEffect, "dueAt" | "tries" | "failure">>>;

const letters = { owed: "o", done: "d", failed: "f", dropped: "x" } as const;
const states: Readonly<Record<string, StoredEffect["state"]>> = { d: "done", f: "failed", x: "dropped" };

/**
 * The effects of a row. Most are carried out in order, and then nothing is written here: it is enough that `first`, the
 * task's first open effect, is a later one.
 */
export function readEffects(task: string, first: number | null, row: EffectRow): readonly StoredEffect[] {
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

/** What became of the effects of a row; undefined where nothing has to be written. */
export function writeEffects(
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
