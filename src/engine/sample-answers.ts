import { type AnswerScalar, type AnswerSchema, isObject, kindsOf, propertyOf } from "./answer-schema.ts";

/** Past this many combinations, only one field at a time differs from the first sample. */
const most = 1000;

/**
 * Small answers that fit a sound schema, so that every way an answer can open may be explored: one for each combination of
 * what the named top-level fields can be. A field that may be left out is also left out; everything else is minimal.
 */
export function sampleAnswers(schema: AnswerSchema, fields: readonly string[]): readonly unknown[] {
  const sample = minimal(schema);
  const varied = [...new Set(fields)].filter((field) => propertyOf(schema, field) !== undefined);
  if (!isObject(sample) || varied.length === 0) return [sample];
  const rest = Object.entries(sample).filter(([name]) => !varied.includes(name));
  const choices = varied.map((field) => choicesOf(schema, field));
  const count = choices.reduce((product, choice) => product * choice.length, 1);
  const rows = count <= most ? combinations(choices) : oneAtATime(choices);
  // Object.fromEntries and never assignment: a field may be called `__proto__`.
  return rows.map((row) => Object.fromEntries([...rest, ...row]));
}

/** The values a top-level field can take where they are few enough to be listed; undefined otherwise. */
export function fieldValues(schema: AnswerSchema, field: string): readonly AnswerScalar[] | undefined {
  const property = propertyOf(schema, field);
  if (property === undefined) return undefined;
  if (property.const !== undefined) return [property.const];
  if (property.enum !== undefined) return property.enum;
  const kinds = kindsOf(property);
  if (!kinds?.every((kind) => kind === "boolean" || kind === "null")) return undefined;
  return kinds.flatMap((kind) => (kind === "boolean" ? [true, false] : [null]));
}

/** What one field adds to an answer: its entry, or nothing. */
type Entries = readonly (readonly [string, unknown])[];

function choicesOf(schema: AnswerSchema, field: string): readonly Entries[] {
  const values = fieldValues(schema, field) ?? [minimal(propertyOf(schema, field) ?? {})];
  const present = values.map((value): Entries => [[field, value]]);
  return schema.required?.includes(field) ? present : [...present, []];
}

function combinations(choices: readonly (readonly Entries[])[]): readonly Entries[] {
  return choices.reduce<readonly Entries[]>(
    (rows, choice) => rows.flatMap((row) => choice.map((entries) => [...row, ...entries])),
    [[]],
  );
}

function oneAtATime(choices: readonly (readonly Entries[])[]): readonly Entries[] {
  return choices.flatMap((choice, at) =>
    choice
      .slice(at === 0 ? 0 : 1)
      .map((entries) => choices.flatMap((other, index) => (index === at ? entries : (other[0] ?? [])))),
  );
}

function minimal(schema: AnswerSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  switch (minimalKind(schema)) {
    case "object":
      return Object.fromEntries((schema.required ?? []).map((name) => [name, minimal(propertyOf(schema, name) ?? {})]));
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => minimal(schema.items ?? {}));
    case "number":
      return nearestToZero(schema.minimum, schema.maximum);
    case "integer":
      return nearestToZero(
        schema.minimum === undefined ? undefined : Math.ceil(schema.minimum),
        schema.maximum === undefined ? undefined : Math.floor(schema.maximum),
      );
    case "boolean":
      return true;
    case "null":
      return null;
    case "string":
      return "text".slice(0, schema.maxLength).padEnd(schema.minLength ?? 0, "x");
  }
}

function minimalKind(schema: AnswerSchema) {
  const kinds = kindsOf(schema);
  // Only an object shows the fields that the schema took the trouble to declare.
  if (schema.properties !== undefined && (kinds?.includes("object") ?? true)) return "object";
  // Between the bounds of a number there need not be a whole one.
  if (kinds?.includes("number")) return "number";
  return kinds?.[0] ?? "string";
}

function nearestToZero(min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
  // Adding 0 turns -0, which Math.ceil and Math.floor can give, into 0.
  return Math.min(Math.max(0, min), max) + 0;
}
