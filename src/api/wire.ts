import { isJsonObject } from "../json.ts";

/** The schema of a value in requests and answers: checks it, describes it for OpenAPI, and carries its type. */
export interface Wire<T> {
  readonly schema: JsonSchema;
  /** Reports every mismatch. */
  check(value: unknown, at: string, report: Report): void;
  /** Never set; only carries the type. */
  readonly type?: T;
}

export type JsonSchema = Readonly<Record<string, unknown>>;
type Report = (at: string, message: string) => void;
export type TypeOf<W> = W extends Wire<infer T> ? T : never;

/** The problems of a value, as sentences. */
export function problemsOf(wire: Wire<unknown>, value: unknown, what: string): readonly string[] {
  const problems: string[] = [];
  wire.check(value, what, (at, message) => {
    if (problems.length < maxProblems) problems.push(`${at} ${message}.`);
  });
  return problems;
}

const maxProblems = 10;

export const text: Wire<string> = {
  schema: { type: "string" },
  check: (value, at, report) => {
    if (typeof value !== "string") report(at, `must be text, but is ${kindOf(value)}`);
  },
};

/** Text of at most this many characters. */
export function shortText(max: number): Wire<string> {
  return {
    schema: { type: "string", maxLength: max },
    check: (value, at, report) => {
      if (typeof value !== "string") report(at, `must be text, but is ${kindOf(value)}`);
      else if (value.length > max) report(at, `must have at most ${max} characters, but has ${value.length}`);
    },
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): Wire<T> {
  return {
    schema: { type: "string", enum: words },
    check: (value, at, report) => {
      if (!words.includes(value as T)) report(at, `must be one of ${words.join(", ")}`);
    },
  };
}

export const boolean: Wire<boolean> = {
  schema: { type: "boolean" },
  check: (value, at, report) => {
    if (typeof value !== "boolean") report(at, `must be true or false, but is ${kindOf(value)}`);
  },
};

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Wire<number> {
  return {
    schema: { type: "integer", minimum: min, ...(max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max }) },
    check: (value, at, report) => {
      if (!Number.isSafeInteger(value)) report(at, `must be a whole number, but is ${kindOf(value)}`);
      else if ((value as number) < min) report(at, `must be at least ${min}`);
      else if ((value as number) > max) report(at, `must be at most ${max}`);
    },
  };
}

/** Any JSON number that is not negative. */
export const number: Wire<number> = {
  schema: { type: "number", minimum: 0 },
  check: (value, at, report) => {
    if (typeof value !== "number" || !(value >= 0)) report(at, `must be a number from 0 on, but is ${kindOf(value)}`);
  },
};

/** Any JSON value. */
export const any: Wire<unknown> = { schema: {}, check: () => {} };

export function list<T>(of: Wire<T>): Wire<readonly T[]> {
  return {
    schema: { type: "array", items: of.schema },
    check: (value, at, report) => {
      if (!Array.isArray(value)) return report(at, `must be a list, but is ${kindOf(value)}`);
      for (const [index, item] of value.entries()) of.check(item, `${at}[${index}]`, report);
    },
  };
}

/** An object with any keys, whose values all have the same schema. */
export function map<T>(of: Wire<T>): Wire<Readonly<Record<string, T>>> {
  return {
    schema: { type: "object", additionalProperties: of.schema },
    check: (value, at, report) => {
      if (!isJsonObject(value)) return report(at, `must be an object, but is ${kindOf(value)}`);
      for (const [key, item] of Object.entries(value)) of.check(item, `${at}.${key}`, report);
    },
  };
}

export function nullable<T>(of: Wire<T>): Wire<T | null> {
  return {
    schema: { anyOf: [of.schema, { type: "null" }] },
    check: (value, at, report) => {
      if (value !== null) of.check(value, at, report);
    },
  };
}

type Keys = Readonly<Record<string, Wire<unknown>>>;
type Values<K extends Keys> = { readonly [P in keyof K]: TypeOf<K[P]> };

/** An object with these keys and no others. */
export function record<R extends Keys, O extends Keys = Record<never, never>>(
  required: R,
  optional?: O,
): Wire<Values<R> & Partial<Values<O>>> {
  const keys: Keys = { ...required, ...optional };
  const properties = Object.fromEntries(Object.entries(keys).map(([key, wire]) => [key, wire.schema]));
  const needed = Object.keys(required);
  return {
    schema: {
      type: "object",
      properties,
      ...(needed.length > 0 ? { required: needed } : {}),
      additionalProperties: false,
    },
    check: (value, at, report) => {
      if (!isJsonObject(value)) return report(at, `must be an object, but is ${kindOf(value)}`);
      for (const key of Object.keys(value)) {
        if (Object.hasOwn(keys, key)) continue;
        report(at, `has no "${key}"; it takes ${Object.keys(keys).join(", ") || "nothing"}`);
      }
      for (const [key, wire] of Object.entries(keys)) {
        const item = Object.hasOwn(value, key) ? value[key] : undefined;
        if (item !== undefined) wire.check(item, `${at}.${key}`, report);
        else if (Object.hasOwn(required, key)) report(at, `needs "${key}"`);
      }
    },
  };
}

export function either<A, B>(one: Wire<A>, other: Wire<B>): Wire<A | B> {
  return {
    schema: { anyOf: [one.schema, other.schema] },
    check: (value, at, report) => {
      const problems: string[] = [];
      one.check(value, at, (_, message) => problems.push(message));
      if (problems.length > 0)
        other.check(value, at, (where, message) => report(where, `${problems[0]}, or ${message}`));
    },
  };
}

/** The same object, which may have these keys besides its own. */
export function withOptional<T>(base: Wire<T>, optional: Keys): Wire<T> {
  const { properties = {} } = base.schema as { readonly properties?: JsonSchema };
  const added = record({}, optional);
  return {
    schema: { ...base.schema, properties: { ...properties, ...(added.schema.properties as JsonSchema) } },
    check: (value, at, report) => {
      if (!isJsonObject(value)) return base.check(value, at, report);
      const isAdded = (key: string) => Object.hasOwn(optional, key);
      const pick = (isMeant: (key: string) => boolean) =>
        Object.fromEntries(Object.entries(value).filter(([key]) => isMeant(key)));
      base.check(
        pick((key) => !isAdded(key)),
        at,
        report,
      );
      added.check(pick(isAdded), at, report);
    },
  };
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : JSON.stringify(value);
}
