import { Fault } from "../fault.ts";

/** What the shell is told. Every command's help says what `failed` means for it. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notFound: 3, timeout: 4 } as const;

// Written down here because the fast way for agents must not load the library.
const unknownCommand = -5;
const invalidArgument = -4;

/** The codes of the library below us are negative; ours are few and documented. */
export function exitCodeOf(code: number | string | null | undefined): number {
  const number = Number(code ?? 0);
  if (number >= 0) return number;
  return number === unknownCommand || number === invalidArgument ? exitCodes.usage : exitCodes.failed;
}

/** What is not installed was not asked for by its name. */
const programs = new Set(["git.missing", "terminal.missing"]);

export function exitCodeOfError(error: unknown): number {
  if (!(error instanceof Fault)) return exitCodes.failed;
  if (error.code === "usage") return exitCodes.usage;
  const isNotFound = error.code === "not-found" || error.code.endsWith(".missing");
  return isNotFound && !programs.has(error.code) ? exitCodes.notFound : exitCodes.failed;
}
