import type { Task } from "../../src/engine/task.ts";
import type { ExportedTask } from "./exported-task.ts";
import { owedBy } from "./ring.ts";

/** An answer of the daemon: the task moved from one state to another, and has this revision. */
export interface Acknowledged {
  readonly revision: number;
  readonly from: string;
  readonly to: string;
}

/** All problems of a settled task. */
export function problemsOf(
  { task, revision, events, effects, replayed }: ExportedTask,
  acknowledged: readonly Acknowledged[],
  lines: readonly string[],
): readonly string[] {
  return [
    ...missing(events, acknowledged),
    ...breaks(events, revision),
    ...differences(replayed, task),
    ...restless(task, effects),
    ...hookProblems(task.id, events, effects, lines),
  ].map((problem) => `${task.id}: ${problem}`);
}

function missing(events: ExportedTask["events"], acknowledged: readonly Acknowledged[]): readonly string[] {
  return acknowledged.flatMap(({ revision, from, to }) => {
    const found = movesOf(events).filter((move) => move.revision === revision && move.from === from && move.to === to);
    return found.length === 1 ? [] : [`acknowledged ${from}-${to} at ${revision}, but history has ${found.length}`];
  });
}

function movesOf(events: ExportedTask["events"]) {
  return events
    .filter(({ event }) => event.type === "task.moved")
    .map(({ revision, event: { data, set } }) => ({ revision, from: data.from, to: data.to, entry: set.entry }));
}

/** Each move begins where the last one ended, and no revision is left out. */
function breaks(events: ExportedTask["events"], last: number): readonly string[] {
  const problems: string[] = [];
  const moves = movesOf(events);
  for (const [i, move] of moves.entries()) {
    const before = moves[i - 1];
    if (before === undefined) continue;
    if (move.from !== before.to) problems.push(`left ${move.from} at ${move.revision}, but was in ${before.to}`);
    if (move.entry !== (before.entry ?? 0) + 1) problems.push(`stay ${move.entry} came after ${before.entry}`);
  }
  let revision = 0;
  let position = 0;
  for (const each of events) {
    if (each.revision < revision || each.revision > revision + 1)
      problems.push(`revision ${each.revision} came after ${revision}`);
    if (each.position <= position) problems.push(`position ${each.position} came after ${position}`);
    ({ revision, position } = each);
  }
  if (revision !== last) problems.push(`the task is at revision ${last}, but history ends with ${revision}`);
  return problems;
}

/** Replaying history gives the task. */
function differences(replayed: Task, stored: Task): readonly string[] {
  const keys = [...new Set([...Object.keys(replayed), ...Object.keys(stored)])] as (keyof Task)[];
  return keys.flatMap((key) => {
    const [told, kept] = [replayed[key], stored[key]].map((value) => JSON.stringify(value));
    return told === kept ? [] : [`${key} is ${kept}, but history says ${told}`];
  });
}

function restless({ phase, crashCount, held }: Task, effects: ExportedTask["effects"]): readonly string[] {
  return [
    ...(phase === "waiting" ? [] : [`the phase is ${phase}`]),
    ...(crashCount === 0 ? [] : [`crashCount is ${crashCount}`]),
    ...(held === undefined ? [] : [`held: ${held.reason}`]),
    ...effects.flatMap(({ id, state }) => (state === "done" ? [] : [`effect ${id} is ${state}`])),
  ];
}

/** Every hook in history was performed, in order; a duplicate line is a repetition with the same key. */
function hookProblems(
  task: string,
  events: ExportedTask["events"],
  effects: ExportedTask["effects"],
  lines: readonly string[],
): readonly string[] {
  const owed = owedBy(events.map(({ event }) => event));
  const labels = effects.map(({ effect }) => (effect.params.command as readonly string[]).at(-1));
  const performed = effects.map(({ id }, i) => `${labels[i]} ${task}:${id}`);
  return [
    ...firstDifference("effects", labels, owed),
    // A repetition may still run when the next hook begins, but no hook runs too early.
    ...firstDifference("lines", [...new Set(lines)], performed),
  ];
}

function firstDifference(what: string, found: readonly unknown[], wanted: readonly unknown[]): readonly string[] {
  for (let i = 0; i < Math.max(found.length, wanted.length); i++) {
    if (found[i] !== wanted[i]) return [`${what}: number ${i} is "${found[i]}" instead of "${wanted[i]}"`];
  }
  return [];
}
