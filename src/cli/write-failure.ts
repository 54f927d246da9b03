import { Refusal } from "../api/error.ts";
import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";
import { inFlagWords } from "./flag-words.ts";
import { visible } from "./visible.ts";
import { writeRefusal } from "./write-refusal.ts";

type Teller = Pick<Context, "talkPaint"> & { readonly process: Pick<Context["process"], "env"> };

/** What went wrong, in our own words: what, why, and what to do. */
export function writeFailure({ talkPaint, process }: Teller, error: unknown): string {
  const write = (message: string, hint = "") => writeError({ talkPaint }, message, hint);
  if (error instanceof Refusal) {
    const { message, hint } = writeRefusal(error.reasons);
    return write(message, hint);
  }
  if (error instanceof Fault) return write(inFlagWords(error.message), error.hint);
  if (isFolderGone(error))
    return write("The folder that you are in is gone.", "Go to another one, and do it again: cd ~");
  const trace = process.env?.SIGNALBOX_DEBUG && error instanceof Error ? `\n${error.stack}` : "";
  const message = error instanceof Error ? error.message : String(error);
  return write(
    `Signalbox made a mistake of its own: ${message}${trace}`,
    trace === "" ? "To see where, set SIGNALBOX_DEBUG=1 and run it again." : "",
  );
}

/** Whoever stands in a folder that was deleted, or moved to the trash, has made no mistake, and nor have we. */
function isFolderGone(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall === "uv_cwd";
}

export function writeError({ talkPaint }: Pick<Context, "talkPaint">, message: string, hint = ""): string {
  return visible(`${talkPaint.red("error:")} ${message}${hint === "" ? "" : `\n${hint}`}`);
}
