import { existsSync, rmSync } from "node:fs";

const mostTries = 40;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Removes what a test has made. Programs that are just ending may still write there, so once is not always enough. */
export function removeFolder(folder: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      if (!existsSync(folder)) return;
    } catch (error) {
      if (tries === mostTries) throw error;
    }
    if (tries === mostTries) return;
    Atomics.wait(pause, 0, 0, 50);
  }
}
