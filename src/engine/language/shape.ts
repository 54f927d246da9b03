import { type Fix, type Path, suggest } from "./problem.ts";
import { workflowShape } from "./schema.ts";
import type { Tree } from "./tree.ts";

type Json = Readonly<Record<string, unknown>>;
type Description = { readonly description: string } | Record<string, never>;

/** A shape as JSON Schema (draft 2020-12), for editors. It accepts every file whose form the loader accepts. */
export function jsonSchema(shape = workflowShape, title = "Signalbox workflow"): Json {
  const names = namesOfShared(shape);
  const definitions = [...names].map(([shared, name]) => [name, write(shared, names, true)] as const);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...write(shape, names, true),
    $defs: Object.fromEntries(definitions.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

type Names = ReadonlyMap<Shape, string>;

/** Names for the records that occur more than once: they are written once, as definitions. */
function namesOfShared(shape: Shape): Names {
  const counts = new Map<Shape, number>();
  count(shape, counts);
  const shared = [...counts].filter(([, times]) => times > 1);
  return new Map(shared.map(([each]) => [each, each.kind === "record" ? each.what.replace(/^an? /, "") : ""]));
}

function count(shape: Shape, counts: Map<Shape, number>): void {
  if (shape.kind === "record") {
    const before = counts.get(shape) ?? 0;
    counts.set(shape, before + 1);
    if (before > 0) return;
  }
  for (const inner of innerShapes(shape)) count(inner, counts);
}

function innerShapes(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case "list":
    case "map":
      return [shape.of];
    case "record":
      return [...Object.values(shape.keys).map((key) => key.shape), ...(shape.open ? [shape.open.shape] : [])];
    case "either":
      return shape.options;
    default:
      return [];
  }
}

function write(shape: Shape, names: Names, isDefinition = false): Json {
  const name = names.get(shape);
  if (name !== undefined && !isDefinition) return { $ref: `#/$defs/${name}` };
  switch (shape.kind) {
    case "any":
      return {};
    case "text":
      return writeText(shape);
    case "integer":
    case "number":
      return {
        type: shape.kind,
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case "boolean":
      return { type: "boolean" };
    case "list":
      return { type: "array", items: write(shape.of, names), ...(shape.notEmpty ? { minItems: 1 } : {}) };
    case "map":
      return {
        type: "object",
        patternProperties: { [(shape.names ?? ordinaryName).source]: write(shape.of, names) },
        additionalProperties: false,
      };
    case "record":
      return writeRecord(shape, names);
    case "either":
      return { description: sentence(shape.expected), anyOf: shape.options.map((option) => write(option, names)) };
  }
}

const ordinaryName = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** The loader accepts `prompt: 7` as text, so the schema must too; text with a pattern is never a number. */
function writeText({ oneOf, pattern, expected }: Extract<Shape, { kind: "text" }>): Json {
  if (oneOf !== undefined) return { type: "string", enum: oneOf };
  if (pattern === undefined) return { type: ["string", "number", "boolean"] };
  return {
    type: "string",
    pattern: pattern.source,
    ...(expected === undefined ? {} : { description: sentence(expected) }),
  };
}

function writeRecord(shape: Extract<Shape, { kind: "record" }>, names: Names): Json {
  const keys = Object.entries(shape.keys);
  const required = keys.filter(([, key]) => key.required).map(([name]) => name);
  return {
    // A key without a value is an empty record.
    type: required.length > 0 ? "object" : ["object", "null"],
    properties: Object.fromEntries(keys.map(([name, key]) => [name, described(key, names)])),
    ...(shape.open ? { patternProperties: { [shape.open.pattern.source]: described(shape.open, names) } } : {}),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function described(key: Pick<Key, "shape" | "description">, names: Names): Json {
  const { description: form, ...written } = write(key.shape, names) as Json & Description;
  return { description: form === undefined ? key.description : `${key.description}. ${form}`, ...written };
}

function sentence(expected: string): string {
  return `${expected[0]?.toUpperCase()}${expected.slice(1)}`;
}

/** The form of a value in a workflow file. It is used to check files and to write the JSON schema for editors. */
export type Shape =
  | { readonly kind: "text"; readonly pattern?: RegExp; readonly expected?: string; readonly oneOf?: readonly string[] }
  | { readonly kind: "integer"; readonly min?: number; readonly max?: number }
  | { readonly kind: "number"; readonly min?: number; readonly max?: number }
  | { readonly kind: "boolean" }
  | { readonly kind: "list"; readonly of: Shape; readonly notEmpty?: boolean }
  /** Names that the author chooses, each with the same kind of value. */
  | { readonly kind: "map"; readonly of: Shape; readonly what: string; readonly names?: RegExp }
  | {
      readonly kind: "record";
      readonly what: string;
      readonly keys: Readonly<Record<string, Key>>;
      readonly open?: OpenKeys;
    }
  /** The first option whose kind of value fits is used. */
  | { readonly kind: "either"; readonly options: readonly Shape[]; readonly expected: string }
  | { readonly kind: "any" };

export interface Key {
  readonly shape: Shape;
  readonly required?: boolean;
  readonly description: string;
}

/** Further keys that a record accepts, such as `<state>_after`. */
interface OpenKeys {
  readonly pattern: RegExp;
  readonly shape: Shape;
  readonly description: string;
}

export type Report = (path: Path, message: string, fix: Fix, atKey?: boolean) => void;

/** Turns a tree into plain data, reporting everything that does not fit. */
export function readShape(shape: Shape, tree: Tree, path: Path, report: Report): unknown {
  switch (shape.kind) {
    case "any":
      return plain(tree);
    case "text":
      return readText(shape, tree, path, report);
    case "integer":
    case "number":
      return readNumber(shape, tree, path, report);
    case "boolean":
      if (tree.kind === "scalar" && typeof tree.value === "boolean") return tree.value;
      report(path, `${label(path)} must be true or false, but is ${describe(tree)}.`, "");
      return undefined;
    case "list":
      if (tree.kind === "list") {
        if (shape.notEmpty && tree.items.length === 0)
          report(path, `${label(path)} must not be an empty list.`, "Name at least one, or leave the key out.");
        return tree.items.map((item, i) => readShape(shape.of, item, [...path, i], report));
      }
      report(path, `${label(path)} must be a list, but is ${describe(tree)}.`, "Write it as [a, b] or with dashes.");
      return [];
    case "map":
      return readMap(shape, tree, path, report);
    case "record":
      return readRecord(shape, tree, path, report);
    case "either": {
      const option = shape.options.find((each) => fits(each, tree));
      if (option !== undefined) return readShape(option, tree, path, report);
      report(path, `${label(path)} must be ${shape.expected}, but is ${describe(tree)}.`, "");
      return undefined;
    }
  }
}

function readText(shape: Extract<Shape, { kind: "text" }>, tree: Tree, path: Path, report: Report): string {
  // The author means text by `prompt: 7` and `verdict: yes`, whatever type YAML gives them.
  const value = tree.kind === "scalar" && tree.value !== null ? String(tree.value) : undefined;
  if (value === undefined) {
    report(path, `${label(path)} must be text, but is ${describe(tree)}.`, "");
    return "";
  }
  if (shape.oneOf && !shape.oneOf.includes(value)) {
    report(path, `${label(path)} cannot be "${value}".`, suggest(value, shape.oneOf));
  } else if (shape.pattern && !shape.pattern.test(value)) {
    report(path, `${label(path)} must be ${shape.expected ?? "in another form"}, but is "${value}".`, "");
  }
  return value;
}

function readNumber(shape: Extract<Shape, { kind: "integer" | "number" }>, tree: Tree, path: Path, report: Report) {
  const value = tree.kind === "scalar" ? tree.value : undefined;
  const what = shape.kind === "integer" ? "a whole number" : "a number";
  if (typeof value !== "number" || (shape.kind === "integer" && !Number.isSafeInteger(value))) {
    report(path, `${label(path)} must be ${what}, but is ${describe(tree)}.`, "");
    return 0;
  }
  if (shape.min !== undefined && value < shape.min) report(path, `${label(path)} must be at least ${shape.min}.`, "");
  if (shape.max !== undefined && value > shape.max) report(path, `${label(path)} must be at most ${shape.max}.`, "");
  return value;
}

function readMap(shape: Extract<Shape, { kind: "map" }>, tree: Tree, path: Path, report: Report) {
  const read: Record<string, unknown> = Object.create(null);
  if (tree.kind !== "map") {
    report(path, `${label(path)} must be a map of ${shape.what}, but is ${describe(tree)}.`, "");
    return read;
  }
  const names = shape.names ?? /^[A-Za-z][A-Za-z0-9_-]*$/;
  for (const entry of tree.entries) {
    const at = [...path, entry.key];
    if (!names.test(entry.key)) {
      report(at, `"${entry.key}" is not a valid name.`, "Use letters, digits, - and _, beginning with a letter.", true);
    } else if (entry.key in Object.prototype) {
      // Names become keys of plain objects, which inherit these.
      report(at, `"${entry.key}" cannot be used as a name.`, "Choose another one.", true);
    }
    read[entry.key] = readShape(shape.of, entry.value, at, report);
  }
  return read;
}

function readRecord(shape: Extract<Shape, { kind: "record" }>, tree: Tree, path: Path, report: Report) {
  const read: Record<string, unknown> = Object.create(null);
  const isEmpty = tree.kind === "scalar" && tree.value === null;
  if (tree.kind !== "map" && !isEmpty) {
    report(
      path,
      `${label(path)} must be ${shape.what}, but is ${describe(tree)}.`,
      `Keys: ${Object.keys(shape.keys).join(", ")}.`,
    );
    return read;
  }
  const entries = tree.kind === "map" ? tree.entries : [];
  for (const entry of entries) {
    const at = [...path, entry.key];
    const known = Object.hasOwn(shape.keys, entry.key) ? shape.keys[entry.key]?.shape : undefined;
    const value = known ?? (shape.open?.pattern.test(entry.key) ? shape.open.shape : undefined);
    if (value === undefined) {
      report(
        at,
        `${shape.what[0]?.toUpperCase()}${shape.what.slice(1)} has no key "${entry.key}".`,
        suggest(entry.key, Object.keys(shape.keys)),
        true,
      );
      continue;
    }
    read[entry.key] = readShape(value, entry.value, at, report);
  }
  for (const [key, { required }] of Object.entries(shape.keys)) {
    if (required && !entries.some((entry) => entry.key === key)) {
      report(path, `${label(path)} needs the key "${key}".`, `Add ${key}: …`);
    }
  }
  return read;
}

/** Whether a tree has the kind of a shape; the details are checked once the shape is chosen. */
function fits(shape: Shape, tree: Tree): boolean {
  switch (shape.kind) {
    case "any":
      return true;
    case "list":
      return tree.kind === "list";
    case "map":
    case "record":
      return tree.kind === "map";
    case "either":
      return shape.options.some((option) => fits(option, tree));
    case "text":
      if (tree.kind !== "scalar" || tree.value === null) return false;
      return (shape.oneOf?.includes(String(tree.value)) ?? true) && (shape.pattern?.test(String(tree.value)) ?? true);
    case "boolean":
      return tree.kind === "scalar" && typeof tree.value === "boolean";
    case "integer":
    case "number":
      return tree.kind === "scalar" && typeof tree.value === "number";
  }
}

function plain(tree: Tree): unknown {
  if (tree.kind === "scalar") return tree.value;
  if (tree.kind === "list") return tree.items.map(plain);
  const read: Record<string, unknown> = Object.create(null);
  for (const entry of tree.entries) read[entry.key] = plain(entry.value);
  return read;
}

function describe(tree: Tree): string {
  if (tree.kind === "list") return "a list";
  if (tree.kind === "map") return "a map";
  return tree.value === null ? "empty" : JSON.stringify(tree.value);
}

function label(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "The file";
  if (typeof last === "string") return `"${last}"`;
  const list = path.findLast((step) => typeof step === "string");
  return `Entry ${last + 1} of "${list ?? "the list"}"`;
}
