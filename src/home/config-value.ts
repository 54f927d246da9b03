import { readShape } from "../engine/language/shape.ts";
import { Fault } from "../fault.ts";
import type { Field } from "./config-fields.ts";

/** Reads a value that was not written in a file. `name` is what it is called where it was written. */
export function configValue(field: Field, written: string | number | boolean, name: string): string | number | boolean {
  const complaints: string[] = [];
  const value = asMeant(field, written);
  const tree = { kind: "scalar", place: { line: 1, column: 1, offset: 0 }, value } as const;
  const read = readShape(field.shape, tree, [name], (_, message, fix) => complaints.push(`${message} ${fix}`.trim()));
  const [complaint = field.problem?.(read)] = complaints;
  if (complaint === undefined) return read as string | number | boolean;
  throw new Fault("usage", complaint, { hint: `${name}: ${field.description}.` });
}

/** Outside of YAML everything is text. */
function asMeant({ shape }: Field, written: string | number | boolean): string | number | boolean {
  if (shape.kind === "boolean" && /^(true|1)$/.test(String(written))) return true;
  if (shape.kind === "boolean" && /^(false|0)$/.test(String(written))) return false;
  if (shape.kind === "integer" && typeof written === "string" && /^-?\d+$/.test(written)) return Number(written);
  return written;
}
