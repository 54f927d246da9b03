import { isJsonObject, type JsonObject } from "../../json-at.ts";

/**
 * A schema as OpenAI takes it: every object closed, every property required, and null where one may be absent. Undefined
 * where it cannot be said so.
 */
export function strictSchema(schema: unknown): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, properties, items, const: only, ...others } = schema;
  if (type === undefined && only === undefined && others.enum === undefined) return undefined;
  const kinds = Array.isArray(type) ? type : [type];
  const values = only === undefined ? {} : { enum: [only] };
  const base = { ...others, ...(type === undefined ? {} : { type }), ...values };
  if (kinds.includes("object")) return strictObject(base, schema, properties);
  if (!kinds.includes("array")) return base;
  const each = strictSchema(items);
  return each === undefined ? undefined : { ...base, items: each };
}

function strictObject(base: JsonObject, schema: JsonObject, properties: unknown): JsonObject | undefined {
  if (!isJsonObject(properties)) return undefined;
  const strict: Record<string, JsonObject> = {};
  for (const [name, property] of Object.entries(properties)) {
    const each = strictSchema(property);
    if (each === undefined) return undefined;
    strict[name] = isRequired(schema, name) ? each : orNull(each);
  }
  return { ...base, properties: strict, required: Object.keys(strict), additionalProperties: false };
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  const kinds = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    ...(type === undefined || kinds.includes("null") ? {} : { type: [...kinds, "null"] }),
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

/** An answer to a strict schema as the first schema has it: what may be absent, and is null, is absent. */
export function withoutNulls(answer: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return answer;
  if (Array.isArray(answer)) return answer.map((each) => withoutNulls(each, schema.items));
  if (!isJsonObject(answer)) return answer;
  const { properties } = schema;
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([name, value]) => value !== null || isRequired(schema, name))
      .map(([name, value]) => [name, withoutNulls(value, isJsonObject(properties) ? properties[name] : undefined)]),
  );
}

function isRequired({ required }: JsonObject, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
