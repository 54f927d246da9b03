/** Makes a log of a screen that is looked at again and again. */
export interface ScreenLog {
  /** What is new on it and stands still; at the end also what does not. */
  take(screen: string, isLast: boolean): string;
}

/** A line counts once it was seen twice in the same place: clocks and spinners never do. */
export function createScreenLog(): ScreenLog {
  let before: readonly string[] = [];
  let told: readonly string[] = [];
  return {
    take(screen, isLast) {
      const lines = screen.trimEnd().split("\n");
      const still = lines.filter((line, i) => (isLast || before[i] === line) && line.trim() !== "");
      before = lines;
      const fresh = withoutThose(still, told);
      told = isLast ? told : [...told, ...fresh].slice(-mostTold);
      return fresh.join("\n");
    },
  };
}

const mostTold = 20_000;

/** Each line that was told takes away one of its kind. */
function withoutThose(lines: readonly string[], told: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of told) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    if (left > 0) counts.set(line, left - 1);
    return left === 0;
  });
}
