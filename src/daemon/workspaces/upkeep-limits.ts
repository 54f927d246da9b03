import { readDuration } from "../../engine/duration.ts";
import type { Config } from "../../home/config-fields.ts";
import { readSize } from "../../home/read-size.ts";

/** How much may lie around. */
export interface UpkeepLimits {
  /** How long the trash keeps what was put there, and how many bytes of it at most. */
  readonly trashDays: number;
  readonly trashBytes: number;
  /** How long run folders, logs and refs of tasks stay that are over, in milliseconds. */
  readonly keepEnded: number;
  /** How many bytes all workspaces together may take before a new one is made. */
  readonly diskBytes: number;
}

/** As the user has configured it; an empty size or time is no limit. */
export function readLimits({ trashDays, trashLimit, diskLimit, keepEnded }: LimitSettings): UpkeepLimits {
  const bytes = (size: string) => readSize(size) ?? Number.POSITIVE_INFINITY;
  const seconds = readDuration(keepEnded);
  return {
    trashDays,
    trashBytes: bytes(trashLimit),
    diskBytes: bytes(diskLimit),
    keepEnded: seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1000,
  };
}

type LimitSettings = Pick<Config, "trashDays" | "trashLimit" | "diskLimit" | "keepEnded">;

/** As the trash is told. */
export function trashOrder({ trashDays, trashBytes }: UpkeepLimits, now: number) {
  return { now, keepFor: trashDays * 24 * 60 * 60 * 1000, most: trashBytes };
}
