/**
 * What an agent's JSON answer must look like: the part of JSON Schema whose every mismatch can be told in one sentence.
 * A schema in which `schemaProblems` finds nothing can be met by some answer.
 */
export interface AnswerSchema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: AnswerKind | readonly AnswerKind[];
  readonly enum?: readonly AnswerScalar[];
  readonly const?: AnswerScalar;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  /** Whether properties that are not declared are welcome; they are where nothing is said. */
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

/** The kinds a value may have; undefined where the schema allows every kind. */
export function kindsOf(schema: AnswerSchema): readonly AnswerKind[] | undefined {
  if (schema.type === undefined) return undefined;
  return typeof schema.type === "string" ? [schema.type] : schema.type;
}

export function isKind(value: unknown, kind: AnswerKind): boolean {
  switch (kind) {
    case "object":
      return isObject(value);
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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema of a declared property. Looks only at own keys, so that `constructor` is no property of every schema. */
export function propertyOf(schema: AnswerSchema, name: string): AnswerSchema | undefined {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
}
