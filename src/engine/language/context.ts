import type { Path, Problem } from "./problem.ts";
import type { Source } from "./source.ts";
import { keyPlaceAt, placeAt, type Tree } from "./tree.ts";

/** What every part of the compiler needs: the file, and where to put what is wrong with it. */
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

/** How to mend a problem. A fix that takes time to find is given as a function. */
export type Fix = string | (() => string);

/** The sentence of a fix, looked for if need be. */
export function fixText(fix: Fix): string {
  return typeof fix === "string" ? fix : fix();
}

interface Where {
  /** Point at the key instead of the value. */
  readonly key?: boolean;
  /** Point at this text inside the value, unless it stands in braces of its own. */
  readonly find?: string;
}

// Looking for the nearest of many names takes time, and nobody reads thousands of problems.
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
  // `{{name}}` prints `{name}` and is no use of it.
  while (at > 0 && text[at - 1] === "{" && text[at + wanted.length] === "}") at = text.indexOf(wanted, at + 1);
  return at;
}

function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
