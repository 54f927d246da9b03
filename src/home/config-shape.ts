import { jsonSchema } from "../engine/language/json-schema.ts";
import type { Key, Shape } from "../engine/language/shape.ts";
import { configFields, type Field, type Level } from "./config-fields.ts";

const fields = Object.values<Field>(configFields);

/** What a configuration file may contain. */
export const configShapes: Readonly<Record<Level, Shape>> = {
  user: shapeOf(fields),
  project: shapeOf(fields.filter(({ level }) => level === "project")),
};

/** The user's file as JSON Schema, for editors. A repository's file may contain less. */
export function configSchema() {
  return jsonSchema(configShapes.user, "Signalbox configuration");
}

/** Whether this key of the user's file has no place in a repository's. */
export function isForUserOnly(key: string): boolean {
  return fields.some((field) => field.level === "user" && field.key.split(".")[0] === key);
}

function shapeOf(all: readonly Field[]): Shape {
  const notify = all.filter(({ key }) => key.startsWith("notify."));
  const inner: Shape = { kind: "record", what: "a map of notifications", keys: keysOf(notify) };
  const keys: Readonly<Record<string, Key>> = {
    ...keysOf(all.filter((field) => !notify.includes(field))),
    ...(notify.length > 0 ? { notify: { shape: inner, description: "Who is told when a person is needed" } } : {}),
    $schema: { shape: { kind: "text" }, description: "Where the schema of this file is, for editors" },
  };
  return { kind: "record", what: "a configuration", keys };
}

function keysOf(some: readonly Field[]): Readonly<Record<string, Key>> {
  return Object.fromEntries(
    some.map(({ key, shape, description }) => [key.replace(/^notify\./, ""), { shape, description }]),
  );
}
