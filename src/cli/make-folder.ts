import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";

/** Makes a folder and those above it. Node's own way never comes back where a file system refuses (/proc). */
export function makeFolder(folder: string): void {
  try {
    make(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The folder ${folder} cannot be made (${code}).`, {
      hint: "Name another one, or look at the permissions of the folder above it.",
      cause: error,
    });
  }
}

function make(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) make(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
