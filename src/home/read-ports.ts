export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** From `20000-20999`, both ends belonging to it; undefined for anything else. */
export function readPorts(text: string): PortRange | undefined {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return from !== undefined && first >= lowest && first <= last && last <= highest ? { first, last } : undefined;
}

// Those below belong to the system.
const lowest = 1024;
const highest = 65_535;
