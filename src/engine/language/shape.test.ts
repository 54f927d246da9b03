import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { isJsonObject } from "../../json.ts";
import { loadWorkflow } from "./load.ts";
import { jsonSchema } from "./shape.ts";

const root = resolve(import.meta.dirname, "../../..");
const schema = jsonSchema() as Schema;

test("the schema in the repository is up to date; `npm run schema` writes it", () => {
  expect(JSON.parse(readFileSync(join(root, "schema/workflow.schema.json"), "utf8"))).toEqual(schema);
});

test("every key of a record is described", () => {
  const properties = everySchema(schema).flatMap((each) => Object.entries(each.properties ?? {}));
  expect(properties.length).toBeGreaterThan(60);
  expect(properties.filter(([, property]) => !property.description)).toEqual([]);
});

describe("every built-in workflow satisfies the schema", () => {
  const folder = join(root, "workflows");
  const files = readdirSync(folder);
  test("there are seven built-in workflows", () => expect(files).toHaveLength(7));
  test.each(files)("%s", (file) => {
    expect(problems(schema, parse(readFileSync(join(folder, file), "utf8")))).toEqual([]);
  });
});

describe("a file of the wrong form satisfies neither the schema nor the loader", () => {
  const whole = "version: 1\nstates: { a: { next: b }, b: { terminal: true } }\n";
  test("a file of the right form satisfies both", () => {
    expect(problems(schema, parse(whole))).toEqual([]);
    expect(loadWorkflow(whole, "a.yml").problems).toEqual([]);
  });
  test.each([
    ["an unknown key", `${whole}colour: red`],
    ["no version", "states: { b: { terminal: true } }"],
    ["no states", "version: 1"],
    ["a list of states", "version: 1\nstates: [a, b]"],
    ["a name that is none", "version: 1\nstates: { 1a: { terminal: true } }"],
    ["an unknown mode", `${whole}roles: { worker: { mode: chat } }`],
    ["a gate without a section", `${whole}transitions: [{ from: a, to: b, gate: { verdict: PASS } }]`],
    ["a section that is no heading", `${whole}transitions: [{ from: a, to: b, gate: { section: Review } }]`],
    ["a wait that is none", "version: 1\nstates: { a: { waits_for: monday }, b: { terminal: true } }"],
    ["an empty list of states", `${whole}initial: []`],
    ["a time without a unit", "version: 1\nstates: { a: { waits_for: 60 }, b: { terminal: true } }"],
    ["a limit below its least value", `${whole}limits: { attempts: 0 }`],
    ["a list of no states to begin in", `${whole}initial: []`],
    ["half a number of attempts", `${whole}limits: { attempts: 1.5 }`],
    ["a rule with an unknown key", "version: 1\nstates: { a: { outcomes: [{ after: 2 }] }, b: { terminal: true } }"],
    [
      "an escalation after no failures",
      "version: 1\nstates: { a: { outcomes: [{ action: crash, b_after: 0 }] }, b: { terminal: true } }",
    ],
    ["an action without a name", "version: 1\nstates: { a: { do: [{ role: worker }] }, b: { terminal: true } }"],
    ["text where true or false belongs", "version: 1\nstates: { b: { terminal: yes please } }"],
  ])("%s", (_what, text) => {
    expect(problems(schema, parse(text))).not.toEqual([]);
    expect(loadWorkflow(text, "a.yml").workflow).toBeUndefined();
  });
});

/** The keywords that `jsonSchema` writes. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: false;
  readonly anyOf?: readonly Schema[];
}

const known = [
  "$schema",
  "title",
  "$ref",
  "$defs",
  "description",
  "type",
  "enum",
  "pattern",
  "minimum",
  "minItems",
  "items",
  "required",
  "properties",
  "patternProperties",
  "additionalProperties",
  "anyOf",
];

/** A JSON Schema validator for the keywords that the schema uses; it refuses all others. */
function problems(at: Schema, value: unknown, path = "$"): readonly string[] {
  const unknown = Object.keys(at).filter((keyword) => !known.includes(keyword));
  if (unknown.length > 0) throw new Error(`The validator of this test does not know ${unknown.join(", ")}.`);
  if (at.$ref !== undefined) {
    const target = schema.$defs?.[at.$ref.replace("#/$defs/", "")];
    if (target === undefined) throw new Error(`${at.$ref} leads nowhere.`);
    return problems(target, value, path);
  }
  const types = at.type === undefined ? [] : [at.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return [`${path} is not ${types.join(" or ")}`];
  if (at.enum !== undefined && !at.enum.includes(value)) return [`${path} is none of ${at.enum.join(", ")}`];
  if (at.pattern !== undefined && typeof value === "string" && !new RegExp(at.pattern, "u").test(value))
    return [`${path} does not match`];
  if (at.minimum !== undefined && typeof value === "number" && value < at.minimum) return [`${path} is too small`];
  if (at.anyOf?.every((option) => problems(option, value, path).length > 0)) return [`${path} fits no option`];
  if (at.minItems !== undefined && Array.isArray(value) && value.length < at.minItems) return [`${path} is too short`];
  if (Array.isArray(value))
    return at.items === undefined
      ? []
      : value.flatMap((item, i) => problems(at.items as Schema, item, `${path}[${i}]`));
  return isJsonObject(value) ? objectProblems(at, value, path) : [];
}

function objectProblems(at: Schema, value: Readonly<Record<string, unknown>>, path: string): readonly string[] {
  const missing = (at.required ?? [])
    .filter((key) => !Object.hasOwn(value, key))
    .map((key) => `${path}.${key} is missing`);
  const wrong = Object.entries(value).flatMap(([key, inner]) => {
    const own = at.properties?.[key];
    const byPattern = Object.entries(at.patternProperties ?? {}).flatMap(([pattern, each]) =>
      new RegExp(pattern, "u").test(key) ? [each] : [],
    );
    const all = own === undefined ? byPattern : [own, ...byPattern];
    if (all.length === 0 && at.additionalProperties === false) return [`${path}.${key} is unknown`];
    return all.flatMap((each) => problems(each, inner, `${path}.${key}`));
  });
  return [...missing, ...wrong];
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function everySchema(at: Schema): readonly Schema[] {
  const inner = [at.$defs, at.properties, at.patternProperties].flatMap((group) => Object.values(group ?? {}));
  return [at, ...[...inner, ...(at.anyOf ?? []), ...(at.items ? [at.items] : [])].flatMap(everySchema)];
}
