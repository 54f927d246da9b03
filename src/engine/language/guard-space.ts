import { compare } from "../when.ts";
import type { Guard } from "../workflow.ts";

/**
 * Whether some values satisfy (or dissatisfy) sets of guards. Guards only compare with constants, so the values next to
 * each constant stand for all others, and a setting is tried as if it were a small constant.
 */
export type Assignment = Readonly<Record<string, number>>;

/** Values under which all guards of both sets hold; undefined where there are none. */
export function overlap(
  a: readonly Guard[],
  b: readonly Guard[],
  isSwitch: (field: string) => boolean,
): Assignment | undefined {
  const all = [...a, ...b];
  return assignments(all, isSwitch).find((values) => all.every((guard) => holdsFor(guard, values)));
}

/** Values under which none of the sets holds whole; undefined where the sets cover everything. */
export function gap(sets: readonly (readonly Guard[])[], isSwitch: (field: string) => boolean): Assignment | undefined {
  return assignments(sets.flat(), isSwitch).find(
    (values) => !sets.some((guards) => guards.every((guard) => holdsFor(guard, values))),
  );
}

function holdsFor(guard: Guard, values: Assignment): boolean {
  const right = typeof guard.value === "number" ? guard.value : (values[guard.value.setting] ?? 0);
  return compare(guard.op, values[guard.field] ?? 0, right);
}

function assignments(guards: readonly Guard[], isSwitch: (field: string) => boolean): readonly Assignment[] {
  const samples = new Map<string, Set<number>>();
  const constants = new Set<number>([0]);
  for (const guard of guards) {
    if (typeof guard.value === "number") constants.add(guard.value);
    samples.set(guard.field, new Set());
    if (typeof guard.value !== "number") samples.set(guard.value.setting, new Set());
  }
  for (const [field, values] of samples) {
    if (isSwitch(field)) {
      values.add(0).add(1);
      continue;
    }
    for (const constant of constants)
      values
        .add(constant - 1)
        .add(constant)
        .add(constant + 1);
    values.add(2).add(3);
  }
  let product: Assignment[] = [{}];
  for (const [field, values] of samples) {
    product = product.flatMap((partial) => [...values].map((value) => ({ ...partial, [field]: value })));
  }
  return product;
}
