import { replaceHidden } from "../../hidden-characters.ts";
import type { LeveledLog, LogLevel } from "../../ports/system.ts";
import { leveledLog } from "./file-log.ts";
import { type Plain, redact } from "./redact.ts";

// A reader that has stopped reading must not fill the memory.
const maxBuffered = 1024 * 1024;

/** Writes readable lines for a person at a terminal: `12:03:11 info  message key=value`. */
export function createStreamLog(
  stream: NodeJS.WritableStream,
  level: LogLevel,
  now: () => number = Date.now,
): LeveledLog {
  // Without a listener, a closed terminal would end the process.
  stream.on("error", () => {});
  return leveledLog(level, {
    write(level, message, fields) {
      if (waiting(stream) > maxBuffered) return;
      const pairs = Object.entries(fields).flatMap(([key, value]) => pairsOf(key, value));
      const head = redact([timeOf(now()), level.padEnd(5), inert(message), ...pairs].join(" "));
      const stacks = level === "error" ? Object.values(fields).flatMap(stackOf) : [];
      stream.write(`${[head, ...stacks].join("\n")}\n`);
    },
    close: () => new Promise((resolve) => void stream.write("", () => resolve())),
  });
}

function waiting(stream: NodeJS.WritableStream): number {
  return "writableLength" in stream ? Number(stream.writableLength) : 0;
}

function timeOf(now: number): string {
  const date = new Date(now);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function pairsOf(key: string, value: Plain): readonly string[] {
  if (!isError(value)) return [`${inert(key)}=${written(value)}`];
  const { code, message } = value;
  return [`${inert(key)}=${written(message)}`, ...(code === undefined ? [] : [`${inert(key)}.code=${written(code)}`])];
}

/** Quotes values with spaces, quotes or equals signs. */
function written(value: Plain): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return inert(typeof value === "string" && (text === "" || /[\s"=]/.test(text)) ? JSON.stringify(text) : text);
}

function stackOf(value: Plain): readonly string[] {
  if (!isError(value)) return [];
  return value.stack.split("\n").flatMap((line) => (/^\s+at /.test(line) ? [`    ${inert(line.trim())}`] : []));
}

function isError(value: Plain): value is { name: string; message: string; stack: string; code?: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "stack" in value &&
    [value.stack, value.name, value.message].every((part) => typeof part === "string")
  );
}

/** Escapes characters that would control a terminal, and what `replaceHidden` finds. */
function inert(text: string): string {
  const escaped = (character: string) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return character === "\n" ? "\\n" : code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  };
  return replaceHidden(text.replace(/[\p{Cc}\u2028\u2029]/gu, escaped), escaped);
}
