/** What stands at a path such as `result.items.0.text`; undefined where there is nothing. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split(".")) {
    // Only own keys: a program must not find a prototype behind its data.
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** The same as text: what is no text is written as JSON; nothing and null are undefined. */
export function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  if (found === undefined || found === null) return undefined;
  return typeof found === "string" ? found : JSON.stringify(found);
}
