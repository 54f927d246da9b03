import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Route } from "../../src/api/client.ts";
import { openApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes.ts";
import { packageRoot, packageVersion } from "../../src/home/places.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: object };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: object }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}

const document = JSON.parse(JSON.stringify(openApi(packageVersion))) as {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("the document in the repository matches the routes; `npm run schema` writes it", () => {
  const written = readFileSync(join(packageRoot(), "schema", "openapi.json"), "utf8");
  expect(JSON.parse(written)).toEqual(document);
});

test("the document contains every route once, under its own name", () => {
  const all = (Object.values(routes) as readonly Route[]).map(({ name, method, path }) => [
    name,
    method.toLowerCase(),
    path,
  ]);
  const written = operations.map(({ path, method, operation }) => [
    operation.operationId,
    method,
    path.replace(/\{(\w+)\}/g, ":$1"),
  ]);
  expect(written.sort()).toEqual(all.sort());
  expect(new Set(written.map(([name]) => name)).size).toBe(written.length);
  expect(Object.entries(routes).filter(([key, { name }]) => key !== name)).toEqual([]);
});

test("the document is valid OpenAPI 3.1", () => {
  expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Signalbox", version: packageVersion } });
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const { parameters = [], responses } = operation;
    expect(parameters.filter((each) => each.in === "path").map(({ name }) => name)).toEqual(inPath);
    expect(parameters.filter(({ required, in: where }) => required !== (where === "path"))).toEqual([]);
    expect(new Set(parameters.map(({ name, in: where }) => `${where} ${name}`)).size).toBe(parameters.length);
    expect(Object.keys(responses)).toEqual([operation.operationId === "watchTerminal" ? "101" : "200", "default"]);
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(operation.security.length).toBeGreaterThan(0);
  }
});

test("every schema in the document is valid JSON Schema, and every reference resolves", () => {
  const kinds = ["string", "integer", "number", "boolean", "array", "object", "null"];
  const schemas = operations.flatMap(({ operation }) => [
    ...(operation.parameters ?? []).map(({ schema }) => schema),
    ...schemasIn(operation.requestBody),
    ...Object.values(operation.responses).flatMap(schemasIn),
  ]);
  const check = (schema: Readonly<Record<string, unknown>>): void => {
    if (typeof schema.$ref === "string") expect(at(schema.$ref)).toBeDefined();
    if (schema.type !== undefined) expect(kinds).toContain(schema.type);
    const { properties = {}, required = [], anyOf = [], items, additionalProperties } = schema;
    expect((required as readonly string[]).filter((name) => !Object.hasOwn(properties as object, name))).toEqual([]);
    for (const each of [
      ...Object.values(properties as object),
      ...(anyOf as readonly object[]),
      items,
      additionalProperties,
    ])
      if (typeof each === "object" && each !== null) check(each);
  };
  expect(schemas.length).toBeGreaterThan(60);
  for (const schema of schemas) check(schema as Readonly<Record<string, unknown>>);
});

function schemasIn(holder: { readonly content: object } | undefined): readonly object[] {
  return Object.values(holder?.content ?? {}).map(({ schema }) => schema);
}

/** Resolves a reference such as `#/components/schemas/Error`. */
function at(reference: string): unknown {
  const steps = reference.replace(/^#\//, "").split("/");
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}
