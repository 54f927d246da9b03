export type JsonObject = Readonly<Record<string, unknown>>;

/** What is at this place of a JSON value; undefined where there is no such place, or null is there. */
export function jsonAt(json: unknown, ...keys: readonly string[]): unknown {
  const found = keys.reduce<unknown>(
    (value, key) => (isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    json,
  );
  return found ?? undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
