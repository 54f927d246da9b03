import { objectOf, textOf } from "../../adapters/harness/read-json.ts";
import type { Answer, Asked } from "./answer.ts";

/**
 * What a program gets that asks for something of its own: a title, a summary, whether there is quota left. It fits the
 * schema, where there is one.
 */
export function sideAnswer({ schema }: Pick<Asked, "schema">): Answer {
  const say = schema === undefined ? "Some work" : JSON.stringify(sample(schema));
  return { say, usage: { input: 0, output: 0, cached: 0 } };
}

function sample(schema: unknown): unknown {
  const { type, properties, items, enum: values, anyOf } = objectOf(schema);
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return sample(anyOf[0]);
  const kind = textOf(Array.isArray(type) ? type[0] : type).toLowerCase();
  if (kind === "object")
    return Object.fromEntries(Object.entries(objectOf(properties)).map(([name, each]) => [name, sample(each)]));
  if (kind === "array") return items === undefined ? [] : [sample(items)];
  if (kind === "number" || kind === "integer") return 1;
  if (kind === "boolean") return false;
  return kind === "null" ? null : "Some work";
}
