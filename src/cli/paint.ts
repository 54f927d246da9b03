const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Colours by name; without colour they leave the text as it is. */
export type Paint = Readonly<Record<keyof typeof codes, (text: string) => string>>;

export function createPaint(hasColour: boolean): Paint {
  const painted = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    (text: string) => (hasColour ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(painted) as Paint;
}
