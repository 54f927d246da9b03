import { compare, writeGuard } from "../when.ts";
import type { Guard, Way } from "../workflow.ts";
import type { Context } from "./problem.ts";
import type { PlacedWay } from "./read-ways.ts";

/**
 * For one pair of states, an asker must never have two open ways. The engine takes the first one, so it is not checked.
 */
export function checkAmbiguity(
  context: Context,
  ways: readonly PlacedWay[],
  isSwitch: (field: string) => boolean,
): void {
  const pairs = Map.groupBy(ways, ({ way }) => `${way.from}\n${way.to}`);
  const told = new Set<string>();
  for (const group of pairs.values()) {
    for (const [i, a] of group.entries()) {
      for (const b of group.slice(i + 1)) {
        const asker = sharedAsker(a.way, b.way);
        const both = asker === undefined ? undefined : overlap(a.way.when, b.way.when, isSwitch);
        const places = `${a.path.join(".")} ${b.path.join(".")}`;
        if (both === undefined || told.has(places)) continue;
        told.add(places);
        const values = Object.entries(both).map(([field, value]) => `${field} = ${value}`);
        const when = values.length > 0 ? ` when ${values.join(", ")}` : "";
        const conditions = [a, b]
          .map(({ way }) => way.when.map(writeGuard).join(" and ") || "no condition")
          .join(" / ");
        context.error(
          [...b.path, b.way.when.length > 0 ? "when" : "to"],
          `Two transitions from "${b.way.from}" to "${b.way.to}" are open to ${asker}${when} (${conditions}).`,
          "Make their conditions exclusive.",
        );
      }
    }
  }
}

function sharedAsker(a: Way, b: Way): string | undefined {
  if (a.by === undefined && b.by === undefined) return "everyone";
  const [one, other] = a.by === undefined ? [b.by, undefined] : [a.by, b.by];
  return one?.find((role) => role !== "engine" && (other === undefined || other.includes(role)));
}

/**
 * Values for the fields of guards. Guards only compare with constants, so the values next to each constant represent
 * all others, and a setting is sampled like a small constant.
 */
type Assignment = Readonly<Record<string, number>>;

/** Values under which all guards of both sets hold; undefined where there are none. */
export function overlap(
  a: readonly Guard[],
  b: readonly Guard[],
  isSwitch: (field: string) => boolean,
): Assignment | undefined {
  let values: Assignment = {};
  for (const guards of independent([...a, ...b])) {
    const found = search(guards, isSwitch, (some) => all(guards, some));
    if (found === undefined) return undefined;
    values = { ...values, ...found };
  }
  return values;
}

/** Values under which all of `given` hold but none of the sets does; undefined where the sets cover everything. */
export function gap(
  given: readonly Guard[],
  sets: readonly (readonly Guard[])[],
  isSwitch: (field: string) => boolean,
): Assignment | undefined {
  return search([...given, ...sets.flat()], isSwitch, (values) => {
    const applies = all(given, values);
    const held = sets.map((guards) => all(guards, values));
    if (applies === false || held.includes(true)) return false;
    return applies && held.every((each) => each === false) ? true : undefined;
  });
}

/** Groups of guards that share fields or settings, directly or through others. Each group can be checked by itself. */
function independent(guards: readonly Guard[]): readonly (readonly Guard[])[] {
  let groups: { names: readonly string[]; guards: readonly Guard[] }[] = [];
  for (const guard of guards) {
    const names = namesOf(guard);
    const [linked, others] = [true, false].map((is) =>
      groups.filter((group) => group.names.some((name) => names.includes(name)) === is),
    ) as [typeof groups, typeof groups];
    const merged = {
      names: [...linked.flatMap((group) => group.names), ...names],
      guards: [...linked.flatMap((group) => group.guards), guard],
    };
    groups = [...others, merged];
  }
  return groups.map((group) => group.guards);
}

/** Backtracking search for values of the fields; `judge` returns undefined while it cannot decide yet. */
function search(
  guards: readonly Guard[],
  isSwitch: (field: string) => boolean,
  judge: (values: Assignment) => boolean | undefined,
): Assignment | undefined {
  const fields = samplesOf(guards, isSwitch);
  const from = (at: number, values: Assignment): Assignment | undefined => {
    const verdict = judge(values);
    const next = fields[at];
    if (verdict !== undefined || next === undefined) return verdict ? values : undefined;
    for (const value of next.values) {
      const found = from(at + 1, { ...values, [next.field]: value });
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return from(0, {});
}

/** Whether all guards hold; undefined while that depends on fields without a value. */
function all(guards: readonly Guard[], values: Assignment): boolean | undefined {
  let verdict: boolean | undefined = true;
  for (const guard of guards) {
    const right = typeof guard.value === "number" ? guard.value : values[guard.value.setting];
    const left = values[guard.field];
    if (left === undefined || right === undefined) verdict = undefined;
    else if (!compare(guard.op, left, right)) return false;
  }
  return verdict;
}

function samplesOf(
  guards: readonly Guard[],
  isSwitch: (field: string) => boolean,
): readonly { field: string; values: readonly number[] }[] {
  const constants = [0, ...guards.flatMap((guard) => (typeof guard.value === "number" ? [guard.value] : []))];
  const near = new Set([...constants.flatMap((constant) => [constant - 1, constant, constant + 1]), 2, 3]);
  return [...new Set(guards.flatMap(namesOf))].map((field) => {
    if (isSwitch(field)) return { field, values: [0, 1] };
    const min = minOf(guards.find((guard) => guard.field === field)?.source ?? "setting");
    return { field, values: [...near].filter((value) => value >= min) };
  });
}

/** Counts are never negative, and a task has visited its present state at least once. Only settings can be negative. */
function minOf(source: Guard["source"]): number {
  if (source === "setting") return Number.NEGATIVE_INFINITY;
  return source === "visits" ? 1 : 0;
}

function namesOf(guard: Guard): readonly string[] {
  return typeof guard.value === "number" ? [guard.field] : [guard.field, guard.value.setting];
}
