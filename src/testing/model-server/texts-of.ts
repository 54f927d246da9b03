import { listOf } from "../../adapters/harness/read-json.ts";

/** A text, or the texts of a list of parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return listOf(content).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}
