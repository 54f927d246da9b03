/** A value as text, so that nobody can change it from outside. Whoever reads it gets one that cannot be changed either. */
export interface Snapshot<T> {
  readonly text: string;
  read(): T;
  toJSON(): string;
}

export function snapshot<T>(value: T): Snapshot<T> {
  const text = JSON.stringify(value);
  let parsed: T | undefined;
  return {
    text,
    read() {
      parsed ??= freeze(JSON.parse(text) as T);
      return parsed;
    },
    toJSON: () => text,
  };
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const each of Object.values(value)) freeze(each);
  return Object.freeze(value);
}
