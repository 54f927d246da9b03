import type { Json } from "./answer.ts";

/** Whatever it is, as an object: what is missing in a request is nothing, and no error. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text, or the texts of a list of parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return listOf(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}
