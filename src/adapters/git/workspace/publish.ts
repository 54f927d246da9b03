import { randomBytes } from "node:crypto";
import { constants, renameSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../../sync-folder.ts";

/** What is not in its place yet. Beside task files git is told not to see it. */
export const draftEnding = ".draft";

export interface Publishing {
  readonly mode?: number;
  /** Whether it must outlive a power cut. */
  readonly lasts?: boolean;
  /** Puts the draft in its place, or says that it is not wanted there any more. */
  replace?(draft: string, path: string): boolean;
}

/**
 * What is in the way of its name is replaced, also a link: it is never followed. False where it was not wanted any more.
 */
export async function publish(path: string, text: string | Buffer, options: Publishing = {}): Promise<boolean> {
  const { mode, lasts = false, replace = rename } = options;
  const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}${draftEnding}`;
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
    const isWanted = replace(draft, path);
    if (!isWanted) await rm(draft, { force: true });
    else if (lasts) await syncFolder(dirname(path));
    return isWanted;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function rename(draft: string, path: string): boolean {
  renameSync(draft, path);
  return true;
}
