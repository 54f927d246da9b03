export type JsonObject = Readonly<Record<string, unknown>>;

/** What is at this place of a JSON value; undefined where there is no such place. */
export function jsonAt(json: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    json,
  );
}

export function textAt(json: unknown, ...keys: readonly string[]): string {
  const found = jsonAt(json, ...keys);
  return typeof found === "string" ? found : "";
}

/** Anything but a whole number from zero on is no count. */
export function countAt(json: unknown, ...keys: readonly string[]): number {
  const found = jsonAt(json, ...keys);
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : 0;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined where the text is no JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
