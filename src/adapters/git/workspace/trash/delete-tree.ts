import { chmod, opendir, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathIn } from "../entry-at.ts";

/** Deletes a folder, one file after the other, so that everything else goes on. False where the signal came first. */
export async function deleteTree(folder: string | Buffer, signal?: AbortSignal): Promise<boolean> {
  const path = Buffer.from(folder as string);
  const entries = await allowing(path, () => opendir(path, { encoding: "buffer" as BufferEncoding }));
  if (entries === undefined) return true;
  let count = 0;
  for await (const entry of entries) {
    if (signal?.aborted) return false;
    const inside = pathIn(path, entry.name as string | Buffer);
    if (entry.isDirectory()) {
      if (!(await deleteTree(inside, signal))) return false;
    } else await allowing(path, () => unlink(inside));
    count += 1;
    if (count % 64 === 0) await setImmediate();
  }
  await allowing(Buffer.from(dirname(path.toString("latin1")), "latin1"), () => rmdir(path));
  return true;
}

/** Undefined where it is gone already. A folder that forbids it is opened first. */
async function allowing<T>(folder: Buffer, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await chmod(folder, 0o700);
    return act();
  }
}
