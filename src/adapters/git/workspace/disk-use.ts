import { opendir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { DiskUse } from "../../../ports/workspaces.ts";
import { entryAt, pathIn } from "./entry-at.ts";

const mostEntries = 500_000;

/** Counts what lies in a folder on its own disk. Links are counted, not followed; what may not be looked at is left out. */
export async function diskUse(folder: string | Buffer, most = mostEntries): Promise<DiskUse> {
  const root = await entryAt(folder);
  const count = { bytes: 0, files: 0, left: most };
  const visit = async (path: Buffer): Promise<void> => {
    const entries = await opendir(path, { encoding: "buffer" as BufferEncoding }).catch(() => []);
    for await (const entry of entries) {
      if (count.left <= 0) return;
      count.left -= 1;
      const inside = pathIn(path, entry.name as string | Buffer);
      const found = await entryAt(inside).catch(() => undefined);
      if (found === undefined || found.dev !== root?.dev) continue;
      // One file under several names takes its place once.
      count.bytes += (found.blocks * 512) / (found.isDirectory() ? 1 : found.nlink);
      count.files += 1;
      if (count.left % 64 === 0) await setImmediate();
      if (found.isDirectory()) await visit(inside);
    }
  };
  if (root?.isDirectory()) await visit(Buffer.from(folder as string));
  return { bytes: Math.round(count.bytes), files: count.files, isCut: count.left <= 0 };
}
