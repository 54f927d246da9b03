import { isJsonObject } from "../json.ts";

/** With more problems than this, an agent had better start again. */
const maxProblems = 20;

/** Every mismatch as a sentence with its path: `subtasks[2].title must be text, but is 7.` Empty if the answer fits. */
export function answerProblems(schema: AnswerSchema, answer: unknown): readonly string[] {
  if (isTooLong(answer))
    return [`The answer has more than ${maxAnswer} characters, which is the limit. Keep what matters most.`];
  const problems: string[] = [];
  for (const problem of mismatches(schema, answer, "")) {
    problems.push(problem);
    if (problems.length === maxProblems) break;
  }
  return problems;
}

/** Answers are stored with the task, and put into prompts. */
export const maxAnswer = 1024 * 1024;

/** Without recursion: an answer may be nested deeper than the machine can recurse. */
export function isTooLong(answer: unknown): boolean {
  const waiting: unknown[] = [answer];
  for (let length = 0; waiting.length > 0; ) {
    const value = waiting.pop();
    length += typeof value === "string" ? value.length + 3 : 5;
    if (Array.isArray(value)) for (const each of value) waiting.push(each);
    else if (isJsonObject(value))
      for (const [key, each] of Object.entries(value)) {
        length += key.length + 3;
        waiting.push(each);
      }
    if (length > maxAnswer) return true;
  }
  return false;
}

/** Descends only where the schema does, so that the depth of a hostile answer costs nothing. */
function* mismatches(schema: AnswerSchema, value: unknown, path: string): Generator<string> {
  const what = path === "" ? "The answer" : path;
  const kinds = kindsOf(schema);
  if (kinds !== undefined && !kinds.some((kind) => isKind(value, kind))) {
    yield `${what} must be ${either(kinds.map((kind) => kindNames[kind]))}, but is ${show(value)}.`;
    return;
  }
  const allowed: readonly unknown[] | undefined = schema.const === undefined ? schema.enum : [schema.const];
  if (allowed !== undefined && !allowed.includes(value)) {
    yield `${what} must be ${either(allowed.map(show))}, but is ${show(value)}.`;
    return;
  }
  if (typeof value === "number") {
    if (value < (schema.minimum ?? value)) yield `${what} must be at least ${schema.minimum}, but is ${value}.`;
    if (value > (schema.maximum ?? value)) yield `${what} must be at most ${schema.maximum}, but is ${value}.`;
  }
  if (typeof value === "string") {
    yield* wrongSize(what, characters(value), schema.minLength, schema.maxLength, "character");
  }
  if (Array.isArray(value)) yield* listMismatches(schema, value, path, what);
  if (isJsonObject(value)) yield* objectMismatches(schema, value, path);
}

function* listMismatches(schema: AnswerSchema, list: readonly unknown[], path: string, what: string) {
  yield* wrongSize(what, list.length, schema.minItems, schema.maxItems, "item");
  if (schema.items === undefined) return;
  for (const [index, item] of list.entries()) yield* mismatches(schema.items, item, `${path}[${index}]`);
}

function* objectMismatches(schema: AnswerSchema, object: Readonly<Record<string, unknown>>, path: string) {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) yield `${within(path, name)} is missing.`;
  }
  const declared = Object.entries(schema.properties ?? {});
  for (const [name, property] of declared) {
    if (Object.hasOwn(object, name)) yield* mismatches(property, object[name], within(path, name));
  }
  if (schema.additionalProperties !== false) return;
  const known = new Set(declared.map(([name]) => name));
  for (const name of Object.keys(object)) {
    if (known.has(name)) continue;
    yield `${within(path, name)} must not be there; known are: ${[...known].join(", ") || "none"}.`;
  }
}

function* wrongSize(what: string, size: number, min = 0, max = Number.POSITIVE_INFINITY, unit: string) {
  const units = (count: number) => `${count} ${unit}${count === 1 ? "" : "s"}`;
  if (size < min) yield `${what} must have at least ${units(min)}, but has ${size}.`;
  if (size > max) yield `${what} must have at most ${units(max)}, but has ${size}.`;
}

export const kindNames: Readonly<Record<AnswerKind, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

/** A value in a few words, so that a large answer does not flood the message. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return typeof value === "object" ? "an object" : "nothing JSON knows";
}

export function either(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function within(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]{0,60}$/.test(name)) return `${path}[${quote(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * The schema of an agent's JSON answer: the part of JSON Schema whose every mismatch can be described in one sentence.
 * If `schemaProblems` finds nothing, some answer fits the schema.
 */
export interface AnswerSchema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: AnswerKind | readonly AnswerKind[];
  readonly enum?: readonly AnswerScalar[];
  readonly const?: AnswerScalar;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  /** Whether undeclared properties are allowed; by default they are. */
  readonly additionalProperties?: boolean;
  readonly items?: AnswerSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Characters as people count them, not UTF-16 units. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export const answerKinds = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;

export type AnswerKind = (typeof answerKinds)[number];

export type AnswerScalar = string | number | boolean | null;

/** The kinds that a value may have; undefined if the schema allows every kind. */
export function kindsOf(schema: AnswerSchema): readonly AnswerKind[] | undefined {
  if (schema.type === undefined) return undefined;
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

function isKind(value: unknown, kind: AnswerKind): boolean {
  switch (kind) {
    case "object":
      return isJsonObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    case "null":
      return value === null;
    case "string":
    case "boolean":
      return typeof value === kind;
  }
}

/** The schema of a declared property. Reads only own keys, so that `constructor` is not a property of every schema. */
export function propertyOf(schema: AnswerSchema, name: string): AnswerSchema | undefined {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
}
