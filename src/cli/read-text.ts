import { readFileSync, statSync } from "node:fs";
import { Fault } from "../fault.ts";
import type { Found } from "../home/workflows.ts";

// The loader refuses what is far smaller; this only keeps a mistyped path from filling the memory.
const maxBytes = 64 * 1024 * 1024;

/** The text of a workflow's file, or a Fault that says why there is none. */
export function readText({ file, shown }: Pick<Found, "file" | "shown">): string {
  try {
    if (statSync(file).size > maxBytes) throw new Fault("too-large", `${shown} is far too large for a workflow.`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new Fault("not-found", `There is no file ${shown}.`, { cause: error });
    if (code === "EISDIR") {
      throw new Fault("unreadable", `${shown} is a folder.`, { hint: "Name a file in it.", cause: error });
    }
    throw new Fault("unreadable", `${shown} cannot be read (${code}).`, {
      hint: "Look at the file's permissions.",
      cause: error,
    });
  }
}
