import { Fault } from "../fault.ts";

const spans: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment from how long ago it was, or from a day or time here: `24h`, `2026-11-15`, `2026-11-15T08:00`. */
export function readSince(text: string, now: number): string {
  const [, count, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  // A day by itself would be taken for one in Greenwich.
  const at =
    count === undefined
      ? Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text)
      : now - Number(count) * (spans[unit] ?? 0);
  if (!Number.isNaN(at) && /^\d+[mhd]$|^\d{4}-/.test(text)) return new Date(at).toISOString();
  throw new Fault("usage", `--since: "${text}" is no moment.`, {
    hint: "Write it as 2026-11-15, 2026-11-15T08:00, 90m, 24h or 7d.",
  });
}
