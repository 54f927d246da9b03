/** What is at this place of a JSON value; undefined where there is no such place, or null is there. */
export function jsonAt(json: unknown, ...keys: readonly string[]): unknown {
  const found = keys.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    json,
  );
  return found ?? undefined;
}

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
  return Math.max(0, Math.round(numberAt(json, ...keys) ?? 0));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined where it is no JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
