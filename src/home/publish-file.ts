import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";

export interface Publishing {
  /** Permissions; those of the file that is there, where nothing is said. */
  readonly mode?: number;
  /** False: where there is a file already, it stays, and a Fault `exists` is thrown. */
  readonly replace?: boolean;
}

/**
 * Writes a file for good: whole or not at all, whatever happens meanwhile. Its folder must be there. A link stays a
 * link; the file that it leads to is written.
 */
export function publishFile(path: string, text: string, { mode, replace = true }: Publishing = {}): void {
  const file = replace ? targetOf(path) : path;
  const draft = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.draft`;
  try {
    writeDraft(draft, text, mode ?? modeOf(file));
    if (replace) renameSync(draft, file);
    // Of two that want the name at once, one gets it, and nobody ever sees half a file.
    else linkSync(draft, file);
    syncFolder(dirname(file));
  } catch (error) {
    throw toFault(path, error);
  } finally {
    remove(draft);
  }
}

/** Makes the names in a folder last, as well as what is in its files. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems cannot do this for folders.
    if (!["EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    closeSync(descriptor);
  }
}

function writeDraft(draft: string, text: string, mode: number | undefined): void {
  const descriptor = openSync(draft, "wx", mode);
  try {
    // What is asked for on opening is cut down by the umask.
    if (mode !== undefined) fchmodSync(descriptor, mode);
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What has failed already is not to be hidden by what fails now. */
function remove(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {}
}

function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function modeOf(file: string): number | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && found.mode & 0o777;
}

function toFault(path: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  // The whole path: a person who reads the message may be in another folder than the daemon.
  if (code === "EEXIST") return new Fault("exists", `${path} is there already.`, { cause: error });
  return new Fault("unwritable", `${path} cannot be written (${code}).`, {
    hint: "Look at SIGNALBOX_HOME, at the folder's permissions and at the free space.",
    cause: error,
  });
}
