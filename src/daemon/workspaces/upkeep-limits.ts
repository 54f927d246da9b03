import type { Config } from "../../home/config-fields.ts";
import { readSize } from "../../home/read-size.ts";

/** How much may lie around. */
export interface UpkeepLimits {
  /** How long the trash keeps what was put there, and how many bytes of it at most. */
  readonly trashDays: number;
  readonly trashBytes: number;
  /** How many bytes all workspaces together may take before a new one is made. */
  readonly diskBytes: number;
}

/** As the user has configured it; an empty size is no limit. */
export function readLimits({ trashDays, trashLimit, diskLimit }: LimitSettings): UpkeepLimits {
  const bytes = (size: string) => readSize(size) ?? Number.POSITIVE_INFINITY;
  return { trashDays, trashBytes: bytes(trashLimit), diskBytes: bytes(diskLimit) };
}

type LimitSettings = Pick<Config, "trashDays" | "trashLimit" | "diskLimit">;

/** As the trash is told. */
export function trashOrder({ trashDays, trashBytes }: UpkeepLimits, now: number) {
  return { now, keepFor: trashDays * 24 * 60 * 60 * 1000, most: trashBytes };
}
