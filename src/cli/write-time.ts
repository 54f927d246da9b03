/** A moment as people here write it: `2026-03-01 14:05:09`. */
export function writeTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

/** How long ago something was, in its largest unit: `12s`, `5m`, `3h`, `2d`. What lies ahead is `0s`. */
export function writeAge(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  const unit = units.find(({ size }) => seconds >= size) ?? { name: "s", size: 1 };
  return `${Math.floor(seconds / unit.size)}${unit.name}`;
}

const units = [
  { name: "d", size: 86_400 },
  { name: "h", size: 3_600 },
  { name: "m", size: 60 },
] as const;
