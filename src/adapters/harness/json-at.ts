import { isJsonObject, type JsonObject, jsonAt } from "../json-at.ts";

export function textAt(json: unknown, ...keys: readonly string[]): string {
  const found = jsonAt(json, ...keys);
  return typeof found === "string" ? found : "";
}

export function numberAt(json: unknown, ...keys: readonly string[]): number | undefined {
  const found = jsonAt(json, ...keys);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Programs count in whole numbers from zero; whatever else stands there is no count. */
export function countAt(json: unknown, ...keys: readonly string[]): number {
  const count = Math.round(numberAt(json, ...keys) ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Undefined where it is no JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
