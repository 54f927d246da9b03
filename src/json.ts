// Lenient readers for other programs' JSON, whose form may change: a missing value, or one of another type, is not an
// error. Only own keys count, never those of a prototype.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Deeper values are refused: JSON.stringify and every recursive walk over them would overflow the stack. */
export const maxDepth = 100;

/** Parses other programs' JSON. Throws a SyntaxError if it is invalid, or nested too deep. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A shorter text cannot be that deep.
  return text.length > maxDepth ? shallow(value) : value;
}

/** The value itself. Throws a SyntaxError if it is nested too deep. */
export function shallow(value: unknown): unknown {
  let level: readonly object[] = isObject(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw new SyntaxError(`It is nested more than ${maxDepth} levels deep.`);
    level = level.flatMap((each) => Object.values(each).filter(isObject));
  }
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
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
