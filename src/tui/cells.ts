import { withoutHiding } from "./sgr.ts";

/** A piece of a line: an SGR sequence, or a character with the marks that belong to it. */
interface Piece {
  readonly text: string;
  /** Columns; 0 for an SGR sequence. */
  readonly width: number;
  /** Every terminal gives it this width. Terminals disagree about emoji, and about the characters of some scripts. */
  readonly isSure: boolean;
}

/**
 * A line of foreign text that is safe to draw: of escape sequences only SGR survives, and only with `isStyled`; every other
 * one becomes ␛. Control characters become their pictures, hidden characters and those that change the direction of writing
 * become U+FFFD.
 */
export function safeText(text: string, isStyled = false): string {
  if (plain.test(text)) return text;
  return text
    .toWellFormed()
    .replace(escapes, (_, codes: string | undefined) =>
      codes === undefined ? "␛" : isStyled ? `${keptMark}[${withoutHiding(codes)}m` : "",
    )
    .replaceAll("\t", "    ")
    .replace(controls, (character) => pictureOf(character.charCodeAt(0)))
    .replaceAll(keptMark, "\u001b")
    .replace(joining, "")
    .replace(hidden, "\ufffd");
}

/** The same on one line: line breaks and runs of spaces become one space. */
export function safeLine(text: string): string {
  const line = plain.test(text) ? text : safeText(text.replace(/[\s\u2028\u2029]+/g, " "));
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
/** What joins emoji, and chooses their look: terminals disagree about what comes of it, so each is shown by itself. */
const joining = /[\u200d\ufe00-\ufe0f]/g;
const hidden =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is one that is hidden.
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e01ef}]/gu;

/** How many columns a line takes. */
export function widthOf(line: string): number {
  if (plain.test(line)) return line.length;
  const known = widths.get(line);
  if (known !== undefined) return known;
  let width = 0;
  if (sureLine.test(line)) width = line.replace(sgr, "").length;
  else for (const piece of piecesOf(line)) width += piece.width;
  if (widths.size >= maxWidths) widths.clear();
  widths.set(line, width);
  return width;
}

/** A frame needs the width of a line several times, and the next frame has most of its lines again. */
const widths = new Map<string, number>();
const maxWidths = 2_000;

/** Cuts a line that takes more than `width` columns, and ends it with `end`. Styles that are open at the cut are ended. */
export function clip(line: string, width: number, end = "…"): string {
  if (plain.test(line) && line.length <= width) return line;
  if (width <= 0) return "";
  if (widthOf(line) <= width) return isStyleOpen(line) ? `${line}${reset}` : line;
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

/** Whether a style may still be open at the end of a line. */
function isStyleOpen(line: string): boolean {
  const last = line.lastIndexOf("\u001b");
  return last >= 0 && !line.startsWith(reset, last);
}

/** A line of exactly `width` columns. */
export function filled(line: string, width: number, align: "left" | "right" = "left", end = "…"): string {
  const cut = clip(line, width, end);
  const missing = width - widthOf(cut);
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
  const width = widthOf(line);
  const cut = width > columns ? clip(line, columns, "") : line;
  if (width <= columns && (plain.test(line) || sureLine.test(line))) return { bytes: line, width };
  let bytes = "";
  let at = 0;
  for (const { text, width: own, isSure } of piecesOf(cut)) {
    // Where a terminal gives it one column only, the other must not keep what was there.
    if (isSure) bytes += text;
    else bytes += `${own === 2 ? `  ${column(at)}` : ""}${text}${column(at + own)}`;
    at += own;
  }
  return { bytes, width: at };
}

const column = (at: number) => `\u001b[${at + 1}G`;
export const reset = "\u001b[0m";

// biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
const sgr = /\u001b\[[\d;:]*m/g;
/** Characters of one column in every terminal, and SGR sequences. */
const sureLine =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
  /^(?:[\x20-\x7e\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0370-\u0377\u037a-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u203b\u203d-\u2048\u2190-\u2193\u2200-\u22ff\u2400-\u2426\u2500-\u259f\u25cb-\u25cf\ufffd]|\u001b\[[\d;:]*m)*$/;
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

function* piecesOf(line: string): Generator<Piece> {
  for (const [text] of line.matchAll(pieceForm)) {
    const first = text.charCodeAt(0);
    if (first === 0x1b) yield { text, width: 0, isSure: true };
    else if (plain.test(text)) for (const character of text) yield { text: character, width: 1, isSure: true };
    else yield pieceOf(text);
  }
}

function pieceOf(text: string): Piece {
  // A mark without a character to sit on gets one.
  const shown = marks.test(text) ? `\u25cc${text}` : text;
  const [base = "", ...others] = [...shown];
  const whole = others.length > maxMarks ? base + others.slice(0, maxMarks).join("") : shown;
  const isWide = wide.test(base) || emoji.test(base);
  const isSure = others.length === 0 && (surelyWide.test(base) || sureLine.test(base));
  return { text: whole, width: isWide ? 2 : 1, isSure };
}
