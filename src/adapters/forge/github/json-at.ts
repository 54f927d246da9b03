import { Fault } from "../../../fault.ts";
import { jsonAt } from "../../json-at.ts";

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

function missing(keys: readonly string[]): never {
  const what = keys.length === 0 ? "is not a list" : `has no "${keys.join(".")}"`;
  throw new Fault("forge.garbled", `The answer of GitHub ${what}.`, {
    retry: "later",
    hint: "It is tried again. If that does not help, the address of the API may be wrong.",
  });
}
