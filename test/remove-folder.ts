import { existsSync, rmSync } from "node:fs";

const maxTries = 40;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Removes a test's folder. Programs that are just ending may still write there, so it retries. */
export function removeFolder(folder: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      if (!existsSync(folder)) return;
    } catch (error) {
      if (tries === maxTries) throw error;
    }
    if (tries === maxTries) return;
    Atomics.wait(pause, 0, 0, 50);
  }
}
