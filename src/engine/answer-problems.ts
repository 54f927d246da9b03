import { type AnswerKind, type AnswerSchema, isKind, isObject, kindsOf } from "./answer-schema.ts";

/** An agent that is told twenty things to mend is better off starting again. */
const most = 20;

/** Every mismatch as a sentence with its path: `subtasks[2].title must be text, but is 7.` Empty where the answer fits. */
export function answerProblems(schema: AnswerSchema, answer: unknown): readonly string[] {
  const problems: string[] = [];
  for (const problem of mismatches(schema, answer, "")) {
    problems.push(problem);
    if (problems.length === most) break;
  }
  return problems;
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
  if (isObject(value)) yield* objectMismatches(schema, value, path);
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

/** A value in a few words: whatever an agent sends must not flood the message. */
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
