/** `950`, `1.2k`, `34M` */
export function writeTokens(count: number): string {
  const unit = units.find(({ size }) => count >= size);
  if (unit === undefined) return String(count);
  const value = count / unit.size;
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)}${unit.name}`;
}

const units = [
  { name: "G", size: 1_000_000_000 },
  { name: "M", size: 1_000_000 },
  { name: "k", size: 1_000 },
] as const;

/** US dollars; what nobody told is `?`, never nothing. */
export function writeCost(cost: number | null): string {
  if (cost === null) return "?";
  return `$${cost > 0 && cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`;
}

/** The cost of several runs, of which some may not have told theirs. */
export function writeCosts({ cost, runs, unknown }: { cost: number; runs: number; unknown: number }): string {
  if (runs > 0 && unknown >= runs) return "?";
  return unknown > 0 ? `${writeCost(cost)} + ?` : writeCost(cost);
}

/** Milliseconds: `45s`, `3m 20s`, `2h 05m`. */
export function writeDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds}s`;
  const two = (number: number) => String(number).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h ${two(Math.floor(seconds / 60) % 60)}m`;
}
