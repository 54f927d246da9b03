import { replaceHidden } from "../hidden-characters.ts";
import { withoutHiding } from "./sgr.ts";

/** A piece of a line: an SGR sequence, a character with the marks that belong to it, or plain characters. */
interface Piece {
  readonly text: string;
  /** Columns; 0 for an SGR sequence. */
  readonly width: number;
  /** Every terminal gives it this width. Terminals disagree about emoji, and about the characters of some scripts. */
  readonly isSure: boolean;
}

/**
 * A line of foreign text that is safe to draw: of escape sequences only SGR survives, and only with `isStyled`; every other
 * one becomes ␛. Control characters become their pictures, and what `replaceHidden` finds becomes U+FFFD.
 */
export function safeText(text: string, isStyled = false): string {
  // Nearly every line has nothing to replace but styles.
  if (sureWidthOf(text) !== undefined)
    return text.includes("\u001b") ? text.replace(styles, (_, codes: string) => (isStyled ? seen(codes) : "")) : text;
  const pictured = text
    .toWellFormed()
    .replace(escapes, (_, codes: string | undefined) =>
      codes === undefined ? "␛" : isStyled ? seen(codes).replace("\u001b", keptMark) : "",
    )
    .replaceAll("\t", "    ")
    .replace(controls, (character) => pictureOf(character.charCodeAt(0)))
    .replaceAll(keptMark, "\u001b")
    .replace(separators, "\ufffd");
  // Programs draw with Braille patterns, of which the one without dots is a space.
  const drawn = isStyled ? pictured.replaceAll("\u2800", " ") : pictured;
  return replaceHidden(drawn, () => "\ufffd").replace(joining, "");
}

/** The sequence of these codes, without those that hide text. Programs use few different ones. */
function seen(codes: string): string {
  const known = sequences.get(codes);
  if (known !== undefined) return known;
  const sequence = `\u001b[${withoutHiding(codes)}m`;
  if (sequences.size >= maxSequences) sequences.clear();
  sequences.set(codes, sequence);
  return sequence;
}
const sequences = new Map<string, string>();
const maxSequences = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
const styles = /\u001b\[([\d;:]*)m/g;

/** The same on one line: line breaks and runs of spaces become one space. */
export function safeLine(text: string): string {
  const line = plain.test(text) ? text : safeText(text.replace(/[^\S\ufeff]+/g, " "));
  return line.includes("  ") || line.startsWith(" ") || line.endsWith(" ") ? line.replace(/ +/g, " ").trim() : line;
}

/** The lines of a foreign text, each safe to draw. */
export function safeLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => safeText(line));
}

/** A private-use character that stands for ESC between two replacements; in foreign text it is a control like others. */
const keptMark = "\u0000";
const pictureOf = (code: number) => (code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "\ufffd");

const plain = /^[\x20-\x7e]*$/;
const escapes = new RegExp(
  [
    "\\u0000",
    "(?:\\u001b\\[|\\u009b)([\\d;:]*)m",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are replaced.
const controls = /[\u0001-\u001f\u007f-\u009f]/g;
const separators = /[\u2028\u2029]/g;
/** What joins emoji, and chooses their look: terminals disagree about what comes of it, so each is shown by itself. */
const joining = /[\u200d\ufe0e\ufe0f]/g;

/** How many columns a line takes. */
export function widthOf(line: string): number {
  const sure = sureWidthOf(line);
  if (sure !== undefined) return sure;
  let width = 0;
  for (const piece of piecesOf(line, true)) width += piece.width;
  return width;
}

/**
 * The columns of a line in which every character takes one column in every terminal; undefined for other lines. Nearly every line
 * is such a one, and a frame asks for the width of each several times, so that this makes nothing.
 */
function sureWidthOf(line: string): number | undefined {
  let width = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === esc) {
      const end = endOfStyle(line, at);
      if (end < 0) return undefined;
      at = end;
    } else if (isSureCode(code)) width++;
    else return undefined;
  }
  return width;
}

/** The place of the `m` that ends the SGR sequence that begins here; -1 where none begins. */
function endOfStyle(line: string, start: number): number {
  if (line.charCodeAt(start + 1) !== 0x5b) return -1;
  for (let at = start + 2; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === 0x6d) return at;
    // Digits, `:` and `;`.
    if (code < 0x30 || code > 0x3b) return -1;
  }
  return -1;
}

const esc = 0x1b;

/** Cuts a line that takes more than `width` columns, and ends it with `end`. Styles that are open at the cut are ended. */
export function clip(line: string, width: number, end = "…"): string {
  if (width <= 0) return "";
  return widthOf(line) <= width ? closed(line) : cutAt(line, width, end);
}

function cutAt(line: string, width: number, end: string): string {
  const room = width - end.length;
  let kept = "";
  let taken = 0;
  for (const piece of piecesOf(line)) {
    if (taken + piece.width > room) break;
    kept += piece.text;
    taken += piece.width;
  }
  return `${kept}${end}${kept.includes("\u001b") ? reset : ""}`;
}

/** A line after which no style is open. */
function closed(line: string): string {
  const last = line.lastIndexOf("\u001b");
  return last < 0 || line.startsWith(reset, last) ? line : `${line}${reset}`;
}

