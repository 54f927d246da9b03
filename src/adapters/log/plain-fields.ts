import type { LogFields } from "../../ports/log.ts";
import { isSecretKey, redact } from "./redact.ts";

/** What JSON can hold, without secrets. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

// A line is for reading: whoever logs a whole store by mistake must not fill memory and disk.
const longestText = 8 * 1024;
const mostValues = 1_000;
const deepest = 8;

/** Turns fields into plain data that can be written. Errors show their name, code, message and stack. */
export function plainFields(fields: LogFields): Readonly<Record<string, Plain>> {
  let room = mostValues;

  const plain = (value: unknown, depth: number): Plain => {
    if (value === null || value === undefined) return null;
    if (typeof value === "boolean") return value;
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
    if (typeof value === "string") return plainText(value);
    if (typeof value !== "object") return plainText(String(value));
    if (depth > deepest || room <= 0) return "…";
    if (Array.isArray(value)) return some(value).map((each) => plain(each, depth + 1));
    if (value instanceof Error) return record(partsOf(value), depth);
    if (value instanceof Date || value instanceof URL) return plainText(String(value.toJSON()));
    if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
    if (value instanceof Map || value instanceof Set) return plain([...value], depth);
    return record(value, depth);
  };

  const record = (value: object, depth: number): Readonly<Record<string, Plain>> =>
    Object.fromEntries(
      some(Object.keys(value)).flatMap((key) => {
        const each = (value as Record<string, unknown>)[key];
        if (each === undefined) return [];
        const isHidden = isSecretKey(key) && each !== null && typeof each !== "boolean";
        return [[plainText(key), isHidden ? "…" : plain(each, depth + 1)]];
      }),
    );

  const some = <T>(list: readonly T[]): readonly T[] => {
    const taken = list.slice(0, Math.max(0, room));
    room -= taken.length;
    return taken;
  };

  return record(fields, 0);
}

/** Secrets are taken out before it is cut: half a secret looks like none. */
export function plainText(text: string): string {
  const clean = redact(text);
  if (clean.length <= longestText) return clean;
  return `${clean.slice(0, longestText)}… (${clean.length - longestText} more)`;
}

function partsOf(error: Error): object {
  const { name, message, stack, cause } = error;
  return { name, code: (error as NodeJS.ErrnoException).code, message, stack, cause };
}
