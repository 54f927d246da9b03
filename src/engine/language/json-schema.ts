import { workflowShape } from "./schema.ts";
import type { Key, Shape } from "./shape.ts";

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

/** Records that occur more than once are written once and named after what they are. */
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

/** The loader takes `prompt: 7` for text, so the schema must too; what has a form of its own is never a number. */
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
    // A key with nothing behind it is an empty record.
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
