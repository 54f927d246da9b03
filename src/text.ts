import { replaceHidden } from "./hidden-characters.ts";

/** Ends a program's message like a sentence, so that another sentence can follow. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Joins sentences on one line. Every sentence but the last gets its full stop; empty ones are left out. */
export function sentences(parts: readonly string[]): string {
  const said = parts.map((part) => part.trim()).filter((part) => part !== "");
  return said.map((part, i) => (i < said.length - 1 ? sentence(part) : part)).join(" ");
}

/** Several lines as one. A command ends without a full stop, so that the next line would seem to belong to it. */
export function joinedLines(text: string): string {
  return text
    .replace(/((?:signalbox|git|npm) [^\n]*[^.\n])\n+(?=\S)/g, "$1 · ")
    .replace(/\s+/g, " ")
    .trim();
}

/** A time for people, to the second, in UTC like all shown times. */
export function shownTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * A foreign text as one safe line for people: no escape sequences, no control characters, no line breaks, no invisible
 * characters, none that change the direction of writing, and at most `max` characters.
 */
export function oneLine(text: string, max = Number.POSITIVE_INFINITY): string {
  const plain = withoutHidden(text.replace(escapes, "").toWellFormed(), " ");
  return cutText(plain.replace(breaks, " ").trim(), max);
}

/** Cuts to at most `max` UTF-16 units, as other programs count, between whole characters, with "…" for the rest. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = /[\uD800-\uDBFF]$/.test(text.slice(0, max - 1)) ? max - 2 : max - 1;
  return `${text.slice(0, end)}…`;
}

/** A program's output as a person finally sees it: without colours and overwritten lines. */
export function plainOutput(output: string): string {
  const text = output.replace(escapes, "").toWellFormed();
  const lines = text.includes("\r") ? text.split("\n").map(lastWritten).join("\n") : text;
  return withoutHidden(lines.replace(controls, ""));
}

/**
 * A foreign text of several lines for people and prompts: like `oneLine`, but every kind of line break becomes a line feed, so
 * that an indented text has no line that begins elsewhere.
 */
export function plainText(text: string): string {
  const lines = text.replace(escapes, "").toWellFormed().replace(lineBreaks, "\n");
  return withoutHidden(lines.replace(controls, ""));
}

/** Removes what `replaceHidden` finds. `turn` takes the place of what changes the direction of writing. */
function withoutHidden(text: string, turn: "" | " " = ""): string {
  const joined = text.replace(joiners, ([joiner = ""]) => joiner);
  return replaceHidden(joined, (character) => (character === blank ? " " : turns.test(character) ? turn : ""));
}

/** A progress line is overwritten again and again; only its last state stays. */
function lastWritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end--;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

// Strings for the terminal itself (titles, links), then colours and cursor positions, then shorter sequences.
const escapes = new RegExp(
  [
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

const joiners = /[\u200c\u200d]{2,}/g;
/** A Braille pattern without dots, with which programs draw: it takes a column. */
const blank = "\u2800";
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const controls = /[^\P{Cc}\n\t]|[\u2028\u2029]/gu;
const lineBreaks = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const breaks = /[\p{Cc}\s]+/gu;

const maxLines = 4;

/** The last lines that a program printed, joined into one line, without escape sequences. */
export function lastWords(printed: string, most = 300): string {
  const lines = plainOutput(printed)
    .split("\n")
    // Box-drawing characters carry no text.
    .map((line) =>
      line
        .replace(/[\p{So}\u2500-\u28ff]+/gu, " ")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  return cutText(lines.slice(-maxLines).join(" · "), most);
}

const maxQuoted = 8;

/** The first line of a text. If it ends with a colon, such as "git says:", the lines after it belong to it. */
export function firstStatement(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  return first.trimEnd().endsWith(":") ? [first, ...rest.slice(0, maxQuoted)].join("\n") : first;
}

/** `no errors`, `1 error`, `2 errors`. */
export function count(number: number, one: string): string {
  return `${number === 0 ? "no" : number} ${number === 1 ? one : `${one}s`}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[], last = "and"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** A number of bytes in its largest unit: `900 B`, `12 KB`, `3 MB`, `40 GB`. */
export function writeSize(bytes: number): string {
  const unit = Math.min(sizeUnits.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Math.floor(bytes / 1024 ** unit)} ${sizeUnits[unit]}`;
}

const sizeUnits = ["B", "KB", "MB", "GB", "TB"];
