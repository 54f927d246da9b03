import { mkdir, rm, rmdir, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../../fault.ts";

/** How long a lock may stand that nobody touches: whoever took it has died. The program counts the same. */
const stale = 10_000;
const patience = 60_000;

/** Does something to a file while nobody else does: the program locks it in the same way, with a folder beside it. */
export async function withConfigLock<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`;
  const until = Date.now() + patience;
  while (!(await take(lock))) {
    if (Date.now() > until)
      throw new Fault("harness.locked", `${file} is locked by another program.`, {
        retry: "later",
        hint: `If no Claude Code is running, delete ${lock}.`,
      });
    await sleep(20 + Math.random() * 30);
  }
  try {
    return await act();
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const found = await stat(lock).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > stale) await rm(lock, { recursive: true, force: true });
  return false;
}
