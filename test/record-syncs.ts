import fs, { fstatSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * From now on notes what of this process is made to last. Only the system knows what outlives a power cut, but whoever does not
 * even ask it to has lost.
 */
export async function recordSyncs(): Promise<{ readonly has: (path: string) => boolean; readonly forget: () => void }> {
  const synced = new Set<string>();
  const nameOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }) => `${dev} ${ino}`;
  const handle = await open(import.meta.filename);
  await handle.close();
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  const { sync } = handles;
  const { fsyncSync } = fs;
  handles.sync = function (this: FileHandle) {
    synced.add(nameOf(fstatSync(this.fd)));
    return sync.call(this);
  };
  fs.fsyncSync = (descriptor) => {
    synced.add(nameOf(fstatSync(descriptor)));
    fsyncSync(descriptor);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    handles.sync = sync;
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  return { has: (path) => synced.has(nameOf(statSync(path))), forget: () => synced.clear() };
}
