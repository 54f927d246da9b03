// Lenient readers for other programs' JSON, whose form may change: a missing value, or one of another type, is not an
// error. Only own keys count, never those of a prototype.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Every level takes two characters.
    if (text.length > 2 * maxDepth && isTooDeep(value)) return undefined;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** More levels than any program needs. Functions that call themselves for each level would exhaust the stack at thousands. */
const maxDepth = 500;

/** Whether a value of JSON is nested so deep that it cannot be checked, stored or written. */
export function isTooDeep(value: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const { value: found, depth } = each;
    if (typeof found !== "object" || found === null) continue;
    if (depth >= maxDepth) return true;
    for (const inner of Object.values(found)) open.push({ value: inner, depth: depth + 1 });
  }
  return false;
}

/** The value at a path of keys and list indices; undefined if the path does not exist. */
export function fieldOf(json: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined,
    json,
  );
}

/** The same; null counts as missing. */
export function jsonAt(json: unknown, ...path: readonly string[]): unknown {
  return fieldOf(json, ...path) ?? undefined;
}

export function textAt(json: unknown, ...path: readonly string[]): string {
  return textOf(fieldOf(json, ...path));
}

export function numberAt(json: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldOf(json, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** A time in milliseconds since 1970; undefined for any value that no Date can hold. */
export function timeOf(value: unknown): number | undefined {
  const isTime = typeof value === "number" && value >= 0 && !Number.isNaN(new Date(value).getTime());
  return isTime ? value : undefined;
}

/** A count as a whole number from zero; 0 for any other value. */
export function countAt(json: unknown, ...path: readonly string[]): number {
  const count = Math.round(numberAt(json, ...path) ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** An empty object for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list; other items count as empty objects. */
export function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: unknown): number {
  return numberAt(value) ?? 0;
}
