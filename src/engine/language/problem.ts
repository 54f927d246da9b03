/** Something wrong with a workflow file, at the place where it stands. */
export interface Problem {
  /** Errors keep a workflow from loading; warnings do not. */
  readonly level: "error" | "warning";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** How to mend it, as a sentence. */
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
