/** How long ago something was, in its largest unit: `12s`, `5m`, `3h`, `2d`. */
export function age(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1_000));
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `14:05:09`, in the local time zone. */
export function clock(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((each) => String(each).padStart(2, "0")).join(":");
}

/** `950`, `1.2k`, `34M` */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(count);
  const [size, unit] =
    count < 1e6 ? ([1e3, "k"] as const) : count < 1e9 ? ([1e6, "M"] as const) : ([1e9, "G"] as const);
  const value = count / size;
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)}${unit}`;
}

/** US dollars of several runs; a cost that was not reported is `?`, not zero. */
export function money(dollars: number | null, unknown: number): string {
  if (dollars === null) return unknown > 0 ? "?" : "";
  const sum = `$${dollars > 0 && dollars < 0.1 ? dollars.toFixed(3) : dollars.toFixed(2)}`;
  return unknown > 0 ? `${sum}+?` : sum;
}
