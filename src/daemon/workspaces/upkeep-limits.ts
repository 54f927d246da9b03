/** How much may lie around. */
export interface UpkeepLimits {
  /** How long the trash keeps what was put there, and how many bytes of it at most. */
  readonly trashDays: number;
  readonly trashBytes: number;
  /** How many bytes all workspaces together may take before a new one is made. */
  readonly diskBytes: number;
}

export const upkeepLimits: UpkeepLimits = {
  trashDays: 30,
  trashBytes: 10 * 1024 ** 3,
  diskBytes: Number.POSITIVE_INFINITY,
};

/** As the trash is told. */
export function trashOrder({ trashDays, trashBytes }: UpkeepLimits, now: number) {
  return { now, keepFor: trashDays * 24 * 60 * 60 * 1000, most: trashBytes };
}
