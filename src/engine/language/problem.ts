import type { Source } from "./source.ts";
import { keyPlaceAt, placeAt, type Tree } from "./tree.ts";

/** What every part of the compiler needs: the file, its names, and the functions that report problems. */
export interface Context {
  readonly source: Source;
  readonly states: readonly string[];
  readonly prompts: readonly string[];
  readonly schemas: readonly string[];
  /** The workflows that children can have; undefined where that is not known. */
  readonly workflows: readonly string[] | undefined;
  /** Roles are closed where the file declares any. */
  readonly roles: readonly string[] | undefined;
  /** Counters that some hook of the file changes. */
  readonly counters: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  error(path: Path, message: string, fix: Fix, options?: Where): void;
  warn(path: Path, message: string, fix: Fix, options?: Where): void;
}

/** How to fix a problem. A fix that takes time to compute is a function. */
export type Fix = string | (() => string);

/** The sentence of a fix, computed if necessary. */
export function fixText(fix: Fix): string {
  return typeof fix === "string" ? fix : fix();
}

interface Where {
  /** Point at the key instead of the value. */
  readonly key?: boolean;
  /** Point at this text inside the value, unless it is in double braces. */
  readonly find?: string;
}

// Finding the nearest of many names is slow, and people do not read thousands of problems.
const maxSuggestions = 25;

export function createReporter(tree: Tree, text: string, file: string) {
  const problems: Problem[] = [];
  let suggestions = 0;
  const worded = (fix: Fix) => {
    return typeof fix !== "string" && ++suggestions > maxSuggestions ? "" : fixText(fix);
  };
  const report =
    (level: Problem["level"]) =>
    (path: Path, message: string, fix: Fix, where: Where = {}) => {
      const place = where.key ? keyPlaceAt(tree, path) : placeAt(tree, path);
      const found = where.find === undefined ? -1 : indexOf(text, where.find, place.offset);
      const { line, column } = found < 0 ? place : lineAndColumn(text, found);
      problems.push({ level, file, line, column, message, fix: worded(fix) });
    };
  return { problems, error: report("error"), warn: report("warning") };
}

function indexOf(text: string, wanted: string, start: number): number {
  let at = text.indexOf(wanted, start);
  // `{{name}}` prints `{name}` and does not use the variable.
  while (at > 0 && text[at - 1] === "{" && text[at + wanted.length] === "}") at = text.indexOf(wanted, at + 1);
  return at;
}

function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** A fix that offers the closest known name. It is computed lazily. */
export function suggest(name: string, names: readonly string[]): () => string {
  return () => didYouMean(name, names);
}

/** A sentence that offers the closest known name, or lists the known names. */
export function didYouMean(name: string, names: readonly string[]): string {
  const words = name.split(/\s+/);
  if (words.length > 1 && words.every((word) => names.includes(word)))
    return `Put commas between them: ${words.join(", ")}.`;
  const close = nearest(name, names);
  return close === undefined ? known(names) : `Did you mean "${close}"?`;
}

/** A sentence that lists the known names. */
export function known(names: readonly string[]): string {
  if (names.length === 0) return "There are none.";
  const shown = names.slice(0, 12).join(", ");
  return `Known: ${shown}${names.length > 12 ? ", …" : ""}.`;
}

/** The known name within one typing error, or within a few for a long name. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The edit distance of two texts, at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Two swapped neighbours are the most frequent typing error.
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      const distance = Math.min(substitute, swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(distance);
      smallest = Math.min(smallest, distance);
    }
    // A swap reaches back two rows, so two consecutive rows must be past the limit.
    if (smallest >= limit && Math.min(...previous) >= limit) return limit;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}

/** A problem in a workflow file, with its place. */
export interface Problem {
  /** Errors keep a workflow from loading; warnings do not. */
  readonly level: "error" | "warning";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** How to fix it, as a sentence. */
  readonly fix: string;
}

export interface Place {
  readonly line: number;
  readonly column: number;
  /** Characters before it in the file. */
  readonly offset: number;
}

export type Path = readonly (string | number)[];

export function formatProblem(problem: Problem): string {
  const place = `${problem.file}:${problem.line}:${problem.column}`;
  return `${place} ${problem.level}: ${problem.message}${problem.fix === "" ? "" : ` ${problem.fix}`}`;
}
