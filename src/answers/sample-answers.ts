import { isJsonObject } from "../json.ts";
import { type AnswerScalar, type AnswerSchema, answerProblems, kindsOf, propertyOf } from "./schema.ts";

/** For each field, the values that it is compared with. */
type Compared = Readonly<Record<string, readonly AnswerScalar[]>>;

/** Beyond this many combinations, only one field at a time differs from the first sample. */
const maxCombinations = 1000;

/**
 * Small answers that fit a valid schema, so that every way that an answer can open is explored: one for each
 * combination of values of the named top-level fields. An optional field is also left out; everything else is minimal.
 */
export function sampleAnswers(
  schema: AnswerSchema,
  fields: readonly string[],
  compared: Compared = {},
): readonly unknown[] {
  const sample = minimal(schema);
  const varied = [...new Set(fields)].filter((field) => propertyOf(schema, field) !== undefined);
  if (!isJsonObject(sample) || varied.length === 0) return [sample];
  const rest = Object.entries(sample).filter(([name]) => !varied.includes(name));
  const choices = varied.map((field) =>
    choicesOf(schema, field, Object.hasOwn(compared, field) ? (compared[field] ?? []) : []),
  );
  const count = choices.reduce((product, choice) => product * choice.length, 1);
  const rows = count <= maxCombinations ? combinations(choices) : oneAtATime(choices);
  // Object.fromEntries instead of assignment: a field may be called `__proto__`.
  return rows.map((row) => Object.fromEntries([...rest, ...row]));
}

/** The values that a top-level field can have, if the schema lists them; undefined otherwise. */
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

function choicesOf(schema: AnswerSchema, field: string, compared: readonly AnswerScalar[]): readonly Entries[] {
  const values: readonly unknown[] =
    fieldValues(schema, field) ?? openValues(propertyOf(schema, field) ?? {}, compared);
  const present = values.map((value): Entries => [[field, value]]);
  return schema.required?.includes(field) ? present : [...present, []];
}

/** Of values that cannot be listed: each that they are compared with, its neighbours, and one that is none of these. */
function openValues(schema: AnswerSchema, compared: readonly AnswerScalar[]): readonly unknown[] {
  const plain = minimal(schema);
  const near = compared.flatMap((value): readonly AnswerScalar[] =>
    typeof value === "number"
      ? [value - 1, value - 0.5, value, value + 0.5, value + 1]
      : typeof value === "string"
        ? [value, `${value}x`, value.slice(1), `x${value.slice(1)}`, `y${value.slice(1)}`]
        : [value],
  );
  const all = [plain, ...near].filter((value) => answerProblems(schema, value).length === 0);
  return all.length === 0 ? [plain] : [...new Set(all)];
}

/**
 * Whether the samples of a field have every value that it is compared with and could have, and another one where there is one.
 * Undefined fields, lists and objects are compared with nothing.
 */
export function samplesDiffer(schema: AnswerSchema, field: string, compared: readonly AnswerScalar[]): boolean {
  if (fieldValues(schema, field) !== undefined) return true;
  const property = propertyOf(schema, field);
  return (
    property === undefined || openValues(property, compared).some((value) => !compared.some((each) => each === value))
  );
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
  // Only an object can contain the fields that the schema declares.
  if (schema.properties !== undefined && (kinds?.includes("object") ?? true)) return "object";
  // There need not be a whole number between the bounds.
  if (kinds?.includes("number")) return "number";
  return kinds?.[0] ?? "string";
}

function nearestToZero(min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
  // Adding 0 turns -0, which Math.ceil and Math.floor can give, into 0.
  return Math.min(Math.max(0, min), max) + 0;
}
