import type { SourceFile } from "./sources.ts";

/** Two places with the same lines. Line numbers begin with 1. */
export interface Repeated {
  readonly lines: number;
  readonly first: { readonly file: string; readonly line: number };
  readonly second: { readonly file: string; readonly line: number };
}

const minLines = 6;

interface Line {
  readonly file: string;
  readonly number: number;
  readonly text: string;
}

/**
 * Pairs of places that have six or more identical lines in a row. Imports, comments and lines of punctuation alone do not
 * count, and neither does indentation.
 */
export function repeatedPlaces(files: readonly Pick<SourceFile, "file" | "text">[]): readonly Repeated[] {
  const all = files.map(linesThatCount);
  const places = new Map<string, { readonly of: readonly Line[]; readonly at: number }[]>();
  for (const of of all) {
    for (let at = 0; at + minLines <= of.length; at++) {
      const key = of
        .slice(at, at + minLines)
        .map(({ text }) => text)
        .join("\n");
      places.set(key, [...(places.get(key) ?? []), { of, at }]);
    }
  }
  const found: Repeated[] = [];
  for (const same of places.values()) {
    for (const [i, a] of same.entries()) {
      for (const b of same.slice(i + 1)) {
        // Part of a longer pair that was already counted.
        const isInside = a.at > 0 && b.at > 0 && a.of[a.at - 1]?.text === b.of[b.at - 1]?.text;
        const isOverlap = a.of === b.of && b.at - a.at < minLines;
        if (!isInside && !isOverlap) found.push(pairFrom(a, b));
      }
    }
  }
  return found.sort((a, b) => b.lines - a.lines || (a.first.file < b.first.file ? -1 : 1));
}

type Start = { readonly of: readonly Line[]; readonly at: number };

function pairFrom(a: Start, b: Start): Repeated {
  let lines = 0;
  while (a.of[a.at + lines] !== undefined && a.of[a.at + lines]?.text === b.of[b.at + lines]?.text) lines++;
  const place = ({ of, at }: Start) => ({ file: of[at]?.file ?? "", line: of[at]?.number ?? 0 });
  return { lines, first: place(a), second: place(b) };
}

function linesThatCount({ file, text }: Pick<SourceFile, "file" | "text">): readonly Line[] {
  const blank = (part: string) => part.replace(/[^\n]/g, "");
  const code = text
    .replace(/^(?:import|export)\b[^"'`;]*\bfrom\s*"[^"]+";/gm, blank)
    .replace(/\/\*[\s\S]*?\*\//g, blank)
    .replace(/^\s*\/\/.*$/gm, "");
  return code.split("\n").flatMap((line, index) => {
    const trimmed = line.trim();
    return /\w/.test(trimmed) ? [{ file, number: index + 1, text: trimmed }] : [];
  });
}
