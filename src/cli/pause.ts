import { setTimeout as sleep } from "node:timers/promises";

/** Waits so many milliseconds, or until the signal fires. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
