import { chmodSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";

/** Makes a folder and those above it. Node's own way never comes back where a file system refuses (/proc). */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    make(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The folder ${folder} cannot be made (${code}).`, {
      hint: "Name another one, or look at the permissions of the folder above it.",
      cause: error,
    });
  }
}

/** Makes a folder that nobody but us can look into, or makes sure that the one that is there is so. */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder, 0o700);
  const us = process.getuid?.();
  // In a folder like /tmp somebody else could have put a link there that leads to a folder of ours.
  const isOurs = [lstatSync(folder), statSync(folder)].every(({ uid }) => us === undefined || uid === us);
  if (!isOurs) {
    throw new Fault("foreign-folder", `The folder ${folder} belongs to somebody else.`, {
      hint: "Remove it, or set SIGNALBOX_HOME to a folder of your own.",
    });
  }
  close(folder);
}

function close(folder: string): void {
  if ((statSync(folder).mode & 0o777) === 0o700) return;
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The folder ${folder} cannot be closed to others (${code}).`, {
      hint: `Close it: chmod 700 "${folder}"`,
      cause: error,
    });
  }
}

function make(folder: string, mode: number): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) make(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
