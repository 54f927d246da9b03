import { fixText } from "../engine/language/context.ts";
import { readShape } from "../engine/language/shape.ts";
import { readTree, type Tree } from "../engine/language/tree.ts";
import { Fault } from "../fault.ts";
import { commandWords } from "./command-words.ts";
import type { Field } from "./config-fields.ts";

export type ConfigValue = string | number | boolean | readonly string[];

/** Reads a value that was not written in a file. `name` is what it is called where it was written. */
export function configValue(field: Field, written: string | number | boolean, name: string): ConfigValue {
  const complaints: string[] = [];
  const tree = treeOf(field, written);
  const read = readShape(field.shape, tree, [name], (_, message, fix) =>
    complaints.push(`${message} ${fixText(fix)}`.trim()),
  );
  const [complaint = field.problem?.(read)] = complaints;
  if (complaint === undefined) return read as ConfigValue;
  throw new Fault("usage", complaint, { hint: `${name}: ${field.description}.` });
}

/** As a person would write it behind its key, or on a command line. */
export function writeConfigValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeItem).join(", ")}]`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function writeItem(item: unknown): string {
  const text = String(item);
  const isPlain = /^\.?[A-Za-z_][\w./-]*$/.test(text) && !/^(null|true|false|\.inf|\.nan)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** Lists are written a,b or, where a comma belongs to an item, as in a file: [a, b]. Commands may be written as one types them. */
function treeOf(field: Field, written: string | number | boolean): Tree {
  const place = { line: 1, column: 1, offset: 0 };
  const scalar = (value: string | number | boolean): Tree => ({ kind: "scalar", place, value });
  if (field.shape.kind !== "list") return scalar(asMeant(field, written));
  const text = String(written).trim();
  if (text.startsWith("[")) return readTree(text, "").tree ?? scalar(text);
  if (field.isCommand && (/\s/.test(text) || !text.includes(",")))
    return { kind: "list", place, items: commandWords(text, field.key).map(scalar) };
  return { kind: "list", place, items: text === "" ? [] : text.split(",").map((item) => scalar(item.trim())) };
}

/** Outside of YAML everything is text. */
function asMeant({ shape }: Field, written: string | number | boolean): string | number | boolean {
  if (shape.kind === "boolean" && /^(true|1)$/.test(String(written))) return true;
  if (shape.kind === "boolean" && /^(false|0)$/.test(String(written))) return false;
  if (shape.kind === "integer" && typeof written === "string" && /^-?\d+$/.test(written)) return Number(written);
  if (shape.kind === "number" && typeof written === "string" && /^-?\d+(\.\d+)?$/.test(written)) return Number(written);
  return written;
}

/** How a value is written on a command line. */
export function formOf({ shape, isCommand }: Field): string {
  if (isCommand) return '"npm test" or [npm, test]';
  switch (shape.kind) {
    case "boolean":
      return "true or false";
    case "integer":
    case "number":
      return "a number";
    case "list":
      return "a,b or [a, b]";
    case "text":
      return shape.oneOf === undefined ? "text" : shape.oneOf.join(", ");
    default:
      return "in the file";
  }
}
