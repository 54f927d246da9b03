interface Cost {
  /** Null if no cost is known. */
  readonly dollars: number | null;
  /** How many runs have reported no cost. */
  readonly unknown: number;
}

/** A cost for people. What is unknown is called so, and never counted as nothing. */
export function costText({ dollars, unknown }: Cost): string {
  if (unknown === 0) return dollars === null ? "" : dollarText(dollars);
  if (dollars === null || dollars === 0) return "unknown";
  return `≥ ${dollarText(dollars)}`;
}

export function dollarText(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}

/** 1234567 as `1.2M`. */
export function shortNumber(value: number): string {
  for (const [size, letter] of sizes) if (value >= size) return `${trimmed(value / size)}${letter}`;
  return String(Math.round(value));
}

const sizes = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}