/** A line of exactly `width` columns. */
export function filled(line: string, width: number, align: "left" | "right" = "left", end = "…"): string {
  if (width <= 0) return "";
  const own = widthOf(line);
  const cut = own <= width ? closed(line) : cutAt(line, width, end);
  const missing = width - (own <= width ? own : widthOf(cut));
  if (missing <= 0) return cut;
  const space = " ".repeat(missing);
  return align === "right" ? space + cut : cut + space;
}

/** The part of a line from the column `from` on; styles that were set before it count. */
export function from(line: string, start: number): string {
  if (start <= 0) return line;
  let taken = 0;
  let kept = "";
  for (const piece of piecesOf(line)) {
    if (piece.width === 0 || taken >= start) kept += piece.text;
    else if (taken + piece.width > start) kept += " ".repeat(taken + piece.width - start);
    taken += piece.width;
  }
  return kept;
}

/** Breaks a text into lines of at most `width` columns, between words where possible. Styles do not cross lines. */
export function wrapText(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (widthOf(longer) <= room) {
        line = longer;
        continue;
      }
      if (line !== "") lines.push(line);
      line = word;
      while (widthOf(line) > room) {
        const head = clip(line, room, "");
        if (head === "" || head.length >= line.length) break;
        lines.push(head);
        line = line.slice(head.length);
      }
    }
    return [...lines, line];
  });
}

/**
 * What is written to a terminal for a line, and the columns that it takes: at most `columns`. After each character whose
 * width terminals disagree about, the cursor is placed anew, so that no later column moves.
 */
export function written(line: string, columns: number): { readonly bytes: string; readonly width: number } {
  const sure = sureWidthOf(line);
  if (sure !== undefined && sure <= columns) return { bytes: line, width: sure };
  const cut = clip(line, columns, "");
  let bytes = "";
  let at = 0;
  for (const { text, width: own, isSure } of piecesOf(cut, true)) {
    // Where a terminal gives it one column only, the other must not keep what was there.
    if (isSure) bytes += text;
    else bytes += `${own === 2 ? `  ${column(at)}` : ""}${text}${column(at + own)}`;
    at += own;
  }
  return { bytes, width: at };
}

const column = (at: number) => `\u001b[${at + 1}G`;
export const reset = "\u001b[0m";

/** Characters that take one column in every terminal, as ranges of their codes. */
const sureRanges: readonly (readonly [number, number])[] = [
  ...([
    [0x20, 0x7e],
    [0xa1, 0xa8],
    [0xaa, 0xac],
    [0xaf, 0x2ff],
    [0x370, 0x377],
    [0x37a, 0x482],
    [0x48a, 0x52f],
  ] as const),
  ...([
    [0x2010, 0x2027],
    [0x2030, 0x203b],
    [0x203d, 0x2048],
    [0x2190, 0x2193],
    [0x2200, 0x22ff],
  ] as const),
  ...([
    [0x2400, 0x2426],
    [0x2500, 0x259f],
    [0x25cb, 0x25cf],
    [0xfffd, 0xfffd],
  ] as const),
];
const sureCodes = new Uint8Array(0x10000);
for (const [first, last] of sureRanges) sureCodes.fill(1, first, last + 1);
const isSureCode = (code: number) => sureCodes[code] === 1;

const pieceForm =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
  /\u001b\[[\d;:]*m|[\x20-\x7e]+(?!\p{M}|\u200c)|\P{M}(?:\p{M}|\u200c)*|(?:\p{M}|\u200c)+/gu;
const wide =
  /^[\u1100-\u115e\u2e80-\u2fff\u3001-\u303e\u3041-\u3247\u3250-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]/u;
const surelyWide =
  /^[\u1100-\u115e\u2e80-\u2fff\u3001-\u3029\u3041-\u3096\u30a0-\u30ff\u3131-\u318e\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]$/u;
const emoji = /^(?:\p{Emoji_Presentation}|[\u{1f000}-\u{1faff}])/u;
const marks = /^(?:\p{M}|\u200c)/u;
/** More marks than this on one character hide the lines around it. */
const maxMarks = 3;

/** The pieces of a line. Where nothing is cut, plain characters that follow each other can be one piece (`areWhole`). */
function* piecesOf(line: string, areWhole = false): Generator<Piece> {
  for (const [text] of line.matchAll(pieceForm)) {
    const first = text.charCodeAt(0);
    if (first === esc) yield { text, width: 0, isSure: true };
    else if (!plain.test(text)) yield pieceOf(text);
    else if (areWhole) yield { text, width: text.length, isSure: true };
    else for (const character of text) yield { text: character, width: 1, isSure: true };
  }
}

function pieceOf(text: string): Piece {
  // A mark without a character to sit on gets one.
  const shown = marks.test(text) ? `\u25cc${text}` : text;
  const [base = "", ...others] = [...shown];
  const whole = others.length > maxMarks ? base + others.slice(0, maxMarks).join("") : shown;
  const isWide = wide.test(base) || emoji.test(base);
  const isSure = others.length === 0 && (surelyWide.test(base) || sureWidthOf(base) !== undefined);
  return { text: whole, width: isWide ? 2 : 1, isSure };
}
