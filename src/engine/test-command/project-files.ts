/** What is looked at of a project. Paths are relative to its folder, with slashes. */
export interface ProjectFiles {
  /** Whether there is such a file. */
  has(path: string): boolean;
  /** Whether the file may be run as a program. */
  canRun(path: string): boolean;
  /** The names of what is in a folder, sorted; none where there is no such folder. The project's own is "". */
  list(folder: string): readonly string[];
  /** The text of a file; undefined where there is none, or too much of it. */
  read(path: string): string | undefined;
}

export interface TestCommand {
  /** The program and its arguments: there is never a shell in between. */
  readonly argv: readonly [string, ...string[]];
  /** The file that says so. */
  readonly from: string;
  /** As a sentence, for a person who wonders why this is run. */
  readonly why: string;
}

/** Looks for one kind of command. What is there but cannot be read is passed over, with a sentence about it. */
export type Finder = (files: ProjectFiles, note: (sentence: string) => void) => TestCommand | undefined;

/** How to run a script that belongs to the project: not everybody checks in that it may be run. */
export function scriptIn(files: ProjectFiles, path: string): readonly [string, ...string[]] {
  return files.canRun(path) ? [`./${path}`] : ["sh", `./${path}`];
}
