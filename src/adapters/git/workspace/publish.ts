import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";

export interface Publishing {
  readonly mode?: number;
  /** Whether it must outlive a power cut. */
  readonly lasts?: boolean;
}

/** What is in the way of its name is replaced, also a link: it is never followed. */
export async function publish(path: string, text: string | Buffer, options: Publishing = {}): Promise<void> {
  const { mode, lasts = false } = options;
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
    await rename(draft, path);
    if (lasts) await syncFolder(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}
