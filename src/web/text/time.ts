const units = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const;

/** How long ago, in one or two units: `3h 20m`. */
export function shortDuration(ms: number): string {
  const at = units.findIndex(([size]) => ms >= size);
  const first = units[at];
  if (first === undefined) return "0s";
  const whole = Math.floor(ms / first[0]);
  const second = units[at + 1];
  const rest = second === undefined ? 0 : Math.floor((ms % first[0]) / second[0]);
  return whole >= 10 || rest === 0 || second === undefined || first[1] === "m"
    ? `${whole}${first[1]}`
    : `${whole}${first[1]} ${rest}${second[1]}`;
}

// Making one takes longer than drawing a row.
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time as the person's own clock shows it. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return clock.format(at);
}
