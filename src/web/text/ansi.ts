import { visible } from "./visible.ts";

/** How a piece of a terminal's text looks. Colours are 0 to 255 of the usual palette, or `#rrggbb`. */
export interface AnsiStyle {
  readonly fg?: number | string;
  readonly bg?: number | string;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly inverse?: true;
  readonly strike?: true;
}

export interface AnsiPiece {
  readonly text: string;
  readonly style: AnsiStyle;
}

/** A terminal's text in pieces of one look. Of all escape sequences only colours count; the others are left out. */
export function ansiPieces(text: string): readonly AnsiPiece[] {
  const pieces: AnsiPiece[] = [];
  let style: AnsiStyle = {};
  let from = 0;
  const push = (until: number) => {
    // Programs draw with Braille patterns, of which the one without dots is a space.
    const part = visible(text.slice(from, until).replaceAll("\u2800", " "));
    const last = pieces.at(-1);
    if (part === "") return;
    if (last !== undefined && last.style === style) pieces[pieces.length - 1] = { text: last.text + part, style };
    else pieces.push({ text: part, style });
  };
  for (const match of text.matchAll(escapes)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[1] !== undefined) style = withCodes(style, match[1]);
  }
  push(text.length);
  return pieces;
}

// Colours; other control sequences; strings for the terminal itself, such as titles and the clipboard; shorter sequences.
const escapes = new RegExp(
  [
    "(?:\\u001b\\[|\\u009b)([\\d;:]*)m",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "\\u001b[ -/]*[0-~]?",
    "\\u000f|\\u000e",
  ].join("|"),
  "g",
);

function withCodes(style: AnsiStyle, written: string): AnsiStyle {
  const codes = written.split(/[;:]/).map(Number);
  let next = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extendedColour(codes, i + 1);
      i += used;
      if (colour !== undefined) next = { ...next, [code === 38 ? "fg" : "bg"]: colour };
    } else next = withCode(next, code);
  }
  return next;
}

function withCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return {};
  const mark = marks[code];
  if (mark !== undefined) return { ...style, [mark]: true };
  const ended = ends[code];
  if (ended !== undefined) {
    const gone = new Set<string>(ended);
    return Object.fromEntries(Object.entries(style).filter(([name]) => !gone.has(name)));
  }
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  return style;
}

const marks: Readonly<Record<number, keyof AnsiStyle>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const ends: Readonly<Record<number, readonly (keyof AnsiStyle)[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["fg"],
  49: ["bg"],
};

function extendedColour(codes: readonly number[], at: number): readonly [number | string | undefined, used: number] {
  const isByte = (value: number | undefined): value is number => value !== undefined && value >= 0 && value <= 255;
  if (codes[at] === 5) return [isByte(codes[at + 1]) ? codes[at + 1] : undefined, 2];
  if (codes[at] !== 2) return [undefined, 1];
  const parts = codes.slice(at + 1, at + 4);
  const isColour = parts.length === 3 && parts.every(isByte);
  return [isColour ? `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}` : undefined, 4];
}

/** The colour of a number of the palette, as CSS. The first sixteen are the page's own, which have light and dark forms. */
export function cssColour(colour: number | string): string {
  if (typeof colour === "string") return colour;
  if (colour < 16) return `var(--ansi-${colour})`;
  if (colour >= 232) {
    const grey = 8 + (colour - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const step = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const index = colour - 16;
  return `rgb(${step(Math.floor(index / 36))} ${step(Math.floor(index / 6) % 6)} ${step(index % 6)})`;
}
