import { ExitCode } from "@stricli/core";
import { Fault } from "../fault.ts";

/** What the shell is told. Every command's help says what `failed` means for it. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notFound: 3 } as const;

/** The codes of the library below us are negative; ours are few and documented. */
export function exitCodeOf(code: number | string | null | undefined): number {
  const number = Number(code ?? 0);
  if (number >= 0) return number;
  return number === ExitCode.UnknownCommand || number === ExitCode.InvalidArgument ? exitCodes.usage : exitCodes.failed;
}

export function exitCodeOfError(error: unknown): number {
  if (!(error instanceof Fault)) return exitCodes.failed;
  if (error.code === "usage") return exitCodes.usage;
  return error.code === "not-found" ? exitCodes.notFound : exitCodes.failed;
}
