type Filled =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly unknown: readonly string[] };

/**
 * Replaces `{name}` and `{name.field}` by values; `{{name}}` prints `{name}`. `lookUp` returns the empty string for a
 * variable without a value, and undefined for an unknown one. Values are data: variables in them are not replaced.
 */
export function fill(text: string, lookUp: (name: string) => string | undefined): Filled {
  const unknown = new Set<string>();
  const filled = text.replace(pattern, (_match, escaped: string | undefined, name: string) => {
    if (escaped !== undefined) return `{${escaped}}`;
    const value = lookUp(name);
    if (value === undefined) unknown.add(name);
    return value ?? "";
  });
  return unknown.size === 0 ? { ok: true, text: filled } : { ok: false, unknown: [...unknown] };
}

interface Variable {
  readonly name: string;
  /** Where its opening brace is in the text. */
  readonly index: number;
}

/** Every use of a variable, in order. */
export function variablesOf(text: string): readonly Variable[] {
  return [...text.matchAll(pattern)].flatMap(({ 2: name, index }) => (name === undefined ? [] : [{ name, index }]));
}

const word = /[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*/.source;

/** Every other brace is text, so that examples of JSON and code in prompts need no escaping. */
const pattern = new RegExp(`\\{\\{(${word})\\}\\}|\\{(${word})\\}`, "g");
