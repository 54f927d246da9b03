import { isJsonObject } from "../json.ts";
import {
  type AnswerKind,
  type AnswerSchema,
  answerKinds,
  answerProblems,
  either,
  kindNames,
  kindsOf,
  show,
} from "./schema.ts";

interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Why a value is not an `AnswerSchema` that some answer can fit. */
export function schemaProblems(schema: unknown): readonly SchemaProblem[] {
  return [...examine(schema, [])];
}

/** Agents get lost in deeper answers; the limit also stops schemas that contain themselves. */
const maxDepth = 12;

/** Sample answers are built with these lengths. */
const maxLength = 10_000;

type Path = readonly (string | number)[];

function* examine(schema: unknown, path: Path, depth = 1): Generator<SchemaProblem> {
  if (!isJsonObject(schema)) {
    yield { path, message: `A schema must be a mapping such as { type: string }, but this is ${show(schema)}.` };
    return;
  }
  if (depth > maxDepth) {
    yield { path, message: `A schema may be nested ${maxDepth} levels deep, and this is level ${depth}.` };
    return;
  }
  const wrong = [...wrongKeywords(schema, path)];
  yield* wrong;
  const { properties, items } = schema;
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      yield* examine(property, [...path, "properties", name], depth + 1);
    }
  }
  if (items !== undefined) yield* examine(items, [...path, "items"], depth + 1);
  if (wrong.length === 0) yield* contradictions(schema, path);
}

function* wrongKeywords(schema: Readonly<Record<string, unknown>>, path: Path): Generator<SchemaProblem> {
  for (const [key, value] of Object.entries(schema)) {
    if (!isKeyword(key)) {
      const message = `No keyword ${show(key)}. Supported are ${Object.keys(keywords).join(", ")}.`;
      yield { path: [...path, key], message };
    } else if (!keywords[key].fits(value)) {
      yield { path: [...path, key], message: `"${key}" must be ${keywords[key].what}, but is ${show(value)}.` };
    }
  }
}

/** Keywords that are valid alone, but that no answer can satisfy together, or that have no effect. */
function* contradictions(schema: AnswerSchema, path: Path): Generator<SchemaProblem> {
  const kinds = kindsOf(schema);
  for (const key of Object.keys(schema).filter(isKeyword)) {
    const concerned = keywords[key].concerns;
    if (kinds === undefined || concerned === undefined || kinds.some((kind) => concerned.includes(kind))) continue;
    const message = `"${key}" says nothing about ${either(kinds.map((kind) => kindNames[kind]))}.`;
    yield { path: [...path, key], message };
  }
  for (const [index, name] of (schema.required ?? []).entries()) {
    if (Object.hasOwn(schema.properties ?? {}, name)) continue;
    yield { path: [...path, "required", index], message: `${show(name)} is required, but not among the properties.` };
  }
  for (const [low, high] of pairs) {
    const [min, max] = [schema[low], schema[high]];
    if (min === undefined || max === undefined || min <= max) continue;
    yield { path: [...path, low], message: `"${low}" is ${min}, which is more than "${high}", ${max}.` };
  }
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (kinds?.includes("integer") && minimum <= maximum && Math.ceil(minimum) > Math.floor(maximum)) {
    yield { path: [...path, "minimum"], message: `There is no whole number between ${minimum} and ${maximum}.` };
  }
  yield* misfits(schema, path);
}

/** Listed values that the schema itself rejects. */
function* misfits(schema: AnswerSchema, path: Path): Generator<SchemaProblem> {
  const { enum: listed, const: only, ...rest } = schema;
  for (const [index, value] of (listed ?? []).entries()) {
    const [problem] = answerProblems(rest, value);
    if (problem === undefined) continue;
    yield { path: [...path, "enum", index], message: `${show(value)} can never be: ${problem}` };
  }
  if (only === undefined) return;
  const [problem] = answerProblems(listed === undefined ? rest : { ...rest, enum: listed }, only);
  if (problem !== undefined) yield { path: [...path, "const"], message: `${show(only)} can never be: ${problem}` };
}

interface Keyword {
  readonly what: string;
  readonly fits: (value: unknown) => boolean;
  /** The kinds of value that it applies to; undefined for all. */
  readonly concerns?: readonly AnswerKind[];
}

const text: Keyword = { what: "text", fits: (value) => typeof value === "string" };
const bound: Keyword = { what: "a number", fits: Number.isFinite, concerns: ["number", "integer"] };
const minimalLength: Keyword = {
  what: `a whole number from 0 to ${maxLength}`,
  fits: (value) => isCount(value) && value <= maxLength,
};
const atMost: Keyword = { what: "a whole number from 0 on", fits: isCount };

const keywords: Readonly<Record<keyof AnswerSchema, Keyword>> = {
  type: {
    what: `${either(answerKinds)}, or a list of some of them`,
    fits: (value) => isAnswerKind(value) || (isSet(value, isAnswerKind) && value.length > 0),
  },
  required: { what: "a list of different names", fits: (value) => isSet(value, text.fits), concerns: ["object"] },
  properties: { what: "a mapping from names to schemas", fits: isJsonObject, concerns: ["object"] },
  additionalProperties: {
    what: "true or false",
    fits: (value) => typeof value === "boolean",
    concerns: ["object"],
  },
  // Problems of the nested schema are reported when it is checked.
  items: { what: "a schema", fits: () => true, concerns: ["array"] },
  enum: {
    what: "a list of different texts, numbers, true, false or null, at least one",
    fits: (value) => isSet(value, isScalar) && value.length > 0,
  },
  const: { what: "text, a number, true, false or null", fits: isScalar },
  minimum: bound,
  maximum: bound,
  minItems: { ...minimalLength, concerns: ["array"] },
  maxItems: { ...atMost, concerns: ["array"] },
  minLength: { ...minimalLength, concerns: ["string"] },
  maxLength: { ...atMost, concerns: ["string"] },
  title: text,
  description: text,
};

const pairs = [
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
  ["minLength", "maxLength"],
] as const;

function isKeyword(key: string): key is keyof AnswerSchema {
  return Object.hasOwn(keywords, key);
}

function isAnswerKind(value: unknown): boolean {
  return (answerKinds as readonly unknown[]).includes(value);
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSet(value: unknown, fits: (item: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every(fits) && new Set(value).size === value.length;
}
