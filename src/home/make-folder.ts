import { chmodSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";

/** Creates a folder and its parents. Node's recursive mkdir never returns where a file system refuses (/proc). */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    make(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The folder ${folder} cannot be created (${code}).`, {
      hint: "Name another folder, or check the permissions of its parent folder.",
      cause: error,
    });
  }
}

/** Creates a folder that only the user can read, or restricts an existing one to the user. */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder, 0o700);
  const us = process.getuid?.();
  // In a shared folder such as /tmp, another user could have placed a link to one of our folders.
  const isOurs = [lstatSync(folder), statSync(folder)].every(({ uid }) => us === undefined || uid === us);
  if (!isOurs) {
    throw new Fault("foreign-folder", `The folder ${folder} belongs to another user.`, {
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
    throw new Fault("unwritable", `The permissions of the folder ${folder} cannot be restricted to you (${code}).`, {
      hint: `Restrict it: chmod 700 "${folder}"`,
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
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
