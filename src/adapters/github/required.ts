import { Fault } from "../../fault.ts";
import { jsonAt } from "../../json.ts";

// Required parts of GitHub's answers. If one is missing, another program has answered.

export function requiredText(json: unknown, ...path: readonly string[]): string {
  const found = jsonAt(json, ...path);
  return typeof found === "string" ? found : missing(path);
}

export function requiredNumber(json: unknown, ...path: readonly string[]): number {
  const found = jsonAt(json, ...path);
  return typeof found === "number" ? found : missing(path);
}

export function requiredList(json: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = jsonAt(json, ...path);
  return Array.isArray(found) ? found : missing(path);
}

function missing(path: readonly string[]): never {
  const what = path.length === 0 ? "is not a list" : `has no "${path.join(".")}"`;
  throw new Fault("forge.garbled", `GitHub's answer ${what}.`, {
    retry: "later",
    hint: "Signalbox retries. If it keeps failing, the address of the API may be wrong.",
  });
}
