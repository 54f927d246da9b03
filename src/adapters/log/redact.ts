import type { LogFields } from "../../ports/system.ts";

/** A JSON value without secrets. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

// Limits for one line, so that logging a huge value by mistake does not fill memory and disk.
const maxText = 8 * 1024;
const maxValues = 1_000;
const deepest = 8;

/** Turns fields into plain data. Errors are written with name, code, message and stack. */
export function plainFields(fields: LogFields): Readonly<Record<string, Plain>> {
  let room = maxValues;

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

/** Redacts before cutting: half a secret would not be recognised. */
export function plainText(text: string): string {
  const clean = redact(text);
  if (clean.length <= maxText) return clean;
  return `${clean.slice(0, maxText)}… (${clean.length - maxText} more)`;
}

function partsOf(error: Error): object {
  const { name, message, stack, cause } = error;
  return { name, code: (error as NodeJS.ErrnoException).code, message, stack, cause };
}

/** Removes secrets from a text. In doubt it removes a word too many. */
export function redact(text: string): string {
  if (!suspicious.test(text)) return text;
  return replacements.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);
}

/** Whether a field with this name contains a secret. Plurals are counters: `tokens`. */
export function isSecretKey(key: string): boolean {
  return secretKey.test(key);
}

// Every pattern below needs one of these characters, which most texts do not contain.
const suspicious = /[=:_-]|AKIA/;

const names = /token|secret|password|passwd|passphrase|api[_-]?key|(?:access|private)[_-]?key|authorization/.source;

const secretKey = new RegExp(`(?:${names})$`, "i");

/**
 * Agents write the input, so the time must be linear: no pattern begins with an unbounded part or looks far ahead.
 * Quotes may be escaped with backslashes, because JSON is often a text inside JSON.
 */
const replacements: readonly (readonly [RegExp, string])[] = [
  // "key": "value", up to the same quote or the end of the line
  [
    new RegExp(`((?:${names})(?:\\\\*["'])\\s*:\\s*)(\\\\*["'])(?!\\2)[^\\n]*?((?<!\\\\)\\2|(?=\\n)|$)`, "gi"),
    "$1$2…$3",
  ],
  // key="value", then key=value
  [new RegExp(`((?:${names})=)(\\\\*["'])(?!\\2)[^\\n]*?((?<!\\\\)\\2|(?=\\n)|$)`, "gi"), "$1$2…$3"],
  [new RegExp(`((?:${names})=)(?![=>])(?:\\\\(?!["'])|[^\\s&"'\\\\])+`, "gi"), "$1…"],
  [/(authorization:[ \t]*)(?:bearer|basic|token)[ \t]+[^\s"',;\\]+/gi, "$1…"],
  [/(authorization:[ \t]*)(?=[^\s\d]{0,100}\d)[^\s"',;\\]{8,}/gi, "$1…"],
  // https://user:password@host, https://token@host; but ssh://git@host contains no secret
  [/(https?:\/\/)[^\s/?#"'<>\\]+@/gi, "$1…@"],
  [/(:\/\/)[^\s/?#"'<>\\:@]*:[^\s/?#"'<>\\]*@/g, "$1…@"],
  [/(sb[hr]_)[0-9a-f]{8,}/g, "$1…"],
  [/(?<![A-Za-z0-9])(sk-)(?=[\w-]{0,100}\d)[\w-]{8,}/g, "$1…"],
  [/(gh[pousr]_|github_pat_|glpat-|xox[a-z]-)[\w-]{8,}/g, "$1…"],
  [/(?<![A-Za-z0-9])(AKIA)[0-9A-Z]{12,}/g, "$1…"],
  // A Telegram bot's token, also in an address
  [/(?<![0-9])(\d{6,12}:)[\w-]{30,}/g, "$1…"],
];
