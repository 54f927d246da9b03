import { Fault } from "../../../fault.ts";

/** What is at this place of a JSON value; undefined where there is no such place, or null is there. */
export function jsonAt(json: unknown, ...keys: readonly string[]): unknown {
  const found = keys.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    json,
  );
  return found ?? undefined;
}

/** A text that must be there. */
export function textAt(json: unknown, ...keys: readonly string[]): string {
  const found = jsonAt(json, ...keys);
  return typeof found === "string" ? found : missing(keys);
}

export function textOrEmptyAt(json: unknown, ...keys: readonly string[]): string {
  const found = jsonAt(json, ...keys);
  return typeof found === "string" ? found : "";
}

/** A number that must be there. */
export function numberAt(json: unknown, ...keys: readonly string[]): number {
  const found = jsonAt(json, ...keys);
  return typeof found === "number" ? found : missing(keys);
}

export function numberOrNoneAt(json: unknown, ...keys: readonly string[]): number | undefined {
  const found = jsonAt(json, ...keys);
  return typeof found === "number" ? found : undefined;
}

/** A list that must be there. */
export function listAt(json: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = jsonAt(json, ...keys);
  return Array.isArray(found) ? found : missing(keys);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function missing(keys: readonly string[]): never {
  const what = keys.length === 0 ? "is not a list" : `has no "${keys.join(".")}"`;
  throw new Fault("forge.garbled", `The answer of GitHub ${what}.`, {
    retry: "later",
    hint: "It is tried again. If that does not help, the address of the API may be wrong.",
  });
}
