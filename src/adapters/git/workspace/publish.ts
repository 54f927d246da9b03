import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";

export interface Publishing {
  readonly mode?: number;
  /** Whether it must outlive a power cut. */
  readonly lasts?: boolean;
  /** What it has to say until then (undefined: it must not be there). */
  readonly before?: { readonly text: string | undefined };
}

/** What is in the way of its name is replaced, also a link: it is never followed. False where `before` does not hold. */
export async function publish(path: string, text: string | Buffer, options: Publishing = {}): Promise<boolean> {
  const { mode, lasts = false, before } = options;
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.draft`;
  try {
    const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode ?? 0o666);
    try {
      // What is asked for on opening is cut down by the umask.
      if (mode !== undefined) await handle.chmod(mode);
      await handle.writeFile(text);
      if (lasts) await handle.sync();
    } finally {
      await handle.close();
    }
    // Nothing of ours comes in between, so that whoever writes it has as little time as possible to be overwritten.
    if (before !== undefined && textAt(path) !== before.text) return false;
    renameSync(draft, path);
    if (lasts) await syncFolder(dirname(path));
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Of a plain file only: reading from something else may never end. */
function textAt(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
